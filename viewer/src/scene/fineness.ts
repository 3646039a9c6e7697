// How finely a moving picture is drawn.
export interface Fineness {
  readonly ratio: number; // pixels of the canvas along one of the page
  readonly shadowsEach: number; // pictures from one drawing of the shadows to the next
}

// In the order in which they are given up.
const LEVELS: readonly Fineness[] = [
  { ratio: 1, shadowsEach: 1 }, { ratio: 1, shadowsEach: 2 }, { ratio: 0.75, shadowsEach: 2 }, { ratio: 0.5, shadowsEach: 3 },
];
const SLOW_MS = 33; // a picture that takes longer is drawn more coarsely
const FAST_MS = 13; // one that takes less would not be slow on the level before, where it takes at most 2.5 times as long
const JUDGED = 3; // pictures

// Chooses how finely pictures are drawn by how long they take, so that a motion has 30 pictures a second where it can. A single picture that
// takes long, as the first one does, changes nothing.
export class FinenessControl {
  private level = 0;
  private times: number[] = [];

  get now(): Fineness {
    return LEVELS[this.level]!;
  }

  // ms: what a picture took that was drawn as `now` says.
  took(ms: number): void {
    this.times.push(ms);
    if (this.times.length < JUDGED) return;
    const median = this.times.sort((a, b) => a - b)[JUDGED >> 1]!;
    this.times = [];
    if (median > SLOW_MS) this.level = Math.min(this.level + 1, LEVELS.length - 1);
    else if (median < FAST_MS) this.level = Math.max(this.level - 1, 0);
  }
}
