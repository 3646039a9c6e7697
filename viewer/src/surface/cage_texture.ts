import { DataTexture, FloatType, NearestFilter, RGBAFormat } from "three";
import type { Body } from "../data/recording.js";

export const WIDTH = 256; // texels of a row; the shaders know it too

// The cage positions of all bodies that move, a texel each: the only thing that is sent to the graphics card for a new sample.
export class CageTexture {
  readonly texture: DataTexture;
  readonly offsets: ReadonlyMap<Body, number>; // first texel of each body
  private readonly texels: Float32Array;

  constructor(private readonly bodies: readonly Body[]) {
    const offsets = new Map<Body, number>();
    let count = 0;
    for (const body of bodies) {
      offsets.set(body, count);
      count += body.cageSize;
    }
    const rows = Math.max(Math.ceil(count / WIDTH), 1);
    this.offsets = offsets;
    this.texels = new Float32Array(4 * WIDTH * rows);
    this.texture = new DataTexture(this.texels, WIDTH, rows, RGBAFormat, FloatType, undefined, undefined, undefined, NearestFilter, NearestFilter);
    this.write(0);
  }

  write(sample: number): void {
    for (const body of this.bodies) {
      const to = 4 * this.offsets.get(body)!;
      const from = 3 * sample * body.cageSize;
      for (let i = 0; i < body.cageSize; i++) {
        for (let k = 0; k < 3; k++) this.texels[to + 4 * i + k] = body.cage[from + 3 * i + k]!;
      }
    }
    this.texture.needsUpdate = true;
  }
}
