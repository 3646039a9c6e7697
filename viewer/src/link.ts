import type { Vector } from "./data/line_of_action.js";

export interface View {
  readonly eye: Vector;
  readonly target: Vector;
}

// What a link opens at: seconds since the start of the recording, and a camera.
export interface Place {
  readonly time?: number;
  readonly view?: View;
}

// "#t=1.24&cam=ex,ey,ez,tx,ty,tz", m. What cannot be read is left out.
export function parseFragment(fragment: string): Place {
  const values = new URLSearchParams(fragment.replace(/^#/, ""));
  const time = numbers(values.get("t"), 1);
  const view = numbers(values.get("cam"), 6);
  return {
    ...(time ? { time: time[0]! } : {}),
    ...(view ? { view: { eye: [view[0]!, view[1]!, view[2]!], target: [view[3]!, view[4]!, view[5]!] } } : {}),
  };
}

export function formatFragment(time: number, view: View): string {
  const short = (value: number): string => String(Number(value.toPrecision(5)));
  return `#t=${Number(time.toFixed(6))}&cam=${[...view.eye, ...view.target].map(short).join(",")}`;
}

function numbers(text: string | null, count: number): number[] | null {
  const parts = text === null || text === "" ? [] : text.split(",").map((part) => (part === "" ? Number.NaN : Number(part)));
  return parts.length === count && parts.every((part) => Number.isFinite(part)) ? parts : null;
}
