import type { Recording } from "../data/recording.js";
import { surfacePositions } from "../surface/embedding.js";

export interface Bounds {
  readonly low: [number, number, number];
  readonly high: [number, number, number];
}

// Of the cages of bodies that move, over all samples; of everything when nothing moves.
export function boundsOf(recording: Recording): Bounds {
  const moving = recording.bodies.filter((body) => body.map !== "still");
  const bounds = empty();
  for (const body of moving.length > 0 ? moving : recording.bodies) extend(bounds, body.cage);
  return finite(bounds);
}

export function union(all: readonly Bounds[]): Bounds {
  const bounds = empty();
  for (const { low, high } of all) {
    extend(bounds, Float32Array.from(low));
    extend(bounds, Float32Array.from(high));
  }
  return bounds;
}

// Of what a session goes on from: with half of its height above it, into which bodies are lifted.
export function withRoomAbove({ low, high }: Bounds): Bounds {
  return { low, high: [high[0], high[1], high[2] + 0.5 * (high[2] - low[2])] };
}

// The height of the grid: that of the world's ground, z = 0, where the bodies are at the start near it, else their lowest point.
export function groundHeight(recording: Recording, size: number): number {
  const bounds = empty();
  for (const body of recording.bodies) {
    if (body.map !== "still") extend(bounds, surfacePositions(body, body.cage, 0));
  }
  const lowest = finite(bounds).low[2];
  return lowest >= -0.01 * size && lowest <= 2 * size ? 0 : lowest;
}

function empty(): Bounds {
  return { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
}

function extend(bounds: Bounds, points: Float32Array): void {
  for (let i = 0; i < points.length; i++) {
    const k = i % 3;
    bounds.low[k] = Math.min(bounds.low[k]!, points[i]!);
    bounds.high[k] = Math.max(bounds.high[k]!, points[i]!);
  }
}

function finite(bounds: Bounds): Bounds {
  return bounds.low.every(Number.isFinite) ? bounds : { low: [-0.1, -0.1, 0], high: [0.1, 0.1, 0.1] };
}
