import type { Compared } from "./compare/compared.js";
import { Comparison } from "./compare/comparison.js";
import type { Recording } from "./data/recording.js";
import { Exports } from "./export/exports.js";
import { formatFragment, parseFragment } from "./link.js";
import { Pacer } from "./play/pacer.js";
import { Player } from "./play/player.js";
import { frameOf, liveFrameOf, Picture, type Frame } from "./scene/picture.js";
import { QUANTITIES, topOf } from "./scene/heat.js";
import { listenForCamera } from "./ui/camera_keys.js";
import { button, element, select, Toggle } from "./ui/dom.js";
import { HeatChoice, type Shown } from "./ui/heat_choice.js";
import { makeHelp } from "./ui/help.js";
import { listenToKeys } from "./ui/keys.js";
import { Legend } from "./ui/legend.js";
import { Plot } from "./ui/plot.js";
import { Readout } from "./ui/readout.js";
import { plotsOf } from "./ui/series.js";
import { pictureColors, Themes } from "./ui/theme.js";
import { Transport } from "./ui/transport.js";

// What a page of a running session has beside those of a recording.
export interface Live {
  readonly tools: readonly HTMLElement[];
  readonly side: readonly HTMLElement[];
  readonly onWish: (shown: Shown) => void; // what the picture shows of contacts and stresses, which costs the server something
}

// What a page may have beside a recording: a session that goes on, or another run.
export interface Extras {
  readonly live?: Live;
  readonly compared?: Compared;
}

const PLOTS_EVERY_MS = 250; // of a recording that grows

// The page of one recording, finished or growing.
export class App {
  readonly player: Player;
  readonly picture: Picture;
  private readonly canvas = element("canvas", { tabindex: "0", role: "img", "data-name": "picture",
    "aria-label": "The scene in three dimensions. Arrow keys turn the camera, plus and minus change the distance." });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly plots = element("div", { class: "plots" });
  private readonly help: HTMLDialogElement;
  private readonly themes = new Themes(() => { this.recolor(); });
  private readonly readout: Readout;
  private readonly legend: Legend;
  private readonly live: Live | null;
  private readonly comparison: Comparison | null;
  readonly exports: Exports;
  private readonly heat: HeatChoice;
  private readonly pacer = new Pacer(); // of a session that goes on
  private bodies: HTMLSelectElement = element("select");
  private drawnPlots: Plot[] = [];
  private body: string;
  private readonly toggles: { readonly forces: Toggle; readonly cage: Toggle; readonly grid: Toggle; readonly through: Toggle };
  private last: number | null = null; // time of the last frame while it plays, ms
  private awake = false; // a frame is asked for
  private plotted = 0; // when plots were last made anew, ms
  private readonly ended = new AbortController();

  constructor(readonly recording: Recording, root: HTMLElement, { live, compared }: Extras = {}) {
    this.live = live ?? null;
    this.help = makeHelp(this.live !== null);
    this.player = new Player(recording);
    this.picture = new Picture(this.canvas, recording, this.frameOf(compared));
    this.readout = new Readout(recording);
    this.comparison = compared ? new Comparison(compared, { picture: this.picture, canvas: this.canvas, readout: this.readout }, (sample) => { this.player.seek(sample); }) : null;
    this.exports = new Exports({ recording, player: this.player, draw: () => this.drawNow(), say: (words) => { this.say(words); } });
    this.heat = new HeatChoice(recording.touch, () => {
      this.live?.onWish(this.heat.shown);
      this.showParts();
    });
    this.legend = new Legend({ cell: this.picture.cell, metersPerNewton: this.picture.metersPerNewton });
    this.body = recording.touched()[0] ?? "";
    const opened = location.hash; // before the page writes its own
    const part = (name: "forces" | "cage" | "grid" | "through", label: string, text: string): Toggle =>
      new Toggle(label, text, name === "forces" || name === "grid", () => { this.showParts(); }, name);
    this.toggles = { forces: part("forces", "Force arrows (f)", "Forces"), cage: part("cage", "Cages (c)", "Cage"), grid: part("grid", "Grid (g)", "Grid"),
      through: part("through", "See through bodies other than the one whose forces are shown (b)", "See through") };
    if (!this.picture.hasCages) this.toggles.cage.element.disabled = true;
    const view = element("div", { class: "view" }, this.comparison?.panes ?? this.canvas, this.legend.element);
    const side = element("aside", { class: "side", "aria-label": "Figures and plots" }, ...(live ? live.side : []), this.comparison?.panel ?? this.readout.element, this.plots,
      ...(live ? [] : [this.facts()]));
    const transport = new Transport(recording, this.player, this.live !== null, this.comparison?.marked ?? null);
    root.replaceChildren(this.header(), view, side, element("footer", {}, transport.element, this.status), this.help);
    this.listen(view);
    this.choose(this.body);
    this.themes.apply();
    this.goTo(opened);
    this.showSample();
    if (live) this.player.follow();
    this.wake();
  }

