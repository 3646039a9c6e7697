import assert from "node:assert/strict";
import { test } from "node:test";
import { Refresh } from "../../src/live/refresh.js";

const settled = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

test("what is shown is asked for at once, and again only after the answer", async () => {
  const answers: (() => void)[] = [];
  let tick = (): void => undefined;
  const refresh = new Refresh(() => new Promise((resolve) => { answers.push(resolve); }), (action) => {
    tick = action;
    return () => { tick = () => undefined; };
  });
  assert.equal(answers.length, 1);
  for (let i = 0; i < 40; i++) tick(); // a call before it takes long
  assert.equal(answers.length, 1);
  answers[0]!();
  await settled();
  tick();
  assert.equal(answers.length, 2);
  answers[1]!();
  await settled();
  refresh.end();
  tick();
  assert.equal(answers.length, 2);
});
