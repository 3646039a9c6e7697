import type { ViewerScene } from "../proto/eipc/v1/viewer_pb.js";
import { DataType } from "../proto/eipc/v1/geometry_pb.js";
import { liveFrameOf, Picture } from "../scene/picture.js";
import { listenForCamera } from "../ui/camera_keys.js";
import { button, element } from "../ui/dom.js";
import { pictureColors, Themes } from "../ui/theme.js";
import { toFloats } from "./arrays.js";
import type { Connection, Frame } from "./connection.js";
import { LiveRecording } from "./live_recording.js";
import { inWords, STATE_WORDS } from "./words.js";

const FRAMES_PER_S = 20; // of each world
const MOST_WITH_SHADOWS = 16; // worlds
const MOST_WORLDS = 256; // that the server shows to one page

// All worlds of a session, a tile each, seen by one camera.
export class TilesPage {
  picture: Picture | null = null;
  frames = 0; // pictures of all tiles that were drawn
  private readonly canvas = element("canvas", { tabindex: "0", role: "img", "data-name": "picture", "aria-label": "All worlds of the session. Drag or arrow keys turn the camera of all, plus and minus change the distance." });
  private readonly grid = element("div", { class: "tiles" });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly themes = new Themes(() => { this.recolor(); });
  private readonly cages: Float32Array[][] = []; // of each world: of each body
  private readonly captions: HTMLElement[] = [];
  private readonly observer = new ResizeObserver(() => { this.layout(); });
  private readonly unwatch: () => void;
  private scene: ViewerScene | null = null;
  private recording: LiveRecording | null = null;
  private asked = false; // a frame

  constructor(private readonly connection: Connection, readonly session: string, root: HTMLElement,
              private readonly go: { readonly home: () => void; readonly world: (world: number) => void }) {
    const tools = element("div", { class: "tools", role: "toolbar", "aria-label": "View" },
      button("All sessions (Escape)", "☰", () => { go.home(); }, { "data-name": "home" }),
      button("Dark or light", "◐", () => { this.themes.flip(); }, { "data-name": "theme" }));
    this.title = element("h1", {}, "Waiting for the session …");
    root.replaceChildren(element("header", {}, this.title, tools), element("div", { class: "view" }, this.canvas, this.grid), element("footer", {}, this.status));
    this.unwatch = connection.watch({ session, worlds: [], observe: { cagePositions: true, positionsDtype: DataType.FLOAT32 }, framesPerS: FRAMES_PER_S }, {
      onScene: (scene) => { this.scene = scene; },
      onFrame: (frame) => { this.take(frame); },
      onError: (error) => { this.status.textContent = inWords(error); },
    });
  }

  private readonly title: HTMLElement;

  end(): void {
    this.unwatch();
    this.themes.end();
    this.observer.disconnect();
    this.picture?.stage.end();
  }

  showConnection(): void {
    this.status.textContent = STATE_WORDS[this.connection.state];
  }

  private take(frame: Frame): void {
    if (!this.scene) return;
    try {
      if (!this.picture) this.begin(this.scene, frame);
    } catch (error) { // no WebGL
      this.unwatch();
      this.status.textContent = inWords(error);
      return;
    }
    const { bodies } = this.recording!;
    this.cages[frame.world] = bodies.map((body) => {
      const seen = frame.observation.bodies.find((found) => found.name === body.name);
      return body.map === "still" || !seen?.cagePositions ? body.cage : toFloats(seen.cagePositions);
    });
    const caption = this.captions[frame.world];
    if (caption) caption.textContent = `world ${frame.world}, ${frame.observation.timeS.toFixed(2)} s`;
    this.ask();
  }

  private begin(scene: ViewerScene, frame: Frame): void {
    this.title.textContent = document.title = `${scene.name}, ${scene.worlds > MOST_WORLDS ? `the first ${MOST_WORLDS} of ` : ""}${scene.worlds} worlds`;
    this.recording = new LiveRecording(scene, frame.observation, scene.name, 1);
    this.picture = new Picture(this.canvas, this.recording, liveFrameOf(this.recording));
    this.picture.showParts({ forces: false, cage: false, grid: true, body: "" });
    if (scene.worlds > MOST_WITH_SHADOWS) this.picture.stage.withoutShadows();
    this.picture.stage.onStale = () => { this.ask(); };
    this.picture.stage.paint = () => { this.paint(); };
    listenForCamera(this.picture.stage);
    this.themes.apply();
    for (let world = 0; world < Math.min(scene.worlds, MOST_WORLDS); world++) {
      const tile = button(`Watch world ${world}`, `world ${world}`, () => { this.go.world(world); }, { "data-name": `tile ${world}`, class: "tile" });
      this.captions.push(tile);
      this.grid.append(tile);
    }
    this.observer.observe(this.canvas);
    this.layout();
  }

  // As square as the tiles fill the canvas.
  private shape(): { columns: number; rows: number } {
    const count = this.captions.length;
    const columns = Math.max(1, Math.min(count, Math.round(Math.sqrt((count * this.canvas.clientWidth) / (this.canvas.clientHeight || 1)))));
    return { columns, rows: Math.ceil(count / columns) };
  }

  private layout(): void {
    if (!this.picture) return;
    const { columns, rows } = this.shape();
    this.captions.forEach((tile, world) => {
      tile.style.left = `${(100 * (world % columns)) / columns}%`;
      tile.style.top = `${(100 * Math.floor(world / columns)) / rows}%`;
    });
    this.picture.stage.resize(columns, rows);
    this.ask();
  }

  private ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  private draw(): void {
    this.picture?.stage.draw();
    this.frames++;
  }

  private paint(): void {
    const { picture, recording } = this;
    if (!picture || !recording) return;
    const { columns, rows } = this.shape();
    this.cages.forEach((cages, world) => {
      recording.bodies.forEach((body, index) => { body.cage = cages[index]!; });
      picture.showTile(world % columns, Math.floor(world / columns), columns, rows);
    });
  }

  private recolor(): void {
    this.picture?.setColors(pictureColors());
  }
}
