import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { LiveRecording, samplesOf } from "../../src/live/live_recording.js";
import { ObservationSchema, type Observation } from "../../src/proto/eipc/v1/observation_pb.js";
import { ViewerSceneSchema } from "../../src/proto/eipc/v1/viewer_pb.js";
import { realTimeFactor } from "../../src/ui/readout.js";

// Steps of 10 ms, each of which took 5 ms.
const seen = (step: number): Observation => create(ObservationSchema, { step: BigInt(step), timeS: 0.01 * step, solverReport: { wallTimeS: 0.005 } });
const close = (value: number, expected: number): void => { assert.ok(Math.abs(value - expected) < 1e-6, `${value}, not ${expected}`); };

test("the real-time factor is that of a step, also where steps before it were left out", () => {
  const recording = new LiveRecording(create(ViewerSceneSchema), seen(0), "made");
  recording.append(seen(1), 0);
  close(realTimeFactor(recording, 1), 2);
  recording.append(seen(5), 3);
  close(realTimeFactor(recording, 2), 2);
});

test("no real-time factor is given where it is not known how many steps were left out", () => {
  const recording = new LiveRecording(create(ViewerSceneSchema), seen(0), "made");
  recording.append(seen(1), 0);
  recording.append(seen(9), null);
  assert.ok(Number.isNaN(realTimeFactor(recording, 2)));
  recording.append(seen(9), null); // the same step, with more of it
  recording.append(seen(10), 0);
  close(realTimeFactor(recording, 3), 2);
  recording.append(seen(10), null);
  close(realTimeFactor(recording, 3), 2);
});

test("a recording that is full forgets its oldest quarter, and a reset begins it anew", () => {
  const recording = new LiveRecording(create(ViewerSceneSchema), seen(0), "made", 8);
  for (let step = 1; step < 8; step++) assert.equal(recording.append(seen(step), 0).forgotten, 0);
  assert.deepEqual(recording.append(seen(8), 0), { forgotten: 2, anew: false, pairs: false });
  assert.deepEqual([recording.samples, recording.stepAt(0), recording.stepAt(6)], [7, "2", "8"]);
  close(realTimeFactor(recording, 6), 2);
  assert.equal(recording.append(seen(3), 0).anew, true);
  assert.deepEqual([recording.samples, recording.stepAt(0)], [1, "3"]);
});

test("as many samples are kept as there is room for, few of large ones", () => {
  assert.deepEqual([1, 100e3, 1e6, 32e6, 1e9].map(samplesOf), [3000, 640, 200, 8, 2]);
  const recording = new LiveRecording(create(ViewerSceneSchema), seen(0), "made", 2);
  for (let step = 1; step < 6; step++) recording.append(seen(step), 0);
  assert.equal(recording.stepAt(recording.samples - 1), "5");
});
