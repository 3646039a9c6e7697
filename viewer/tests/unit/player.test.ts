import assert from "node:assert/strict";
import { test } from "node:test";
import { Player } from "../../src/play/player.js";
import { madeRecording } from "./made.js";

const uneven = (): Player => new Player(madeRecording([2, 2.1, 2.3, 2.4]));

test("playing shows the last sample that is not after the time", () => {
  const player = uneven();
  player.play();
  const shown = [0.05, 0.04, 0.02, 0.15, 0.05].map((elapsed) => (player.advance(elapsed), player.sample));
  assert.deepEqual(shown, [0, 0, 1, 1, 2]);
});

test("playing ends at the end and begins again from the start", () => {
  const player = uneven();
  player.play();
  player.advance(7);
  assert.deepEqual([player.sample, player.playing], [3, false]);
  player.play();
  assert.deepEqual([player.sample, player.playing], [0, true]);
});

test("a loop goes on from the start with the time that is left", () => {
  const player = uneven();
  player.setLoop(true);
  player.play();
  player.advance(0.4 + 0.4 + 0.15);
  assert.deepEqual([player.sample, player.playing], [1, true]);
});

test("the speed scales the time that passes", () => {
  const player = uneven();
  player.setSpeed(0.5);
  player.play();
  player.advance(0.19);
  assert.equal(player.sample, 0);
  player.advance(0.02);
  assert.equal(player.sample, 1);
});

test("speeds go by the list and stay in it", () => {
  const player = uneven();
  player.changeSpeed(1);
  assert.equal(player.speed, 2);
  for (let i = 0; i < 9; i++) player.changeSpeed(1);
  assert.equal(player.speed, 4);
  for (let i = 0; i < 9; i++) player.changeSpeed(-1);
  assert.equal(player.speed, 0.1);
});

test("steps stay within the recording and pause", () => {
  const player = uneven();
  player.play();
  player.step(1);
  assert.deepEqual([player.sample, player.playing], [1, false]);
  player.step(-5);
  assert.equal(player.sample, 0);
  player.step(50);
  assert.equal(player.sample, 3);
});

test("playing goes on from where it was moved to", () => {
  const player = uneven();
  player.seek(2);
  player.play();
  player.advance(0.11);
  assert.equal(player.sample, 3);
});

test("listeners hear of every change", () => {
  const player = uneven();
  let heard = 0;
  player.onChange(() => heard++);
  player.play();
  player.advance(0.15);
  player.pause();
  assert.equal(heard, 3);
});

test("a recording of the start alone does not play", () => {
  const player = new Player(madeRecording([0]));
  player.play();
  assert.equal(player.playing, false);
});

test("what is played of a recording that grows goes on between its samples", () => {
  const recording = madeRecording([0, 0.02, 0.04, 0.06]);
  const player = new Player(recording);
  player.play();
  for (const time of [0.08, 0.1, 0.12, 0.14]) { // a new sample comes before the next one is due
    player.advance(0.012);
    recording.time = Float64Array.of(...recording.time, time);
    player.grew(0);
  }
  assert.deepEqual([player.sample, player.playing], [2, true]); // 48 ms
});

test("samples that are forgotten do not move what is played", () => {
  const recording = madeRecording([0, 0.1, 0.2, 0.3, 0.4]);
  const player = new Player(recording);
  player.seek(3);
  player.play();
  player.advance(0.06);
  recording.time = recording.time.slice(2);
  player.grew(2);
  assert.equal(player.sample, 1);
  player.advance(0.05);
  assert.equal(player.sample, 2);
  recording.time = Float64Array.of(7, 8);
  player.grew(3);
  assert.equal(player.sample, 0, "what was shown is forgotten: the oldest that is left");
});
