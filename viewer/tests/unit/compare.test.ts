import assert from "node:assert/strict";
import { test } from "node:test";
import { compared, markedSample, mergedPlots } from "../../src/compare/compared.js";
import type { Header } from "../../src/data/format.js";
import { colorsOf, plotsOf } from "../../src/ui/series.js";
import { HEADER, madeRecording } from "./made.js";

const header = (step: number | null): Header =>
  ({ ...HEADER, arrays: {}, compared: { names: ["a", "b"], difference: step === null ? null : { step, words: "words" } } });

test("the longer run is the clock, and the marked step keeps its time", () => {
  const short = madeRecording([0, 0.1, 0.2]);
  const long = madeRecording([5, 5.05, 5.1, 5.15, 5.2, 5.25]);
  const pair = compared(short, long, header(2));
  assert.equal(pair.main, long);
  assert.equal(pair.mainIsFirst, false);
  assert.equal(markedSample(pair), 4); // step 2 of the first ends 0.2 s after the start
  assert.equal(markedSample(compared(long, short, header(3))), 3);
  assert.equal(markedSample(compared(short, long, header(3))), 3); // the first has no step 3: that of the second, at 0.15 s
  assert.equal(markedSample(compared(short, long, header(null))), null);
});

test("lines of both runs are over the time since their starts", () => {
  const pair = compared(madeRecording([0, 0.1, 0.2]), madeRecording([5, 5.1, 5.2, 5.3]), header(1));
  const plots = mergedPlots(pair, plotsOf(pair.main, ""), plotsOf(pair.other, ""), markedSample(pair));
  const contacts = plots.find(({ name }) => name === "contacts")!;
  assert.deepEqual(contacts.lines.map(({ label, dashed }) => [label, dashed ?? false]), [["2: contacts", false], ["1: contacts", true]]);
  assert.ok([...contacts.lines[1]!.time!].every((time, i) => Math.abs(time - (5 + 0.1 * i)) < 1e-12));
  assert.equal(contacts.mark, 5.1);
});

test("a quantity that only one of the runs has is plotted, too", () => {
  const pair = compared(madeRecording([0, 0.1]), madeRecording([0, 0.1]), header(null));
  const plots = mergedPlots(pair, plotsOf(pair.main, ""), plotsOf(pair.other, "floor"), null);
  assert.deepEqual(plots.find(({ name }) => name === "forces")?.lines.map(({ label }) => label), ["2: tet, normal", "2: tet, friction", "2: rod, normal", "2: rod, friction"]);
});

test("each line of a plot has its own colour, and a dashed one that of the line before", () => {
  const line = (dashed: boolean): { label: string; values: Float64Array; dashed: boolean } => ({ label: "", values: new Float64Array(0), dashed });
  assert.deepEqual(colorsOf([false, true, false, true].map(line)), [0, 0, 1, 1]);
  assert.deepEqual(colorsOf([false, false, false].map(line)), [0, 1, 2]);
});
