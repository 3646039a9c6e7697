import { AxesHelper, BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, Object3D, SphereGeometry, type Vector3 } from "three";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import type { Stage } from "../scene/stage.js";
import type { Finger, HandPose } from "./hand.js";

const COMMANDED = 0xf5c518;
const ACHIEVED = 0x16a394;

// Browsers keep moves of the pointer for the next frame, which a picture that is long in the making puts off; these come at once.
const EARLY = "pointerrawupdate";

// The hand in the picture: arrows and rings that are dragged, where fingers were commanded (yellow) and where they are (green), with a
// line between the two.
export class Handles {
  private readonly hand = new Object3D();
  private readonly controls: TransformControls;
  private readonly marks = new Group();
  private readonly line: LineSegments;
  private dragged = false;
  private readonly onEarly = (event: Event): void => {
    if (this.dragged) this.stage.canvas.dispatchEvent(new PointerEvent("pointermove", event));
  };

  // onMove: the hand was dragged, to where `pose` says.
  constructor(private readonly stage: Stage, onMove: (position: Vector3) => void, onTurn: () => void) {
    this.controls = new TransformControls(stage.camera, stage.canvas);
    this.controls.size = 0.9;
    this.controls.attach(this.hand);
    stage.canvas.addEventListener(EARLY, this.onEarly);
    this.controls.addEventListener("dragging-changed", (event) => {
      this.dragged = event.value === true;
      stage.controls.enabled = !this.dragged;
    });
    this.controls.addEventListener("objectChange", () => {
      if (this.controls.mode === "translate") onMove(this.hand.position.clone());
      else onTurn();
    });
    this.controls.addEventListener("change", () => { stage.invalidate(); });
    this.line = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: COMMANDED, depthTest: false, transparent: true }));
    this.line.frustumCulled = false;
    this.line.renderOrder = 3;
    stage.scene.add(this.hand, this.controls.getHelper(), this.marks);
    this.marks.add(this.line);
  }

  end(): void {
    this.stage.canvas.removeEventListener(EARLY, this.onEarly);
    this.stage.controls.enabled = true;
    this.stage.scene.remove(this.hand, this.controls.getHelper(), this.marks);
    this.controls.dispose();
    this.stage.invalidate();
  }

  get rotation(): Object3D["quaternion"] {
    return this.hand.quaternion;
  }

  set mode(mode: "translate" | "rotate") {
    this.controls.setMode(mode);
    this.stage.invalidate();
  }

  // Follows what was commanded by other means than dragging.
  follow(pose: HandPose): void {
    if (this.dragged) return;
    this.hand.position.copy(pose.position);
    this.hand.quaternion.copy(pose.rotation);
    this.stage.invalidate();
  }

  show(commanded: readonly Finger[], achieved: readonly Finger[]): void {
    const size = 0.05 * this.stage.size;
    while (this.marks.children.length < 1 + 2 * commanded.length) this.marks.add(mark(this.marks.children.length % 2 === 1 ? COMMANDED : ACHIEVED, size));
    const ends = new Float32Array(6 * commanded.length);
    commanded.forEach((finger, i) => {
      const real = achieved[i] ?? finger;
      place(this.marks.children[1 + 2 * i]!, finger);
      place(this.marks.children[2 + 2 * i]!, real);
      ends.set([...finger.position.toArray(), ...real.position.toArray()], 6 * i);
    });
    this.line.geometry.setAttribute("position", new BufferAttribute(ends, 3));
    this.stage.invalidate();
  }
}

function mark(color: number, size: number): Object3D {
  const material = new MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.9 });
  const ball = new Mesh(new SphereGeometry(0.12 * size, 12, 8), material);
  ball.renderOrder = 3;
  const group = new Group();
  group.add(ball, new AxesHelper(size));
  return group;
}

function place(object: Object3D, finger: Finger): void {
  object.position.copy(finger.position);
  object.quaternion.copy(finger.rotation);
}
