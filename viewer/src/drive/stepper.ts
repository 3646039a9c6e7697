export interface StepperTimes {
  readonly steps: number;
  readonly behind: number; // s of simulated time given up because steps took longer
}

const MOST_BEHIND_S = 0.1;

// Takes steps in time with the clock, one at a time: a step that comes late is not made up for.
export class Stepper {
  steps = 0;
  behind = 0;
  private current: symbol | null = null; // the run that goes on
  private last: Promise<void> = Promise.resolve(); // ends with the last step of the runs so far

  // step: takes one step and resolves when it is done. onEnd: with the error that ended it, if one did.
  constructor(private readonly dt: number, private readonly step: () => Promise<void>, private readonly onEnd: (error: unknown) => void,
              private readonly clock: { now: () => number; wait: (ms: number) => Promise<void> } = browserClock) {}

  get on(): boolean {
    return this.current !== null;
  }

  start(): void {
    if (this.on) return;
    const run = Symbol();
    this.current = run;
    this.last = this.last.then(() => this.run(run));
  }

  stop(): void {
    this.current = null;
  }

  // `run` is this one: another one waits for the step that this one may be taking when it is stopped.
  private async run(run: symbol): Promise<void> {
    let due = this.clock.now();
    try {
      while (this.current === run) {
        await this.step();
        this.steps++;
        due += 1000 * this.dt;
        const now = this.clock.now();
        if (now - due > 1000 * MOST_BEHIND_S) {
          this.behind += (now - due) / 1000;
          due = now;
        }
        if (due > now) await this.clock.wait(due - now);
      }
      this.onEnd(null);
    } catch (error) {
      if (this.current === run) this.current = null;
      this.onEnd(error);
    }
  }
}

const browserClock = {
  now: (): number => performance.now(),
  wait: (ms: number): Promise<void> => new Promise((resolve) => { setTimeout(resolve, ms); }),
};
