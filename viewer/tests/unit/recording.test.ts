import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { RecordingError } from "../../src/data/format.js";
import { fromBase64, gunzip, parse } from "../../src/data/unpack.js";
import { HEADER, Maker, madeRecording } from "./made.js";

const refuses = (what: () => unknown, words: RegExp): void => {
  assert.throws(what, (error) => error instanceof RecordingError && words.test(error.message));
};

test("a packed recording gives back its header and arrays", async () => {
  const packed = new Maker().add("odd", "i32", [3], Int32Array.of(1, -2, 3)).add("after", "f64", [2], Float64Array.of(0.1, Infinity)).bytes({ ...HEADER, title: "naïve µ" });
  const { header, arrays } = parse(await gunzip(fromBase64(gzipSync(packed).toString("base64"))));
  assert.equal(header.title, "naïve µ");
  assert.deepEqual([...arrays.get("odd", "i32", [3])], [1, -2, 3]);
  assert.deepEqual([...arrays.get("after", "f64", [-1])], [0.1, Infinity]);
});

test("damage is said in words", async () => {
  const packed = new Maker().add("a", "f32", [2], new Float32Array(2)).bytes(HEADER);
  refuses(() => fromBase64("=&="), /damaged/);
  await assert.rejects(gunzip(new Uint8Array([1, 2, 3])), /cannot be unpacked/);
  await assert.rejects(gunzip(new Uint8Array(gzipSync(packed).subarray(0, 60))), /cut short/);
  refuses(() => parse(new Uint8Array(40)), /no recording of eipc/);
  refuses(() => parse(packed.slice(0, 20)), /cut short/);
  refuses(() => parse(new Maker().bytes({ ...HEADER, format: 9 })), /format 9, this page shows 1/);
  const garbled = packed.slice();
  garbled[12] = 0xff;
  refuses(() => parse(garbled), /header of the recording is damaged/);
  for (const lacking of [{ bodies: undefined }, { pairs: 5 }, { facts: null }]) {
    refuses(() => parse(new Maker().bytes({ ...HEADER, ...lacking } as unknown as typeof HEADER)), /header of the recording is damaged/);
  }
  refuses(() => new Maker().add("a", "f32", [-2], new Float32Array(2)).arrays().get("a", "f32", [-1]), /outside of the recording/);
  refuses(() => parse(packed.slice(0, packed.length - 8)).arrays.get("a", "f32", [2]), /outside of the recording/);
});

test("arrays of another kind or shape are refused", () => {
  const arrays = new Maker().add("a", "f32", [2, 3], new Float32Array(6)).arrays();
  refuses(() => arrays.get("b", "f32", [2, 3]), /no array 'b'/);
  refuses(() => arrays.get("toString", "f32", [2, 3]), /no array 'toString'/);
  refuses(() => arrays.get("a", "i32", [2, 3]), /is f32 \[2,3\], not i32/);
  refuses(() => arrays.get("a", "f32", [3, 2]), /not f32 \[3,2\]/);
});

test("triangles of points that do not exist are refused", () => {
  refuses(() => madeRecording([0, 1], (maker) => maker.add("triangles_0", "u32", [1, 3], Uint32Array.of(0, 1, 4))), /triangles of 'tet'/);
});

test("times are found", () => {
  const recording = madeRecording([5, 5.5, 6]);
  assert.deepEqual([-1, 0, 0.49, 0.5, 0.99, 1, 9].map((time) => recording.sampleAt(time)), [0, 0, 0, 1, 1, 2, 2]);
  assert.equal(recording.duration, 1);
});

test("the body shown first moves, though a still one has more partners", () => {
  assert.deepEqual(madeRecording([0, 1]).touched(), ["tet", "floor"]);
  assert.deepEqual(madeRecording([0, 1]).pairsOn("floor"), [0, 1]);
});