  // The page shows something else from now on.
  end(): void {
    this.ended.abort();
    this.themes.end();
    this.exports.end();
    this.picture.stage.end();
  }

  // The recording has grown.
  grew(change: { readonly forgotten: number; readonly pairs: boolean; readonly largestForce: number }): void {
    if (this.picture.fitForces(change.largestForce)) {
      this.legend.setScales({ cell: this.picture.cell, metersPerNewton: this.picture.metersPerNewton });
      this.showParts();
    }
    if (change.pairs) this.offerBodies();
    this.player.grew(change.forgotten);
    const now = performance.now();
    if (!this.player.following || now - this.plotted < PLOTS_EVERY_MS) return;
    this.plotted = now;
    this.plot();
    if (this.picture.heat) this.showParts();
  }

  private frameOf(compared: Compared | undefined): Frame {
    if (compared) return frameOf(compared.main, compared.other);
    return this.live ? liveFrameOf(this.recording) : frameOf(this.recording);
  }

  private header(): HTMLElement {
    this.offerBodies();
    const tools = element("div", { class: "tools", role: "toolbar", "aria-label": "View" },
      ...(this.live ? this.live.tools : []), this.toggles.forces.element, this.bodies, this.toggles.cage.element, this.toggles.grid.element, this.toggles.through.element, ...this.heat.elements,
      button("Camera as at the start (r)", "Reset view", () => { this.resetView(); }, { "data-name": "reset" }),
      ...this.exports.elements,
      button("Copy a link to this time and camera (k)", "Link", () => { void this.copyLink(); }, { "data-name": "link" }),
      button("Dark or light (t)", "◐", () => { this.themes.flip(); }, { "data-name": "theme" }),
      button("Keys (?)", "?", () => { this.help.showModal(); }, { "data-name": "help" }));
    return element("header", {}, element("h1", {}, this.recording.title), tools);
  }

  // Bodies that forces acted on. Hidden while there is no choice.
  private offerBodies(): void {
    const names = this.recording.touched();
    const made = select("Body whose contact forces are shown", names.map((name) => [name, `forces on ${name}`]), this.body, (name) => { this.choose(name); });
    made.dataset["name"] = "body";
    made.hidden = names.length < 2;
    this.bodies.replaceWith(made);
    this.bodies = made;
    if (this.body === "" && names.length > 0) this.choose(names[0]!);
  }

  private facts(): HTMLElement {
    const list = element("dl", { class: "figures" });
    for (const [name, value] of this.recording.facts) list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
    return element("details", {}, element("summary", {}, "About the recording"), list);
  }

  private listen(view: HTMLElement): void {
    const { player, picture } = this;
    player.onChange(() => { this.showSample(); });
    for (const { stage } of this.pictures()) stage.onStale = () => { this.wake(); };
    new ResizeObserver(() => {
      for (const { stage } of this.pictures()) stage.resize();
      for (const plot of this.drawnPlots) plot.redraw();
    }).observe(view);
    addEventListener("hashchange", () => { this.goTo(location.hash); }, { signal: this.ended.signal });
    picture.stage.controls.addEventListener("end", () => { this.writeLink(); });
    this.canvas.addEventListener("webglcontextlost", () => { this.say("The graphics card was lost; the picture comes back when the browser has it again."); });
    this.canvas.addEventListener("webglcontextrestored", () => { this.say(""); picture.stage.invalidate(); });
    listenForCamera(picture.stage, () => { this.writeLink(); });
    listenToKeys({
      ...(this.live ? { Enter: () => { player.follow(); } } : {}),
      " ": () => { player.toggle(); }, ",": () => { player.step(-1); }, ".": () => { player.step(1); },
      ArrowLeft: () => { player.step(-1); }, ArrowRight: () => { player.step(1); },
      Home: () => { player.step(-this.recording.samples); }, End: () => { player.step(this.recording.samples); },
      "[": () => { player.changeSpeed(-1); }, "]": () => { player.changeSpeed(1); }, l: () => { player.setLoop(!player.loop); },
      f: () => { this.toggles.forces.flip(); }, c: () => { this.toggles.cage.flip(); }, g: () => { this.toggles.grid.flip(); }, b: () => { this.toggles.through.flip(); },
      v: () => { this.heat.next(); }, o: () => { this.heat.flipPoints(); },
      r: () => { this.resetView(); }, p: () => { this.exports.savePicture(); }, k: () => { void this.copyLink(); }, t: () => { this.themes.flip(); },
      d: () => { if (typeof this.comparison?.marked === "number") player.seek(this.comparison.marked); },
      "?": () => { this.help.showModal(); },
    }, this.ended.signal);
  }

