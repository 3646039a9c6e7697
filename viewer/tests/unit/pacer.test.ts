import assert from "node:assert/strict";
import { test } from "node:test";
import { Pacer } from "../../src/play/pacer.js";

// A clock by hand: `run` goes to the next action and does it.
class HandClock {
  time = 1000;
  readonly actions: [number, () => void][] = [];
  readonly now = (): number => this.time;
  readonly later = (action: () => void, ms: number): void => { this.actions.push([this.time + ms, action]); };
  run(): void {
    const [at, action] = this.actions.shift()!;
    this.time = Math.max(this.time, at);
    action();
  }
}

function drawnFor(ms: number): { clock: HandClock; pacer: Pacer; drawn: number[] } {
  const clock = new HandClock();
  const pacer = new Pacer(clock);
  pacer.began();
  clock.time += ms;
  clock.run();
  const drawn: number[] = [];
  pacer.next(() => { drawn.push(clock.time); });
  return { clock, pacer, drawn };
}

test("the first picture and one after a short one begin at once", () => {
  const drawn: number[] = [];
  new Pacer(new HandClock()).next(() => { drawn.push(1); });
  assert.deepEqual(drawn, [1]);
  assert.deepEqual(drawnFor(10).drawn, [1010]);
});

test("after a long picture the thread is left to others for as long", () => {
  const { clock, pacer, drawn } = drawnFor(60);
  assert.equal(drawn.length, 0);
  clock.run();
  assert.deepEqual(drawn, [1120]);
  pacer.next(() => { drawn.push(clock.time); });
  assert.deepEqual(drawn, [1120, 1120], "a picture that was put off is not put off again");
});
