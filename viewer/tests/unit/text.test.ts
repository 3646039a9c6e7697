import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFragment, parseFragment } from "../../src/link.js";
import { niceAbove, niceBelow, quantity, roundQuantity } from "../../src/units.js";

test("a link gives back its time and camera", () => {
  const view = { eye: [0.123456, -2, 3e-7], target: [0, 0.05, -1] } as const;
  const place = parseFragment(formatFragment(1.24, view));
  assert.equal(place.time, 1.24);
  assert.deepEqual(place.view, { eye: [0.12346, -2, 3e-7], target: [0, 0.05, -1] });
});

test("what cannot be read of a link is left out", () => {
  for (const fragment of ["", "#", "#t=", "#t=soon", "#cam=1,2,3", "#cam=1,2,3,4,5,", "#cam=1,2,3,4,5,NaN", "#t=1,2"]) assert.deepEqual(parseFragment(fragment), {});
  assert.deepEqual(parseFragment("#t=0.5&cam=broken"), { time: 0.5 });
});

test("quantities have three digits and a prefix", () => {
  const cases: [number, string][] = [[0, "0 N"], [1.5, "1.50 N"], [-0.0124, "-12.4 mN"], [123.4, "123 N"], [0.9996, "1.00 N"], [4.2e-7, "420 nN"], [51234, "51.2 kN"], [NaN, "–"]];
  for (const [value, text] of cases) assert.equal(quantity(value, "N"), text);
  assert.equal(roundQuantity(0.02, "m"), "20 mm");
});

test("nice numbers are 1, 2, 5 times a power of ten", () => {
  assert.deepEqual([0.03, 0.02, 7, 1, 0.99].map(niceBelow), [0.02, 0.02, 5, 1, 0.5]);
  assert.deepEqual([0.03, 0.02, 7, 1, 2.1].map(niceAbove).map((v) => Number(v.toPrecision(6))), [0.05, 0.02, 10, 1, 5]);
  assert.equal(niceBelow(0), 1);
});
