import { norm, vectorAt } from "../data/line_of_action.js";
import type { Recording } from "../data/recording.js";
import { quantity } from "../units.js";
import { element } from "./dom.js";

// The figures of the sample that is shown, in words and numbers.
export class Readout {
  readonly element: HTMLElement;
  private readonly cells = new Map<string, HTMLElement>();
  private readonly forces = element("tbody");
  private readonly caption = element("caption");

  constructor(private readonly recording: Recording) {
    const list = element("dl", { class: "figures" });
    for (const [key, words] of this.names()) {
      const cell = element("dd", { "data-name": key });
      this.cells.set(key, cell);
      list.append(element("div", {}, element("dt", {}, words), cell));
    }
    const head = element("thead", {}, element("tr", {},
      element("th", { scope: "col" }, "by"), element("th", { scope: "col" }, "normal"), element("th", { scope: "col" }, "friction"),
      ...(recording.touch.holds.slips ? [element("th", { scope: "col" }, "slides"), element("th", { scope: "col" }, "holds")] : [])));
    const table = element("table", { class: "forces", "data-name": "force-table" }, this.caption, head, this.forces);
    this.element = element("section", { "aria-label": "Figures of the time shown" }, list, recording.pairs.length > 0 ? table : "");
  }

  show(sample: number, body: string): void {
    const { recording } = this;
    const gap = recording.gap[sample]!;
    const [points, edges] = [recording.contacts[2 * sample]!, recording.contacts[2 * sample + 1]!];
    this.set("step", recording.stepAt(sample));
    this.set("contacts", String(points + edges));
    this.set("kinds", `${points}, ${edges}`);
    this.set("gap", Number.isFinite(gap) ? quantity(gap, "m") : "nothing near");
    if (recording.newton) this.set("newton", sample === 0 ? "–" : String(recording.newton[sample]!));
    if (recording.wall) this.set("factor", factorInWords(realTimeFactor(recording, sample)));
    if (recording.converged) this.set("converged", sample === 0 ? "–" : recording.converged[sample] ? "yes" : "no: the step stopped before its equations were solved");
    this.showForces(sample, body);
  }

  private names(): [string, string][] {
    const { newton, wall, converged } = this.recording;
    return [["step", "Step"], ["contacts", "Contacts"], ["kinds", "point–triangle, edge–edge"], ["gap", "Smallest gap"], ...(newton ? [["newton", "Newton iterations"] as [string, string]] : []),
            ...(wall ? [["factor", "Solver speed"] as [string, string]] : []), ...(converged ? [["converged", "Converged"] as [string, string]] : [])];
  }

  private showForces(sample: number, body: string): void {
    const { pairs, forces } = this.recording;
    this.caption.textContent = body === "" ? "No forces shown" : `Contact forces on ${body}`;
    this.forces.replaceChildren(...this.recording.pairsOn(body).map((pair) => {
      const at = sample * pairs.length + pair;
      return element("tr", {}, element("th", { scope: "row" }, pairs[pair]!.by),
        element("td", {}, quantity(norm(vectorAt(forces.normal, at)), "N")), element("td", {}, quantity(norm(vectorAt(forces.friction, at)), "N")),
        ...this.slipCells(pair, sample));
    }));
  }

  // How fast the pair slides, and what share of its normal force is at contacts that hold.
  private slipCells(pair: number, sample: number): HTMLElement[] {
    if (!this.recording.touch.holds.slips) return [];
    const slip = this.recording.touch.slip(this.recording.pairs[pair]!, sample);
    return [element("td", {}, slip ? quantity(slip.speed, "m/s") : "–"), element("td", {}, slip ? `${Math.round(100 * slip.sticking)} %` : "–")];
  }

  private set(key: string, text: string): void {
    const cell = this.cells.get(key);
    if (cell) cell.textContent = text;
  }
}

// Simulated time of a step over the time of computing it; not finite where one of the two is not known.
export function realTimeFactor(recording: Recording, sample: number): number {
  return recording.spanOf(sample) / recording.wall![sample]!;
}

function factorInWords(factor: number): string {
  return Number.isFinite(factor) ? `${factor.toFixed(2)} × real time` : "–";
}
