import assert from "node:assert/strict";
import { test } from "node:test";
import { FinenessControl } from "../../src/scene/fineness.js";

// Pictures that take `ms` at full resolution, whose time is that of their pixels; how finely the last one was drawn.
function drawn(pictures: number, ms: number, control = new FinenessControl()): FinenessControl {
  for (let i = 0; i < pictures; i++) control.took(ms * control.now.ratio ** 2);
  return control;
}

test("pictures in time are drawn at full resolution, each with its shadows", () => {
  assert.deepEqual(drawn(100, 30).now, { ratio: 1, shadowsEach: 1 });
});

test("pictures that take long lose shadows first, then pixels, until they are in time", () => {
  assert.deepEqual(drawn(3, 50).now, { ratio: 1, shadowsEach: 2 });
  assert.deepEqual(drawn(100, 50).now, { ratio: 0.75, shadowsEach: 2 });
  assert.deepEqual(drawn(100, 1000).now, { ratio: 0.5, shadowsEach: 3 });
});

test("a single picture that takes long changes nothing", () => {
  const control = new FinenessControl();
  for (let i = 0; i < 99; i++) control.took(i % 3 === 0 ? 500 : 20);
  assert.deepEqual(control.now, { ratio: 1, shadowsEach: 1 });
});

test("pictures get fine again when they are fast, and do not go back and forth", () => {
  const control = drawn(100, 1000);
  assert.deepEqual(drawn(100, 10, control).now, { ratio: 1, shadowsEach: 1 });
  const seen = new Set<number>();
  for (let ms = 5; ms < 200; ms *= 1.1) {
    drawn(30, ms, control);
    const settled = control.now;
    seen.add(settled.ratio);
    for (let i = 0; i < 30; i++) assert.deepEqual(drawn(1, ms, control).now, settled, `${String(ms)} ms`);
  }
  assert.deepEqual([...seen], [1, 0.75, 0.5]);
});
