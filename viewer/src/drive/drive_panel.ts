import { Quaternion, Vector3 } from "three";
import type { App } from "../app.js";
import { norm } from "../data/line_of_action.js";
import { inWords } from "../live/words.js";
import type { Server } from "../live/server.js";
import type { BoundaryPose, Observation } from "../proto/eipc/v1/observation_pb.js";
import type { ViewerScene } from "../proto/eipc/v1/viewer_pb.js";
import { button, element, Toggle } from "../ui/dom.js";
import { quantity } from "../units.js";
import { approach, Hand, type Finger, type HandPose, type Speeds } from "./hand.js";
import { Handles } from "./handles.js";
import { Inputs, turnOf, velocityOf, type Wish } from "./inputs.js";
import { wrenchOn } from "./feel.js";
import { poseMessage, positionOf, rotationOf, wordsOf } from "./poses.js";
import { Slides } from "./slides.js";
import { Stepper } from "./stepper.js";

const DEFAULT_DT_S = 0.02;
const SHARE_PER_S = 0.5; // of the scene's size that the hand moves in a second at most
const TURN_PER_S = 1.2; // rad
const RUMBLE_FULL_N = 20; // contact force at which a gamepad shakes with all its strength

export interface Going {
  readonly session: (session: string, recorded: boolean) => void;
}

// Steps the session from the page, and moves frames of it with a hand that is dragged.
export class DrivePanel {
  readonly element: HTMLElement;
  private readonly run: Toggle;
  private readonly drive: Toggle;
  private readonly mode: Toggle;
  private readonly words = element("p", { class: "words", "data-name": "drive-words" });
  private readonly spoken = element("p", { class: "spoken", role: "status", "data-name": "drive-spoken" }); // for screen readers: without amounts
  private readonly force = numberField("Stop closing at this contact force, N; empty: never", "force-limit");
  private readonly limit = numberField("Wall-clock limit of a step, ms; empty: none", "time-limit");
  private readonly feels = element("p", { class: "quiet", "data-name": "hand-feels" });
  private readonly chosen: HTMLInputElement[];
  private readonly inputs: Inputs;
  private readonly ended = new AbortController();
  private readonly dt: number;
  private readonly stepper: Stepper;
  private readonly snapshots: string[] = [];
  private handles: Handles | null = null;
  private hand: Hand | null = null;
  private slides: Slides | null = null;
  private wanted: HandPose | null = null;
  private commanded: HandPose | null = null;
  private seen: Observation;

  constructor(private readonly app: App, private readonly server: Server, private readonly at: { readonly session: string; readonly world: number },
              private readonly scene: ViewerScene, first: Observation, private readonly go: Going) {
    this.seen = first;
    this.dt = scene.dtS > 0 ? scene.dtS : DEFAULT_DT_S;
    this.inputs = new Inputs(this.ended.signal);
    this.stepper = new Stepper(this.dt, () => this.step(), (error) => { this.stopped(error); });
    this.run = new Toggle("Take steps in real time until it is pressed again", "Run", false, (on) => { this.setRunning(on); }, "run");
    this.drive = new Toggle("Drive: take hold of the fingers, and take steps in real time", "Drive", false, (on) => { this.setDriving(on); }, "drive");
    this.mode = new Toggle("Turn the hand instead of moving it", "Turn", false, (on) => { if (this.handles) this.handles.mode = on ? "rotate" : "translate"; }, "turn");
    this.chosen = scene.frames.map((frame) =>
      element("input", { type: "checkbox", checked: "", "data-body": frame.body, "data-set": frame.boundarySet }));
    this.drive.element.disabled = this.chosen.length === 0;
    this.element = this.layout();
  }

  end(): void {
    this.stepper.stop();
    this.ended.abort();
    this.handles?.end();
  }

  // What the session is like now.
  show(seen: Observation): void {
    this.seen = seen;
    this.words.textContent = wordsOf(seen);
    const spoken = wordsOf(seen, false);
    if (this.spoken.textContent !== spoken) this.spoken.textContent = spoken;
    if (!this.hand || !this.handles || !this.commanded) return;
    const { force, moment } = wrenchOn(seen, this.held(), this.commanded.position);
    this.feels.textContent = `On the hand: ${quantity(force.length(), "N")}, ${quantity(moment.length(), "N m")}; hardest press ${quantity(this.pressing(), "N")}`;
    this.handles.show(this.hand.targets(this.commanded), this.fingers((pose) => pose.achieved));
  }