  private frame(now: number): void {
    this.awake = false;
    if (this.ended.signal.aborted) return;
    const elapsed = this.last === null ? 0 : (now - this.last) / 1000;
    this.player.advance(Math.min(elapsed, 0.25)); // a tab that was hidden does not jump
    if (this.live) this.pacer.began();
    for (const { stage } of this.pictures()) stage.drawIfStale();
    this.last = this.player.playing ? now : null;
    if (this.player.playing) this.wake();
  }

  // Asks for a frame: only while it plays, or when something changed.
  private wake(): void {
    if (this.awake) return;
    this.awake = true;
    this.pacer.next(() => { requestAnimationFrame((now) => { this.frame(now); }); });
  }

  private showSample(): void {
    const { sample, playing } = this.player;
    this.picture.show(sample);
    this.comparison?.show(sample, this.body);
    this.readout.show(sample, this.body);
    for (const plot of this.drawnPlots) plot.show(sample);
    const { heat } = this.heat.shown;
    if (heat && QUANTITIES[heat].everywhere) this.showParts();
    if (!playing && !this.player.following) this.writeLink();
  }

  // Shows the forces on another body.
  private choose(body: string): void {
    this.body = body;
    this.plot();
    this.showParts();
    this.showSample();
  }

  private plot(): void {
    const data = plotsOf(this.recording, this.body);
    this.drawnPlots = (this.comparison?.plots(data, this.body) ?? data).map((data) => new Plot(data, this.recording.time, this.recording.start, (sample) => {
      if (this.player.playing) this.player.pause();
      this.player.seek(sample);
    }));
    this.plots.replaceChildren(...this.drawnPlots.map((plot) => plot.element));
    for (const plot of this.drawnPlots) {
      plot.redraw();
      plot.show(this.player.sample);
    }
  }

  private showParts(): void {
    const on = (toggle: Toggle): boolean => toggle.element.getAttribute("aria-pressed") === "true";
    const parts = { forces: on(this.toggles.forces) && this.body !== "", cage: on(this.toggles.cage), grid: on(this.toggles.grid), through: on(this.toggles.through), ...this.heat.shown };
    for (const picture of this.pictures()) picture.showParts({ ...parts, body: this.body });
    this.fitHeat();
    this.legend.show(parts, this.picture.heatTop);
  }

  // One scale of colours for all pictures; it follows a recording that grows, and the shown sample where that sets it.
  private fitHeat(): void {
    const { heat } = this.heat.shown;
    if (!heat) return;
    const top = Math.max(...this.pictures().map((picture) => topOf(picture.recording, heat, picture.sample, this.body)));
    for (const picture of this.pictures()) if (picture.heatTop !== top) picture.fitHeat(top);
  }

  private recolor(): void {
    for (const picture of this.pictures()) picture.setColors(pictureColors());
    for (const plot of this.drawnPlots) plot.redraw();
  }

  private resetView(): void {
    this.picture.stage.resetView();
    this.writeLink();
  }

  // Opens at the time and camera of a link.
  private goTo(fragment: string): void {
    const { time, view } = parseFragment(fragment);
    if (view) this.picture.stage.setView(view);
    if (time !== undefined) this.player.seek(this.recording.sampleAt(time + this.recording.start - this.recording.time[0]!));
  }

  private writeLink(): void {
    const time = this.recording.time[this.player.sample]! - this.recording.start;
    const fragment = formatFragment(time, this.picture.stage.view);
    if (fragment === location.hash) return; // a recording that grows says so again and again
    try {
      history.replaceState(null, "", fragment);
    } catch {
      // Browsers limit how often this may be done; the next pause writes it again.
    }
  }

  private async copyLink(): Promise<void> {
    this.writeLink();
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link to this time and camera is copied.");
    } catch {
      this.say("The browser does not let the page copy; the link is in the address bar.");
    }
  }

  // What is shown, drawn in this task, in which its pixels can be read.
  private drawNow(): HTMLCanvasElement | OffscreenCanvas {
    return this.comparison ? this.comparison.drawBoth() : this.picture.stage.still();
  }

  // The picture of the recording, and that of the run beside it.
  pictures(): Picture[] {
    return this.comparison ? [this.picture, this.comparison.picture] : [this.picture];
  }

  say(words: string): void {
    this.status.textContent = words;
  }
}
