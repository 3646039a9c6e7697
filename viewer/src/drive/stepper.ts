export interface StepperTimes {
  readonly steps: number;
  readonly behind: number; // s of simulated time given up because steps took longer
}

const MOST_BEHIND_S = 0.1;

// Takes steps in time with the clock, one at a time: a step that comes late is not made up for.
export class Stepper {
  steps = 0;
  behind = 0;
  private running = false;

  // step: takes one step and resolves when it is done. onEnd: with the error that ended it, if one did.
  constructor(private readonly dt: number, private readonly step: () => Promise<void>, private readonly onEnd: (error: unknown) => void,
              private readonly clock: { now: () => number; wait: (ms: number) => Promise<void> } = browserClock) {}

  get on(): boolean {
    return this.running;
  }

  start(): void {
    if (this.running) return;
    this.running = true;
    void this.run();
  }

  stop(): void {
    this.running = false;
  }

  private async run(): Promise<void> {
    let due = this.clock.now();
    try {
      while (this.running) {
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
      this.running = false;
      this.onEnd(error);
    }
  }
}

const browserClock = {
  now: (): number => performance.now(),
  wait: (ms: number): Promise<void> => new Promise((resolve) => { setTimeout(resolve, ms); }),
};
