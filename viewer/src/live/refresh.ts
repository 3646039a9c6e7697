const EVERY_MS = 2000;

// Asks again and again for what is shown, never before the last answer: calls of a page wait for those before them, and too many that wait
// end the connection.
export class Refresh {
  private asking = false;
  private readonly stop: () => void;

  // ask: resolves with the answer, and does not reject.
  constructor(private readonly ask: () => Promise<void>, again: Again = browserClock) {
    this.stop = again(() => { void this.now(); }, EVERY_MS);
    void this.now();
  }

  end(): void {
    this.stop();
  }

  async now(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      await this.ask();
    } finally {
      this.asking = false;
    }
  }
}

// Repeats an action with a period of `ms` until the function that it returns is called.
export type Again = (action: () => void, ms: number) => () => void;

const browserClock: Again = (action, ms) => {
  const timer = setInterval(action, ms);
  return () => { clearInterval(timer); };
};
