import type { Recording } from "../data/recording.js";
import type { Player } from "../play/player.js";
import { button, element } from "../ui/dom.js";
import { writeGlb } from "./gltf.js";
import { makeVideo } from "./video.js";

export interface Exported {
  readonly recording: Recording;
  readonly player: Player;
  readonly draw: () => HTMLCanvasElement | OffscreenCanvas; // what is shown, drawn now
  readonly say: (words: string) => void;
}

// Buttons that save what is shown as files.
export class Exports {
  readonly elements: readonly HTMLElement[];
  private readonly videoButton: HTMLButtonElement;
  private filming: AbortController | null = null;

  constructor(private readonly from: Exported) {
    this.videoButton = button("Save the recording as a video, as fast as it is played", "Video", () => { this.saveVideo(); }, { "data-name": "video" });
    this.elements = [
      button("Save the picture as PNG (p)", "PNG", () => { this.savePicture(); }, { "data-name": "png" }),
      button("Save shapes and motion as glTF, for programs of 3D graphics", "glTF", () => { this.saveGlb(); }, { "data-name": "gltf" }),
      this.videoButton,
    ];
  }

  draw(): HTMLCanvasElement | OffscreenCanvas {
    return this.from.draw();
  }

  savePicture(): void {
    const { recording, player } = this.from;
    const time = recording.time[player.sample]! - recording.start;
    void this.attempt(async () => { this.download(await pngOf(this.from.draw()), `_${time.toFixed(3)}s.png`); });
  }

  end(): void {
    this.filming?.abort();
  }

  private saveGlb(): void {
    void this.attempt(() => {
      this.download(writeGlb(this.from.recording), ".glb");
      return Promise.resolve();
    });
  }

  // A second press ends it.
  private saveVideo(): void {
    if (this.filming) {
      this.filming.abort();
      return;
    }
    this.filming = new AbortController();
    const { signal } = this.filming;
    void this.attempt(() => this.film(signal)).finally(() => {
      this.filming = null;
      this.videoButton.textContent = "Video";
    });
  }

  private async film(signal: AbortSignal): Promise<void> {
    const { recording, player, draw, say } = this.from;
    const { speed, sample } = player;
    const draws = (second: number): HTMLCanvasElement | OffscreenCanvas => {
      player.seek(recording.sampleAt(second * speed));
      return draw();
    };
    player.pause();
    try {
      const video = await makeVideo({ seconds: recording.duration / speed, draw: draws, signal,
        progress: (share) => { this.videoButton.textContent = `Cancel, ${Math.round(100 * share)} %`; } });
      this.download(video, ".webm");
    } finally {
      player.seek(sample);
    }
    say(`Saved ${this.name(".webm")}, at ${speed}× the simulated time.`);
  }

  private name(ending: string): string {
    return `${this.from.recording.title.replace(/[^\w-]+/g, "_")}${ending}`;
  }

  private download(blob: Blob, ending: string): void {
    const url = URL.createObjectURL(blob);
    const name = this.name(ending);
    element("a", { href: url, download: name }).click();
    setTimeout(() => { URL.revokeObjectURL(url); }, 10_000);
    this.from.say(`Saved ${name}.`);
  }

  private async attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.from.say(error instanceof Error ? error.message : String(error));
    }
  }
}

// Started in the task that drew the canvas: its buffer is not kept.
async function pngOf(canvas: HTMLCanvasElement | OffscreenCanvas): Promise<Blob> {
  if (canvas instanceof OffscreenCanvas) return canvas.convertToBlob({ type: "image/png" });
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("The browser could not write the picture."));
    }, "image/png");
  });
}
