import type { Recording } from "../data/recording.js";
import { Picture } from "../scene/picture.js";
import { button, element } from "../ui/dom.js";
import { Readout } from "../ui/readout.js";
import { plotsOf, type PlotData } from "../ui/series.js";
import { markedSample, mergedPlots, type Compared } from "./compared.js";

// The other of two runs: its picture beside that of the page, under one camera and at one time, and its figures.
export class Comparison {
  readonly marked: number | null; // sample of the main run
  readonly picture: Picture;
  readonly panel: HTMLElement;
  readonly panes: HTMLElement;
  private readonly canvas = element("canvas", { role: "img", "data-name": "other-picture", "aria-label": "The other run in three dimensions, under the camera of the first." });
  private readonly readout: Readout;
  private moving = false; // a camera follows the other

  constructor(private readonly pair: Compared, private readonly main: { readonly picture: Picture; readonly canvas: HTMLCanvasElement; readonly readout: Readout },
              onSeek: (sample: number) => void) {
    this.marked = markedSample(pair);
    this.picture = new Picture(this.canvas, pair.other, main.picture.frame);
    this.readout = new Readout(pair.other);
    const pane = (canvas: HTMLCanvasElement, number: 1 | 2): HTMLElement =>
      element("div", { class: "pane" }, canvas, element("p", { class: "pane-name", "data-name": `pane-${number}` }, this.title(number)));
    const panes = pair.mainIsFirst ? [pane(main.canvas, 1), pane(this.canvas, 2)] : [pane(this.canvas, 1), pane(main.canvas, 2)];
    this.panes = element("div", { class: "panes" }, ...panes);
    this.panel = element("section", { class: "comparison", "aria-label": "Comparison" }, this.words(onSeek), ...this.figures());
    this.follow(main.picture, this.picture);
    this.follow(this.picture, main.picture);
  }

  // The other run at the time of the main one's sample.
  show(sample: number, body: string): void {
    const { main, other } = this.pair;
    const at = other.sampleAt(main.time[sample]! - main.start);
    this.picture.show(at);
    this.readout.show(at, body);
  }

  get recording(): Recording {
    return this.pair.other;
  }

  plots(ofMain: readonly PlotData[], body: string): PlotData[] {
    return mergedPlots(this.pair, ofMain, plotsOf(this.pair.other, body), this.marked);
  }

  // Both pictures as one, the first run on the left; drawn now.
  drawBoth(): OffscreenCanvas {
    const pictures = [this.main.picture.stage.still(), this.picture.stage.still()] as const;
    const [left, right] = this.pair.mainIsFirst ? pictures : [pictures[1], pictures[0]];
    const both = new OffscreenCanvas(left.width + right.width, Math.max(left.height, right.height));
    const context = both.getContext("2d")!;
    context.drawImage(left, 0, 0);
    context.drawImage(right, left.width, 0);
    return both;
  }

  private title(number: 1 | 2): string {
    return `${number}: ${this.pair.names[number - 1]!}`;
  }

  private words(onSeek: (sample: number) => void): HTMLElement {
    const { difference } = this.pair;
    if (!difference || this.marked === null) return element("p", { "data-name": "difference" }, "The two runs are the same in all that both recorded.");
    const go = button("Show the first difference (d)", "Show", () => { onSeek(this.marked!); }, { "data-name": "to-difference" });
    return element("p", { class: "alert", "data-name": "difference" }, `First difference: ${difference.words} `, go);
  }

  private figures(): HTMLElement[] {
    const [mainNumber, otherNumber] = this.pair.mainIsFirst ? [1, 2] as const : [2, 1] as const;
    const main = element("div", { "data-name": "figures-main" }, element("h2", {}, this.title(mainNumber)), this.main.readout.element);
    const other = element("div", { "data-name": "figures-other" }, element("h2", {}, this.title(otherNumber)), this.readout.element);
    return this.pair.mainIsFirst ? [main, other] : [other, main];
  }

  private follow(leader: Picture, follower: Picture): void {
    leader.stage.controls.addEventListener("change", () => {
      if (this.moving) return;
      this.moving = true;
      follower.stage.setView(leader.stage.view);
      this.moving = false;
    });
  }
}
