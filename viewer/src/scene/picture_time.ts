const POLL_MS = 1;
const LONGEST_MS = 1000; // a page in the background is not asked in time

// Measures how long pictures take to be drawn, which ends after the call that draws them: in another process, or on a graphics card.
export class PictureTime {
  private pending: WebGLSync | null = null;

  constructor(private readonly gl: WebGL2RenderingContext, private readonly took: (ms: number) => void) {}

  // Draws by `draw`. One picture at a time is measured: others may go on meanwhile.
  measure(draw: () => void): void {
    const begin = performance.now();
    draw();
    if (this.pending) return;
    this.pending = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!this.pending) return; // the context is lost
    this.gl.flush();
    this.poll(this.pending, begin);
  }

  private poll(sync: WebGLSync, begin: number): void {
    setTimeout(() => {
      const ms = performance.now() - begin;
      const done: unknown = this.gl.getSyncParameter(sync, this.gl.SYNC_STATUS);
      if (done !== this.gl.SIGNALED && ms < LONGEST_MS && !this.gl.isContextLost()) {
        this.poll(sync, begin);
        return;
      }
      this.gl.deleteSync(sync);
      this.pending = null;
      if (ms < LONGEST_MS) this.took(ms);
    }, POLL_MS);
  }
}
