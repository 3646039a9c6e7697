import { type Header, Arrays, type ArrayHeader, type Kind, type Numbers } from "../../src/data/format.js";
import { Recording } from "../../src/data/recording.js";

// Puts a recording together as its writer does: header, then arrays from multiples of 8 on.
export class Maker {
  private readonly headers: Record<string, ArrayHeader> = {};
  private readonly parts: Uint8Array[] = [];
  private size = 0;

  add(name: string, kind: Kind, shape: number[], values: Numbers): this {
    this.headers[name] = { kind, shape, offset: this.size };
    const bytes = new Uint8Array(Math.ceil(values.byteLength / 8) * 8);
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    this.parts.push(bytes);
    this.size += bytes.length;
    return this;
  }

  arrays(): Arrays {
    const data = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      data.set(part, at);
      at += part.length;
    }
    return new Arrays(this.headers, data);
  }

  bytes(header: Omit<Header, "arrays">): Uint8Array<ArrayBuffer> {
    const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: this.headers }));
    const begin = Math.ceil((12 + text.length) / 8) * 8;
    const out = new Uint8Array(begin + this.size);
    out.set(new TextEncoder().encode("EIPCVIEW"));
    new DataView(out.buffer).setUint32(8, text.length, true);
    out.set(text, 12);
    let at = begin;
    for (const part of this.parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}

export const HEADER = { format: 1, title: "made", facts: [] as [string, string][], bodies: [] as Header["bodies"], pairs: [] as Header["pairs"] };

// Samples at the given times, a tetrahedron whose surface is its four faces, and two pairs.
export function madeRecording(times: number[], extra: (maker: Maker) => void = () => undefined): Recording {
  const n = times.length;
  const maker = new Maker().add("time_s", "f64", [n], Float64Array.from(times));
  for (const name of ["normal_force_n", "friction_force_n", "normal_moment_nm", "friction_moment_nm"]) maker.add(name, "f32", [n, 3, 3], new Float32Array(9 * n));
  maker.add("position_m", "f32", [n, 2, 3], new Float32Array(6 * n)).add("contacts", "i32", [n, 2], new Int32Array(2 * n));
  maker.add("min_distance_m", "f32", [n], new Float32Array(n).fill(Infinity));
  maker.add("triangles_0", "u32", [4, 3], Uint32Array.of(0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3));
  maker.add("cage_0", "f32", [n, 4, 3], Float32Array.from({ length: 12 * n }, (_, i) => [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1][i % 12]!));
  maker.add("triangles_1", "u32", [1, 3], Uint32Array.of(0, 1, 2)).add("cage_1", "f32", [3, 3], Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0));
  extra(maker);
  const bodies = [{ name: "tet", kind: "embedded", map: "points" }, { name: "floor", kind: "static", map: "still" }] as const;
  return Recording.read({ ...HEADER, bodies, pairs: [["floor", "tet"], ["floor", "rod"], ["tet", "floor"]], arrays: {} }, maker.arrays());
}
