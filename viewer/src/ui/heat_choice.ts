import type { Touch } from "../data/touch.js";
import { QUANTITIES, type Quantity } from "../scene/heat.js";
import { select, Toggle } from "./dom.js";

export interface Shown {
  readonly heat: Quantity | null;
  readonly points: boolean;
}

// What surfaces are coloured by, and whether contacts are marked: only what the recording holds is offered.
export class HeatChoice {
  readonly elements: readonly HTMLElement[];
  private readonly list: HTMLSelectElement;
  private readonly points: Toggle;

  constructor({ holds }: Touch, onChange: () => void) {
    const isHeld = (quantity: Quantity): boolean => (quantity === "stress" ? holds.stresses : quantity === "slip" ? holds.vertexSlips : holds.tractions);
    const offered = (Object.keys(QUANTITIES) as Quantity[]).filter(isHeld);
    this.list = select("What surfaces are coloured by (v)", [["", "no colours"], ...offered.map((quantity): [string, string] => [quantity, QUANTITIES[quantity].title])], "", onChange);
    this.list.dataset["name"] = "heat";
    this.points = new Toggle("Points that contact forces act on (o)", "Contacts", false, onChange, "points");
    this.elements = [...(offered.length > 0 ? [this.list] : []), ...(holds.tractions ? [this.points.element] : [])];
  }

  get shown(): Shown {
    return { heat: this.list.value === "" ? null : (this.list.value as Quantity), points: this.points.element.getAttribute("aria-pressed") === "true" };
  }

  // The next of the list.
  next(): void {
    this.list.selectedIndex = (this.list.selectedIndex + 1) % this.list.options.length;
    this.list.dispatchEvent(new Event("change"));
  }

  flipPoints(): void {
    if (this.elements.includes(this.points.element)) this.points.flip();
  }
}
