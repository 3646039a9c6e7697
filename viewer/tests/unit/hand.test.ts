import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Quaternion, Vector3 } from "three";
import { wrenchOn } from "../../src/drive/feel.js";
import { Hand, type Finger } from "../../src/drive/hand.js";
import { noWish, turnOf } from "../../src/drive/inputs.js";
import { wordsOf } from "../../src/drive/poses.js";
import { Slides } from "../../src/drive/slides.js";
import { ObservationSchema, type Observation } from "../../src/proto/eipc/v1/observation_pb.js";
import { DriveMotion_Mode } from "../../src/proto/eipc/v1/scene_pb.js";
import { ViewerFrameOfBodySchema } from "../../src/proto/eipc/v1/viewer_pb.js";

const near = (value: Vector3, ...expected: [number, number, number]): void => { assert.ok(value.distanceTo(new Vector3(...expected)) < 1e-9, `${value.toArray().join(", ")}, not ${expected.join(", ")}`); };
const finger = (x: number, onGuide = false): Finger => ({ body: "f", boundarySet: String(x), position: new Vector3(x, 0, 0), rotation: new Quaternion(), onGuide });

test("fingers close by moving, those on guides by their drives", () => {
  const hand = new Hand([finger(-0.05), finger(0.05, true)]);
  const [moved, onGuide] = hand.targets({ ...hand.start(), closing: 0.02 });
  near(moved!.position, -0.03, 0, 0);
  near(onGuide!.position, 0.05, 0, 0);
  assert.ok(Math.abs(hand.mostClosing - 0.049) < 1e-12);
  assert.equal(new Hand([finger(-1, true), finger(1, true)]).mostClosing, 0);
});

test("a hand turns, tilts and rolls as the camera sees it", () => {
  const heading = 0; // the camera is at +x and looks along -x; +y is to its right
  const up = (wish: Partial<ReturnType<typeof noWish>>): Vector3 => new Vector3(0, 0, 1).applyQuaternion(turnOf({ ...noWish(), ...wish }, 0.1, heading));
  near(up({ tilt: 1 }), -Math.sin(0.1), 0, Math.cos(0.1));
  near(up({ roll: 1 }), 0, Math.sin(0.1), Math.cos(0.1));
  near(up({ turn: 1 }), 0, 0, 1);
  near(new Vector3(1, 0, 0).applyQuaternion(turnOf({ ...noWish(), turn: 1 }, 0.1, heading)), Math.cos(0.1), Math.sin(0.1), 0);
  assert.ok(turnOf(noWish(), 0.1, heading).equals(new Quaternion()));
});

test("a hand feels the forces of others, with their moment about it", () => {
  const seen = create(ObservationSchema, {
    bodies: [{ name: "left", pose: { positionM: { x: 1 } } }],
    contactWrenches: [
      { body: "left", other: "ball", normalForceN: { y: 2 }, frictionForceN: { z: 1 }, normalMomentNm: { x: 0.5 }, frictionMomentNm: {} },
      { body: "left", other: "right", normalForceN: { y: 100 } }, // within the hand
      { body: "ball", other: "left", normalForceN: { y: -2 } },
    ],
  });
  const { force, moment } = wrenchOn(seen, new Set(["left", "right"]), new Vector3());
  near(force, 0, 2, 1);
  near(moment, 0.5, -1, 2); // and (1, 0, 0) x (0, 2, 1)
});

const guide = (maxForceN: number, takesVelocities: boolean): Slides =>
  new Slides([create(ViewerFrameOfBodySchema, { body: "f", slides: true, maxForceN, takesVelocities })]);
const reading = (blocked: boolean, effortN: number): Observation =>
  create(ObservationSchema, { boundaryPoses: [{ body: "f", drive: { blocked, effortN } }] });
const said = (commands: ReturnType<Slides["commands"]>): [DriveMotion_Mode, number][] => commands.map(({ motion }) => [motion!.mode, motion!.keys[0]!.value]);

test("drives close with the force that is allowed, and keep it where they press when they are let go", () => {
  const slides = guide(5, true);
  assert.deepEqual(slides.commands(0, 0, reading(false, 0)), [], "what nobody has pressed goes on as it was");
  assert.deepEqual(said(slides.commands(1, 0, reading(false, 0))), [[DriveMotion_Mode.FORCE, 5]]);
  assert.deepEqual(said(slides.commands(0.4, 3, reading(false, 5))), [[DriveMotion_Mode.FORCE, 3]]);
  assert.deepEqual(said(slides.commands(1, 8, reading(true, 5))), [[DriveMotion_Mode.FORCE, 5]], "no more than the drive can");
  assert.deepEqual(slides.commands(0, 8, reading(true, 5)), []);
  assert.deepEqual(said(slides.commands(-1, 2, reading(true, 5))), [[DriveMotion_Mode.FORCE, -2]]);
  assert.deepEqual(said(slides.commands(0, 2, reading(false, -2))), [[DriveMotion_Mode.VELOCITY, 0]]);
  assert.deepEqual(slides.commands(0, 2, reading(false, 0)), []);
});

test("a drive that takes no velocities is let go without a force", () => {
  const slides = guide(5, false);
  slides.commands(-1, 0, reading(false, 0));
  assert.deepEqual(said(slides.commands(0, 0, reading(true, -5))), [[DriveMotion_Mode.FORCE, 0]]);
});

test("words say what stops a frame, for screen readers without amounts that change with every step", () => {
  const seen = create(ObservationSchema, { boundaryPoses: [
    { body: "left", errorM: 0.002 }, { body: "pad", boundarySet: "back", drive: { blocked: true, saturated: true, effortN: 5 } },
    { body: "tool", errorM: 0.01, poseDrive: {} }, { body: "arm", errorM: 0.01, poseDrive: { saturated: true } }, { body: "right", errorM: 1e-7 },
  ] });
  assert.equal(wordsOf(seen), "left was stopped 2.00 mm before its command: something obstructs it. pad / back presses against something with all its force (5.00 N). arm is at the limit of its force.");
  assert.equal(wordsOf(seen, false), "left was stopped before its command: something obstructs it. pad / back presses against something with all its force. arm is at the limit of its force.");
});