  private layout(): HTMLElement {
    const held = (label: string, text: string, key: string): HTMLButtonElement => {
      const made = button(label, text, () => undefined, { "data-name": `hold-${key}` });
      made.addEventListener("pointerdown", () => { this.inputs.hold(key, true); });
      made.addEventListener("keydown", (event) => { if (event.key === " " || event.key === "Enter") this.inputs.hold(key, true); });
      for (const end of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) made.addEventListener(end, () => { this.inputs.hold(key, false); });
      return made;
    };
    const act = (label: string, text: string, name: string, action: () => Promise<void>): HTMLButtonElement =>
      button(label, text, () => { void this.act(action); }, { "data-name": name });
    const frames = this.chosen.map((box) => element("label", { class: "choice" }, box, ` ${[box.dataset["body"], box.dataset["set"]].filter(Boolean).join(" / ")}`));
    return element("section", { class: "drive", "aria-label": "Drive" },
      element("div", { class: "group" }, this.run.element, this.drive.element, this.mode.element, held("Close (n)", "Close", "n"), held("Open (m)", "Open", "m")),
      element("div", { class: "group" },
        act("Back to the start of the scene", "Reset", "session-reset", async () => { await this.server.reset(this.at.session, this.at.world); }),
        act("Keep the present, to come back to it", "Snapshot", "snapshot", () => this.snapshot()),
        act("Back to the last snapshot", "Undo", "undo", () => this.undo()),
        act("A copy of the present as a session of its own", "Fork", "fork", async () => { this.go.session((await this.server.fork(this.at.session, this.at.world)).name, false); }),
        act("Record a demonstration from here on, in a copy of the session", "● Record", "record", async () => {
          this.go.session((await this.server.fork(this.at.session, this.at.world)).name, true);
        }),
        ...(this.scene.recorded ? [element("a", { href: `/recording?session=${encodeURIComponent(this.at.session)}`, download: "", class: "button", "data-name": "save-recording" }, "Save recording")] : [])),
      this.feels, this.words, this.spoken,
      element("details", {}, element("summary", {}, "Settings of driving"), element("div", { class: "settings" }, ...frames,
        element("label", {}, "Most contact force, N ", this.force), element("label", {}, "Limit of a step, ms ", this.limit))));
  }

  private setRunning(on: boolean): void {
    if (on) this.stepper.start();
    else this.stopAll();
  }

  private setDriving(on: boolean): void {
    if (!on) {
      this.stopAll();
      return;
    }
    const fingers = this.fingers((pose) => pose.commanded);
    if (fingers.length === 0) {
      this.drive.show(false);
      this.words.textContent = "Choose at least one frame in the settings of driving.";
      return;
    }
    this.hand = new Hand(fingers);
    this.slides = new Slides(this.scene.frames.filter((frame) => frame.maxForceN > 0 && fingers.some(({ body, boundarySet }) => body === frame.body && boundarySet === frame.boundarySet)));
    this.wanted = this.commanded = this.hand.start();
    this.handles = new Handles(this.app.picture.stage, (position) => { this.wish({ position }); },
      () => { this.wish({ rotation: this.handles!.rotation.clone() }); });
    this.handles.mode = this.mode.element.getAttribute("aria-pressed") === "true" ? "rotate" : "translate";
    this.handles.follow(this.commanded);
    this.app.player.follow();
    this.app.picture.stage.canvas.focus();
    this.run.show(true);
    this.stepper.start();
  }

  private wish(change: Partial<HandPose>): void {
    if (this.wanted) this.wanted = { ...this.wanted, ...change };
  }

  // Lets go: what was commanded last stays.
  private stopAll(): void {
    this.stepper.stop();
    this.run.show(false);
    this.drive.show(false);
    this.handles?.end();
    this.handles = null;
    this.hand = null;
    this.slides = null;
    this.feels.textContent = "";
  }

