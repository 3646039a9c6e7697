import { element } from "../ui/dom.js";
import type { Connection, ConnectionState, Frame } from "./connection.js";

const EVERY_MS = 1000;

// How the frames arrive: a page that is behind says so.
export class LinkPanel {
  readonly element: HTMLElement;
  private readonly cells = new Map<string, HTMLElement>();
  private readonly timer: number;
  private frames = 0;
  private bytes = 0;
  private before = { frames: 0, bytes: 0, at: performance.now() };
  private dropped = 0;

  constructor() {
    const list = element("dl", { class: "figures" });
    for (const [key, words] of [["link-state", "Server"], ["link-rate", "Frames"], ["link-dropped", "Frames left out"]] as const) {
      const cell = element("dd", { "data-name": key }, "–");
      this.cells.set(key, cell);
      list.append(element("div", {}, element("dt", {}, words), cell));
    }
    this.element = element("section", { "aria-label": "Connection" }, list);
    this.showState("open");
    this.timer = window.setInterval(() => { this.showRate(); }, EVERY_MS);
  }

  end(): void {
    clearInterval(this.timer);
  }

  count(connection: Connection, frame: Frame): void {
    this.frames = connection.frames;
    this.bytes = connection.bytes;
    this.dropped = frame.dropped;
  }

  showState(state: ConnectionState): void {
    this.cells.get("link-state")!.textContent = state === "open" ? "connected" : state;
  }

  private showRate(): void {
    const now = performance.now();
    const frames = this.frames - this.before.frames;
    const rate = (1000 * frames) / (now - this.before.at);
    const size = frames > 0 ? (this.bytes - this.before.bytes) / frames : 0;
    this.before = { frames: this.frames, bytes: this.bytes, at: now };
    this.cells.get("link-rate")!.textContent = frames === 0 ? "the session stands still" : `${rate.toFixed(0)} a second, ${size.toFixed(0)} bytes each`;
    this.cells.get("link-dropped")!.textContent = String(this.dropped);
  }
}
