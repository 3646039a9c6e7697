import { roundQuantity } from "../units.js";
import { QUANTITIES, type Quantity } from "../scene/heat.js";
import { element } from "./dom.js";

export interface Scales {
  readonly cell: number; // m of a square of the grid
  readonly metersPerNewton: number;
}

// What the colours and lengths in the picture mean. Hidden parts are not named.
export class Legend {
  readonly element = element("div", { class: "legend", "aria-label": "Legend", role: "note" });

  constructor(private scales: Scales) {}

  setScales(scales: Scales): void {
    this.scales = scales;
  }

  show(parts: { readonly forces: boolean; readonly grid: boolean; readonly cage: boolean; readonly points: boolean; readonly heat: Quantity | null }, heatTop: number): void {
    const items: HTMLElement[] = [];
    if (parts.forces) {
      items.push(element("span", { class: "mark normal" }, "normal force"), element("span", { class: "mark friction" }, "friction force"),
                 element("span", { "data-name": "force-scale" }, `arrow of ${roundQuantity(this.scales.metersPerNewton, "m")}: 1 N`));
    }
    if (parts.heat) {
      const { title, unit } = QUANTITIES[parts.heat];
      const top = unit === "" ? String(Number(heatTop.toPrecision(3))) : roundQuantity(heatTop, unit);
      items.push(element("span", { "data-name": "heat-scale" }, `${title}: 0 `, element("span", { class: "heat-bar", role: "img", "aria-label": "from dark blue over green to yellow" }), ` ${top} and more`));
    }
    if (parts.points) items.push(element("span", { class: "mark points" }, "contact force acts"));
    if (parts.cage) items.push(element("span", { class: "mark cage" }, "cage"));
    if (parts.grid) {
      items.push(element("span", { class: "mark axis-x" }, "x"), element("span", { class: "mark axis-y" }, "y"),
                 element("span", { "data-name": "grid-scale" }, `square of the grid: ${roundQuantity(this.scales.cell, "m")}`));
    }
    this.element.replaceChildren(...items);
  }
}
