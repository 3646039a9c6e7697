// Leaves the page's thread to others for as long as a picture took it, where pictures take long: input, steps and states wait for a picture
// that is being drawn, and one after the other would leave them nothing.
export class Pacer {
  private free = 0; // ms of the clock: when the next picture may begin

  constructor(private readonly clock: Clock = browserClock) {}

  // A picture begins. The browser's part of it ends with the first task after it.
  began(): void {
    const begin = this.clock.now();
    this.clock.later(() => {
      const end = this.clock.now();
      this.free = end + (end - begin > SHORT_MS ? end - begin : 0);
    }, 0);
  }

  // Calls `draw` when the next picture may begin: at once, or later.
  next(draw: () => void): void {
    const wait = this.free - this.clock.now();
    if (wait > 0) this.clock.later(draw, wait);
    else draw();
  }
}

const SHORT_MS = 12; // pictures that take less leave room enough between frames

export interface Clock {
  readonly now: () => number; // ms
  readonly later: (action: () => void, ms: number) => void;
}

const browserClock: Clock = {
  now: () => performance.now(),
  later: (action, ms) => { setTimeout(action, ms); },
};
