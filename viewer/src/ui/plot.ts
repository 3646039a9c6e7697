import { niceAbove, prefixOf, quantity } from "../units.js";
import { element } from "./dom.js";
import { colorsOf, largestOf, type PlotData } from "./series.js";
import { cssColor } from "./theme.js";

const LEFT = 40; // CSS pixels for the labels of the axis
const RIGHT = 8;
const TOP = 6;
const BOTTOM = 16;
const LINE_COLORS = 6; // --line-0 to --line-5 in style.css

// Lines over time with a cursor at the sample that is shown; a press or drag moves the time.
export class Plot {
  readonly element: HTMLElement;
  private readonly canvas = element("canvas", { role: "img", tabindex: "-1" });
  private readonly top: number;
  private readonly colors: readonly number[];
  private picture: ImageData | null = null;
  private sample = 0;

  // start: what the times of the axis are counted from, s.
  constructor(private readonly data: PlotData, private readonly time: Float64Array, private readonly start: number, private readonly onSeek: (sample: number) => void) {
    this.top = niceAbove(largestOf(data));
    this.colors = colorsOf(data.lines);
    const caption = element("figcaption", {}, this.title());
    if (data.lines.length > 1) {
      const keys = data.lines.map((line, i) => element("span", { class: `key line-${this.colors[i]! % LINE_COLORS}${line.dashed ? " dashed" : ""}` }, line.label));
      caption.append(element("span", { class: "keys" }, ...keys));
    }
    this.element = element("figure", { class: "plot", "data-name": `plot-${data.name}` }, caption, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.seek(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.canvas.hasPointerCapture(event.pointerId)) this.seek(event);
    });
  }

  // Draws everything anew: after a change of size or of colours.
  redraw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d", { willReadFrequently: true })!;
    context.scale(ratio, ratio);
    this.drawAxes(context, width, height);
    this.data.lines.forEach((line, i) => {
      context.strokeStyle = cssColor(`line-${this.colors[i]! % LINE_COLORS}`);
      context.setLineDash(line.dashed ? [4, 3] : []);
      this.drawLine(context, line.values, line.time ?? this.time, width, height);
    });
    context.setLineDash([]);
    if (this.data.mark !== undefined) this.drawCursor(context, this.data.mark, "error", 2);
    this.picture = context.getImageData(0, 0, this.canvas.width, this.canvas.height);
    this.show(this.sample);
  }

  show(sample: number): void {
    this.sample = sample;
    this.canvas.setAttribute("aria-label", `${this.title()} over time. Now: ${this.inWords(sample)}`);
    if (!this.picture) return;
    const context = this.canvas.getContext("2d")!;
    context.putImageData(this.picture, 0, 0);
    this.drawCursor(context, this.time[sample]!, "text", 1);
  }

  private drawCursor(context: CanvasRenderingContext2D, time: number, color: string, thickness: number): void {
    context.strokeStyle = cssColor(color);
    context.lineWidth = thickness;
    const x = Math.round(this.x(time, this.canvas.clientWidth)) + 0.5;
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, this.canvas.clientHeight - BOTTOM);
    context.stroke();
  }

  private title(): string {
    const { prefix } = prefixOf(this.top);
    return this.data.unit === "" ? this.data.title : `${this.data.title}, ${prefix}${this.data.unit}`;
  }

  private inWords(sample: number): string {
    const value = (number: number): string => (this.data.unit === "" ? (Number.isFinite(number) ? String(Number(number.toPrecision(3))) : "–") : quantity(number, this.data.unit));
    return this.data.lines.map((line) => {
      const now = line.values[line.time ? lastBefore(line.time, this.time[sample]!) : sample]!;
      return this.data.lines.length > 1 ? `${line.label} ${value(now)}` : value(now);
    }).join(", ");
  }

  private drawAxes(context: CanvasRenderingContext2D, width: number, height: number): void {
    context.font = "11px system-ui, sans-serif";
    context.lineWidth = 1;
    const { factor } = prefixOf(this.top);
    for (const share of [0, 0.5, 1]) {
      const y = Math.round(this.y(share * this.top, height)) + 0.5;
      context.strokeStyle = cssColor("rule");
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width - RIGHT, y);
      context.stroke();
      context.fillStyle = cssColor("quiet");
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText(String(Number(((share * this.top) / factor).toPrecision(3))), LEFT - 5, y);
    }
    context.textBaseline = "alphabetic";
    const [first, last] = this.span();
    context.textAlign = "left";
    context.fillText(first, LEFT, height - 3);
    context.textAlign = "right";
    context.fillText(`${last} s`, width - RIGHT, height - 3);
  }

  private drawLine(context: CanvasRenderingContext2D, values: Float64Array, time: Float64Array, width: number, height: number): void {
    context.lineWidth = 1.5;
    context.beginPath();
    let down = false;
    values.forEach((value, i) => {
      const [x, y] = [this.x(time[i]!, width), this.y(value, height)];
      if (Number.isFinite(value) && down) context.lineTo(x, y);
      else if (Number.isFinite(value)) context.moveTo(x, y);
      down = Number.isFinite(value);
    });
    context.stroke();
  }

  // What the axis of time begins and ends with, as the clock counts it.
  private span(): [string, string] {
    const [first, last] = [this.time[0]! - this.start, this.time[this.time.length - 1]! - this.start];
    const digits = Math.min(Math.max(2 - Math.floor(Math.log10(last - first || 1)), 0), 6);
    return [String(Number(first.toFixed(digits))), String(Number(last.toFixed(digits)))];
  }

  private x(time: number, width: number): number {
    const [first, last] = [this.time[0]!, this.time[this.time.length - 1]!];
    return LEFT + ((width - LEFT - RIGHT) * (time - first)) / (last - first || 1);
  }

  private y(value: number, height: number): number {
    return height - BOTTOM - ((height - TOP - BOTTOM) * value) / this.top;
  }

  private seek(event: PointerEvent): void {
    const width = this.canvas.clientWidth;
    const share = (event.clientX - this.canvas.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT);
    const [first, last] = [this.time[0]!, this.time[this.time.length - 1]!];
    const time = first + Math.min(Math.max(share, 0), 1) * (last - first);
    let best = 0;
    this.time.forEach((value, i) => {
      if (Math.abs(value - time) < Math.abs(this.time[best]! - time)) best = i;
    });
    this.onSeek(best);
  }
}

// The last of increasing times that is not after `time`; the first where all are.
function lastBefore(times: Float64Array, time: number): number {
  const after = times.findIndex((value) => value > time + 1e-9);
  return after < 0 ? times.length - 1 : Math.max(after - 1, 0);
}
