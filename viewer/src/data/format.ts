// The form in which a recording travels to the page; docs/reference/viewer_recording.md describes it, eipc.viz.page_data writes it.

export const MAGIC = "EIPCVIEW";
export const FORMAT = 1;

export type Kind = "f32" | "f64" | "i32" | "u32";
export type Numbers = Float32Array | Float64Array | Int32Array | Uint32Array;

// embedded: vertices have four nodes and weights each. nodes: every vertex is a node. points: the surface's vertices were recorded
// themselves. still: it does not move.
export type SurfaceMap = "embedded" | "nodes" | "points" | "still";

export interface BodyHeader {
  readonly name: string;
  readonly kind: string;
  readonly map: SurfaceMap;
}

export interface ArrayHeader {
  readonly kind: Kind;
  readonly shape: readonly number[];
  readonly offset: number;
}

// Of the second of two runs on one page: their names, and where they part. step: of the first run, 0 for its start.
export interface ComparedHeader {
  readonly names: readonly [string, string];
  readonly difference: { readonly step: number; readonly words: string } | null;
}

export interface Header {
  readonly format: number;
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
  readonly bodies: readonly BodyHeader[];
  readonly pairs: readonly (readonly [string, string])[];
  readonly compared?: ComparedHeader;
  readonly arrays: Readonly<Record<string, ArrayHeader>>;
}

// What is wrong with a recording, in words for the person who opened it.
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}

interface NumbersOf {
  f32: Float32Array;
  f64: Float64Array;
  i32: Int32Array;
  u32: Uint32Array;
}

const CLASSES = { f32: Float32Array, f64: Float64Array, i32: Int32Array, u32: Uint32Array } as const;

// The arrays of a recording by name, checked for their kind and shape.
export class Arrays {
  constructor(
    private readonly headers: Readonly<Record<string, ArrayHeader>>,
    private readonly bytes: Uint8Array<ArrayBuffer>,
  ) {}

  has(name: string): boolean {
    return Object.hasOwn(this.headers, name);
  }

  // -1 in `shape` is any size.
  get<K extends Kind>(name: string, kind: K, shape: readonly number[]): NumbersOf[K] {
    const header = this.headers[name];
    if (!header || !this.has(name)) throw new RecordingError(`The recording has no array '${name}'. Write the page again.`);
    const fits = header.kind === kind && header.shape.length === shape.length && shape.every((n, i) => n < 0 || n === header.shape[i]);
    if (!fits) {
      throw new RecordingError(
        `The array '${name}' is ${header.kind} [${header.shape.join(",")}], not ${kind} [${shape.join(",")}]. Write the page again.`,
      );
    }
    return this.view(name, header) as NumbersOf[K];
  }

  private view(name: string, header: ArrayHeader): Numbers {
    const Class = CLASSES[header.kind];
    const count = header.shape.reduce((product, n) => product * n, 1);
    const end = header.offset + count * Class.BYTES_PER_ELEMENT;
    if (!(header.shape.every((n) => Number.isInteger(n) && n >= 0) && header.offset >= 0 && header.offset % 8 === 0 && end <= this.bytes.length)) {
      throw new RecordingError(`The array '${name}' lies outside of the recording: it is damaged or cut short. Write the page again.`);
    }
    return new Class(this.bytes.buffer, this.bytes.byteOffset + header.offset, count);
  }
}
