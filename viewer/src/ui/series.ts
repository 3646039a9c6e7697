import { norm, vectorAt } from "../data/line_of_action.js";
import type { Recording } from "../data/recording.js";
import { realTimeFactor } from "./readout.js";

export interface Line {
  readonly label: string;
  readonly values: Float64Array; // one a sample; not finite: a hole
  readonly dashed?: boolean; // it belongs to the line before it, whose colour it has
  readonly time?: Float64Array; // of its values, s; default: that of the plot
}

export interface PlotData {
  readonly name: string;
  readonly title: string;
  readonly unit: string; // "" for counts
  readonly lines: readonly Line[];
  readonly mark?: number; // s, a time that is marked
}

// The plots of a recording, the first of the forces on `body`.
export function plotsOf(recording: Recording, body: string): PlotData[] {
  const over = (value: (sample: number) => number): Float64Array => Float64Array.from({ length: recording.samples }, (_, sample) => value(sample));
  const { pairs, forces, contacts, gap, newton, wall } = recording;
  const magnitudes = (values: Float32Array, pair: number): Float64Array => over((sample) => norm(vectorAt(values, sample * pairs.length + pair)));
  const lines = recording.pairsOn(body).flatMap((pair): Line[] => [
    { label: `${pairs[pair]!.by}, normal`, values: magnitudes(forces.normal, pair) },
    { label: `${pairs[pair]!.by}, friction`, values: magnitudes(forces.friction, pair), dashed: true },
  ]);
  const slides = recording.touch.holds.slips ? recording.pairsOn(body).map((pair): Line =>
    ({ label: pairs[pair]!.by, values: over((sample) => recording.touch.slip(pairs[pair]!, sample)?.speed ?? NaN) })) : [];
  const counts = over((sample) => contacts[2 * sample]! + contacts[2 * sample + 1]!);
  return [
    ...(lines.length > 0 ? [{ name: "forces", title: `Contact forces on ${body}`, unit: "N", lines }] : []),
    ...(slides.some(({ values }) => values.some(Number.isFinite)) ? [{ name: "slip", title: `How fast ${body} slides on others`, unit: "m/s", lines: slides }] : []),
    { name: "contacts", title: "Contacts", unit: "", lines: [{ label: "contacts", values: counts }] },
    { name: "gap", title: "Smallest gap", unit: "m", lines: [{ label: "gap", values: over((sample) => gap[sample]!) }] },
    ...(newton ? [{ name: "newton", title: "Newton iterations", unit: "", lines: [{ label: "iterations", values: over((s) => (s === 0 ? NaN : newton[s]!)) }] }] : []),
    ...(wall ? [{ name: "factor", title: "Solver speed, × real time", unit: "",
                  lines: [{ label: "real-time factor", values: over((s) => realTimeFactor(recording, s)) }] }] : []),
  ];
}

// The number of each line's colour: lines that are dashed have that of the line before.
export function colorsOf(lines: readonly Line[]): number[] {
  let color = -1;
  return lines.map(({ dashed }) => (dashed === true && color >= 0 ? color : ++color));
}

export function largestOf(plot: PlotData): number {
  let most = 0;
  for (const line of plot.lines) for (const value of line.values) if (Number.isFinite(value)) most = Math.max(most, value);
  return most;
}
