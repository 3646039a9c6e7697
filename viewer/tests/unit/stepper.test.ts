import assert from "node:assert/strict";
import { test } from "node:test";
import { Stepper } from "../../src/drive/stepper.js";

// Steps that end when the test says so, on a clock that does not go on.
class HandSteps {
  readonly open: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  readonly ends: unknown[] = [];
  most = 0; // steps at once
  readonly stepper = new Stepper(0.02, () => new Promise((resolve, reject) => {
    this.open.push({ done: resolve, fail: reject });
    this.most = Math.max(this.most, this.open.length);
  }), (error) => { this.ends.push(error); }, { now: () => 0, wait: () => Promise.resolve() });

  // The oldest step ends; then what waits for it goes on.
  async end(how: "done" | Error): Promise<void> {
    const step = this.open.shift()!;
    if (how === "done") step.done();
    else step.fail(how);
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

test("steps are taken one after the other until it is stopped", async () => {
  const steps = new HandSteps();
  steps.stepper.start();
  await settled();
  for (let i = 0; i < 3; i++) await steps.end("done");
  steps.stepper.stop();
  await steps.end("done");
  assert.deepEqual([steps.stepper.steps, steps.open.length, steps.stepper.on], [4, 0, false]);
  assert.deepEqual(steps.ends, [null]);
});

test("stopped and started again amid a step, it still takes one at a time", async () => {
  const steps = new HandSteps();
  steps.stepper.start();
  await settled();
  steps.stepper.stop();
  steps.stepper.start();
  await settled();
  assert.equal(steps.open.length, 1, "the second run waits for the step of the first");
  for (let i = 0; i < 4; i++) await steps.end("done");
  assert.deepEqual([steps.most, steps.stepper.on], [1, true]);
  steps.stepper.stop();
  await steps.end("done");
  assert.equal(steps.open.length, 0);
});

test("a step that fails ends it with its error, and it can be started again", async () => {
  const steps = new HandSteps();
  const error = new Error("no");
  steps.stepper.start();
  await settled();
  await steps.end(error);
  assert.deepEqual([steps.ends, steps.stepper.on], [[error], false]);
  steps.stepper.start();
  await settled();
  assert.equal(steps.open.length, 1);
});
