import type { Recording } from "../data/recording.js";

export type Listener = () => void;

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4] as const;

// Which sample is shown, and how that goes on in time. Only recorded samples are shown, nothing between them.
export class Player {
  private seconds = 0; // since the start of the recording
  private shown = 0;
  private running = false;
  private factor = 1;
  private again = false;
  private follows = false; // the end of a recording that grows
  private begin: number; // time of the first sample, s
  private readonly listeners: Listener[] = [];

  constructor(private readonly recording: Recording) {
    this.begin = recording.time[0]!;
  }

  get sample(): number {
    return this.shown;
  }

  get playing(): boolean {
    return this.running;
  }

  get speed(): number {
    return this.factor;
  }

  get following(): boolean {
    return this.follows;
  }

  get loop(): boolean {
    return this.again;
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  // Shows the end from now on, as it grows; any other command ends that.
  follow(): void {
    this.running = false;
    this.follows = true;
    this.place(this.recording.samples - 1);
    this.notify();
  }

  // The recording has grown, and forgotten samples at its beginning. What is played goes on, also between two samples.
  grew(forgotten: number): void {
    const { time, samples } = this.recording;
    const shown = this.shown - forgotten;
    if (this.follows) this.place(samples - 1);
    else if (shown < 0 || shown >= samples) this.place(Math.min(Math.max(shown, 0), samples - 1));
    else {
      this.shown = shown;
      this.seconds -= time[0]! - this.begin;
    }
    this.begin = time[0]!;
    this.notify();
  }

  play(): void {
    this.follows = false;
    if (this.recording.samples < 2) return;
    if (this.shown === this.recording.samples - 1) this.place(0);
    this.running = true;
    this.notify();
  }

  pause(): void {
    this.running = false;
    this.follows = false;
    this.notify();
  }

  toggle(): void {
    if (this.running) this.pause();
    else this.play();
  }

  setSpeed(factor: number): void {
    this.factor = factor;
    this.notify();
  }

  // The next slower or faster of SPEEDS.
  changeSpeed(by: 1 | -1): void {
    const at = SPEEDS.findIndex((speed) => speed >= this.factor);
    const next = SPEEDS[Math.min(Math.max((at < 0 ? SPEEDS.length - 1 : at) + by, 0), SPEEDS.length - 1)];
    this.setSpeed(next ?? 1);
  }

  setLoop(on: boolean): void {
    this.again = on;
    this.notify();
  }

  seek(sample: number): void {
    this.follows = false;
    this.place(Math.min(Math.max(Math.round(sample), 0), this.recording.samples - 1));
    this.notify();
  }

  // By single samples; playing ends.
  step(by: number): void {
    this.running = false;
    this.seek(this.shown + by);
  }

  // Lets `elapsed` seconds of the viewer's time pass. True: another sample is to be shown.
  advance(elapsed: number): boolean {
    if (!this.running) return false;
    const before = this.shown;
    const length = this.recording.duration;
    this.seconds += Math.max(elapsed, 0) * this.factor;
    if (this.seconds >= length) {
      if (this.again) {
        this.seconds = length > 0 ? this.seconds % length : 0;
      } else {
        this.seconds = length;
        this.running = false;
      }
    }
    this.shown = this.recording.sampleAt(this.seconds);
    const changed = this.shown !== before;
    if (changed || !this.running) this.notify();
    return changed;
  }

  private place(sample: number): void {
    this.shown = sample;
    this.seconds = this.recording.time[sample]! - this.recording.time[0]!;
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
