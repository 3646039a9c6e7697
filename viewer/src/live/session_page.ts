import { App } from "../app.js";
import { DrivePanel } from "../drive/drive_panel.js";
import { button, element, select } from "../ui/dom.js";
import type { Shown } from "../ui/heat_choice.js";
import type { Observation } from "../proto/eipc/v1/observation_pb.js";
import type { ViewerScene } from "../proto/eipc/v1/viewer_pb.js";
import type { Connection, Frame } from "./connection.js";
import { LiveRecording } from "./live_recording.js";
import { LinkPanel } from "./link_panel.js";
import { OBSERVE, type Observe, type Server } from "./server.js";
import { inWords, STATE_WORDS } from "./words.js";

const FRAMES_PER_S = 60;

// One world of a session while it goes on.
export class SessionPage {
  app: App | null = null;
  recording: LiveRecording | null = null;
  drive: DrivePanel | null = null;
  private readonly place = element("div");
  private scene: ViewerScene | null = null;
  private readonly link = new LinkPanel();
  private unwatch: () => void;
  private asked = "";
  private dropped: number | null = null; // by the last frame; null: the next one is the first of a watch

  constructor(private readonly connection: Connection, readonly server: Server, readonly session: string, readonly world: number,
              private readonly root: HTMLElement, private readonly go: { readonly home: () => void; readonly world: (world: number) => void; readonly session: (session: string, recorded: boolean) => void }) {
    root.replaceChildren(element("p", { class: "error waiting" }, "Waiting for the session …"));
    this.unwatch = this.watch({});
  }

  private watch(more: Observe): () => void {
    return this.connection.watch({ session: this.session, worlds: [this.world], observe: { ...OBSERVE, ...more }, framesPerS: FRAMES_PER_S }, {
      onScene: (scene) => {
        this.scene = scene;
        this.dropped = null;
      },
      onFrame: (frame) => { this.take(frame); },
      onError: (error) => { this.fail(inWords(error)); },
    });
  }

  // What is shown is observed, and nothing else.
  private wish({ heat, points }: Shown): void {
    const contacts = points || (heat !== null && heat !== "stress");
    const more: Observe = { contactTractions: contacts, slips: contacts, stresses: heat === "stress" };
    if (JSON.stringify(more) === this.asked) return;
    this.asked = JSON.stringify(more);
    this.unwatch();
    this.unwatch = this.watch(more);
  }

  end(): void {
    this.unwatch();
    this.link.end();
    this.endApp();
  }

  private endApp(): void {
    this.drive?.end();
    this.app?.end();
    this.drive = null;
    this.app = null;
    globalThis.eipcViewer = undefined;
  }

  showConnection(): void {
    this.app?.say(STATE_WORDS[this.connection.state]);
    this.link.showState(this.connection.state);
  }

  private take(frame: Frame): void {
    if (!this.scene) return;
    this.link.count(this.connection, frame);
    const skipped = this.dropped === null ? null : frame.dropped - this.dropped;
    this.dropped = frame.dropped;
    if (!this.app || !this.recording) {
      try {
        this.begin(this.scene, frame.observation);
      } catch (error) {
        this.unwatch();
        this.fail(inWords(error));
      }
      return;
    }
    this.drive?.show(frame.observation);
    const change = this.recording.append(frame.observation, skipped);
    if (change.anew) this.app.player.follow();
    this.app.grew({ ...change, largestForce: this.recording.largestForce });
  }

  // Throws NoGraphicsError.
  private begin(scene: ViewerScene, first: Observation): void {
    this.recording = new LiveRecording(scene, first, scene.name);
    document.title = scene.name;
    this.app = new App(this.recording, this.root, { live: { tools: this.tools(scene), side: [this.place, this.link.element], onWish: (shown) => { this.wish(shown); } } });
    this.drive = new DrivePanel(this.app, this.server, { session: this.session, world: this.world }, scene, first, { session: this.go.session });
    this.place.replaceChildren(this.drive.element);
    globalThis.eipcViewer = this.app;
  }

  private tools(scene: ViewerScene): HTMLElement[] {
    const home = button("All sessions (Escape)", "☰", () => { this.go.home(); }, { "data-name": "home" });
    if (scene.worlds < 2) return [home];
    const worlds = Array.from({ length: scene.worlds }, (_, world): [string, string] => [String(world), `world ${world}`]);
    const choose = select("World of the session", worlds, String(this.world), (world) => { this.go.world(Number(world)); });
    choose.dataset["name"] = "world";
    return [home, choose];
  }

  private fail(words: string): void {
    this.endApp();
    this.root.replaceChildren(element("div", { class: "error", role: "alert" }, element("p", {}, words),
      button("All sessions", "All sessions", () => { this.go.home(); }, { "data-name": "home" })));
  }
}