  private async step(): Promise<void> {
    const { session, world } = this.at;
    const limit = Number(this.limit.value);
    const wish = this.inputs.read();
    const targets = this.hand ? this.advance(this.hand, wish).map((finger) =>
      ({ body: finger.body, boundarySet: finger.boundarySet, pose: poseMessage(finger.position, finger.rotation) })) : [];
    const drives = this.slides?.commands(wish.close, Number(this.force.value), this.seen) ?? [];
    await this.server.step({ session, world, dtS: this.dt, targets, drives, timeLimitS: limit > 0 ? limit / 1000 : 0, observe: { boundaryPoses: true } });
  }

  private advance(hand: Hand, wish: Wish): Finger[] {
    const { size } = this.app.picture.stage;
    const speeds: Speeds = { linear: SHARE_PER_S * size, angular: TURN_PER_S, closing: 0.25 * SHARE_PER_S * size };
    let wanted = this.wanted!;
    wanted = {
      position: wanted.position.clone().addScaledVector(velocityOf(wish, this.app.picture.stage.heading), 0.5 * speeds.linear * this.dt),
      rotation: turnOf(wish, speeds.angular * this.dt, this.app.picture.stage.heading).multiply(wanted.rotation),
      closing: Math.min(wanted.closing + wish.close * speeds.closing * this.dt, hand.mostClosing),
    };
    const most = Number(this.force.value);
    const pressing = this.pressing();
    this.inputs.rumble(pressing / RUMBLE_FULL_N);
    // A hand that presses hard enough closes no further; it may open.
    if (most > 0 && pressing >= most) wanted = { ...wanted, closing: Math.min(wanted.closing, this.commanded!.closing) };
    this.wanted = wanted;
    this.commanded = approach(this.commanded!, wanted, speeds, this.dt);
    this.handles?.follow(wanted);
    return hand.targets(this.commanded);
  }

  // The largest normal force on a body whose frame is held, N.
  private pressing(): number {
    const bodies = this.held();
    const forces = this.seen.contactWrenches.filter((wrench) => bodies.has(wrench.body)).map(({ normalForceN: f }) => norm([f?.x ?? 0, f?.y ?? 0, f?.z ?? 0]));
    return Math.max(0, ...forces);
  }

  private held(): ReadonlySet<string> {
    return new Set(this.hand?.fingers.map((finger) => finger.body));
  }

  private fingers(which: (pose: BoundaryPose) => BoundaryPose["commanded"]): Finger[] {
    return this.chosen.filter((box) => box.checked).flatMap((box): Finger[] => {
      const pose = this.seen.boundaryPoses.find((found) => found.body === box.dataset["body"] && found.boundarySet === box.dataset["set"]);
      const place = pose && which(pose);
      return pose && place ? [{ body: pose.body, boundarySet: pose.boundarySet, position: positionOf(place), rotation: rotationOf(place), onGuide: pose.drive !== undefined }] : [];
    });
  }

  private async snapshot(): Promise<void> {
    const made = await this.server.snapshot(this.at.session, this.at.world);
    this.snapshots.push(made.name);
    this.app.say(`Kept step ${made.step}, ${made.timeS.toFixed(3)} s.`);
  }

  private async undo(): Promise<void> {
    const last = this.snapshots.at(-1);
    if (last === undefined) {
      this.app.say("There is no snapshot yet.");
      return;
    }
    await this.server.restore(this.at.session, this.at.world, last);
    this.app.say("Back at the snapshot.");
  }

  // A call that changes the session from elsewhere than by steps: the fingers are let go before.
  private async act(action: () => Promise<void>): Promise<void> {
    this.stopAll();
    try {
      await action();
    } catch (error) {
      this.app.say(inWords(error));
    }
  }

  private stopped(error: unknown): void {
    if (error === null) return;
    this.stopAll();
    this.app.say(inWords(error));
  }

  // For tests.
  get pose(): { position: Vector3; rotation: Quaternion; closing: number } | null {
    return this.hand ? this.commanded : null;
  }
}

function numberField(label: string, name: string): HTMLInputElement {
  return element("input", { type: "number", min: "0", step: "any", "aria-label": label, title: label, "data-name": name });
}
