import { DataType } from "../proto/eipc/v1/geometry_pb.js";
import type { SessionInfo } from "../proto/eipc/v1/service_pb.js";
import type { ViewerScene } from "../proto/eipc/v1/viewer_pb.js";
import { liveFrameOf, Picture } from "../scene/picture.js";
import { listenForCamera } from "../ui/camera_keys.js";
import { button, element } from "../ui/dom.js";
import { pictureColors, Themes } from "../ui/theme.js";
import { toFloats } from "./arrays.js";
import type { Connection, Frame } from "./connection.js";
import { LiveRecording } from "./live_recording.js";
import { Refresh } from "./refresh.js";
import type { Server } from "./server.js";
import { inWords, STATE_WORDS } from "./words.js";

const MOST_SESSIONS = 8; // as many watches as a page may have
const FRAMES_PER_S = 15; // of each session

// The first world of a session that goes on, with its name.
class SessionTile {
  readonly element: HTMLElement;
  picture: Picture | null = null;
  frames = 0; // that came
  private readonly canvas: HTMLCanvasElement;
  private readonly caption: HTMLButtonElement;
  private readonly words = element("p", { class: "quiet" }, "Waiting for the session …");
  private readonly observer: ResizeObserver;
  private readonly unwatch: () => void;
  private scene: ViewerScene | null = null;
  private recording: LiveRecording | null = null;

  constructor(connection: Connection, readonly session: SessionInfo, private readonly name: string, open: () => void, private readonly onStale: () => void) {
    this.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": `A session of ${name}. Drag or arrow keys turn the camera, plus and minus change the distance.` });
    this.caption = button(`Watch this session of ${name}`, name, open, { "data-name": `wall ${session.name}`, class: "tile" });
    this.element = element("li", { class: "wall-tile" }, this.canvas, this.caption, this.words);
    this.observer = new ResizeObserver(() => { this.picture?.stage.resize(); });
    this.observer.observe(this.canvas);
    this.unwatch = connection.watch({ session: session.name, worlds: [0], observe: { cagePositions: true, positionsDtype: DataType.FLOAT32 }, framesPerS: FRAMES_PER_S }, {
      onScene: (scene) => { this.scene = scene; },
      onFrame: (frame) => { this.take(frame); },
      onError: (error) => { this.words.textContent = inWords(error); },
    });
  }

  end(): void {
    this.unwatch();
    this.observer.disconnect();
    this.picture?.stage.end();
    this.element.remove();
  }

  private take({ observation }: Frame): void {
    if (!this.scene) return;
    try {
      this.recording ??= new LiveRecording(this.scene, observation, this.scene.name, 1);
      this.picture ??= this.begin(this.recording);
    } catch (error) { // no WebGL
      this.unwatch();
      this.words.textContent = inWords(error);
      return;
    }
    for (const body of this.recording.bodies) {
      const seen = observation.bodies.find((found) => found.name === body.name);
      if (body.map !== "still" && seen?.cagePositions) body.cage = toFloats(seen.cagePositions);
    }
    this.frames++;
    this.caption.textContent = `${this.name}, ${observation.timeS.toFixed(2)} s`;
    this.picture.show(0);
  }

  private begin(recording: LiveRecording): Picture {
    const picture = new Picture(this.canvas, recording, liveFrameOf(recording));
    picture.showParts({ forces: false, cage: false, grid: true, body: "" });
    picture.setColors(pictureColors());
    picture.stage.onStale = this.onStale;
    picture.stage.resize();
    listenForCamera(picture.stage);
    this.words.remove();
    return picture;
  }
}

// Sessions of the server beside each other while they go on, each under a camera of its own.
export class WallPage {
  readonly tiles = new Map<string, SessionTile>();
  private readonly list = element("ul", { class: "wall", "data-name": "wall", "aria-label": "Sessions" });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly themes = new Themes(() => { for (const { picture } of this.tiles.values()) picture?.setColors(pictureColors()); });
  private readonly asks: Refresh;
  private asked = false; // for a frame

  constructor(private readonly connection: Connection, private readonly server: Server, root: HTMLElement,
              private readonly go: { readonly home: () => void; readonly session: (session: string) => void }) {
    const tools = element("div", { class: "tools", role: "toolbar", "aria-label": "View" },
      button("All sessions (Escape)", "☰", () => { go.home(); }, { "data-name": "home" }),
      button("Dark or light", "◐", () => { this.themes.flip(); }, { "data-name": "theme" }));
    document.title = "eipc: sessions";
    root.replaceChildren(element("header", {}, element("h1", {}, "Sessions"), tools), element("div", { class: "view" }, this.list), element("footer", {}, this.status));
    this.themes.apply();
    this.asks = new Refresh(() => this.refresh());
  }

  end(): void {
    this.asks.end();
    this.themes.end();
    for (const tile of this.tiles.values()) tile.end();
    this.tiles.clear();
  }

  showConnection(): void {
    this.status.textContent = STATE_WORDS[this.connection.state];
    if (this.connection.state === "open") void this.asks.now();
  }

  private async refresh(): Promise<void> {
    if (this.connection.state !== "open") return;
    try {
      const [sessions, scenes] = await Promise.all([this.server.sessions(), this.server.scenes()]);
      this.show(sessions, new Map(scenes.map((scene) => [scene.name, scene.displayName || scene.name])));
    } catch (error) {
      this.status.textContent = inWords(error);
    }
  }

  private show(sessions: readonly SessionInfo[], names: ReadonlyMap<string, string>): void {
    const shown = sessions.slice(0, MOST_SESSIONS);
    for (const [name, tile] of this.tiles) {
      if (shown.some((session) => session.name === name)) continue;
      tile.end();
      this.tiles.delete(name);
    }
    for (const session of shown) {
      if (this.tiles.has(session.name)) continue;
      const tile = new SessionTile(this.connection, session, names.get(session.scene) ?? session.scene, () => { this.go.session(session.name); }, () => { this.ask(); });
      this.tiles.set(session.name, tile);
      this.list.append(tile.element);
    }
    this.status.textContent = sessions.length === 0 ? "No session runs." : sessions.length > shown.length ? `The first ${shown.length} of ${sessions.length} sessions.` : "";
  }

  private ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      for (const { picture } of this.tiles.values()) picture?.stage.drawIfStale();
    });
  }
}
