type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type Node = Record<string, Json>;

export const FLOAT = 5126;
const COMPONENTS = new Map<unknown, number>([[Float32Array, FLOAT], [Uint16Array, 5123], [Uint32Array, 5125]]);
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;

export const VERTICES = 34962; // targets of buffer views
export const INDICES = 34963;

// A glTF 2.0 document and its binary buffer while they are put together.
export class GlbFile {
  private readonly lists: Record<string, Node[]> = {};
  private readonly parts: Uint8Array[] = [];
  private size = 0;

  // Appends to a list of the document; returns the index.
  add(list: string, value: Node): number {
    const values = (this.lists[list] ??= []);
    values.push(value);
    return values.length - 1;
  }

  view(values: Float32Array | Uint16Array | Uint32Array, target?: number): number {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const made = this.add("bufferViews", { buffer: 0, byteOffset: this.size, byteLength: bytes.length, ...(target === undefined ? {} : { target }) });
    this.parts.push(bytes, new Uint8Array(-bytes.length & 3));
    this.size += bytes.length + (-bytes.length & 3);
    return made;
  }

  accessor(values: Float32Array | Uint16Array | Uint32Array, type: "SCALAR" | "VEC3" | "VEC4" | "MAT4", width: number, target?: number): number {
    const bounds = width <= 3 ? extremes(values, width) : {};
    return this.add("accessors", { bufferView: this.view(values, target), componentType: COMPONENTS.get(values.constructor)!, count: values.length / width, type, ...bounds });
  }

  // The file: its document with `scene` as the roots.
  bytes(roots: readonly number[], extras: Json): Blob {
    const document = { asset: { version: "2.0", generator: "eipc", extras }, scene: 0, scenes: [{ nodes: roots }], buffers: [{ byteLength: this.size }], ...this.lists };
    const text = new TextEncoder().encode(JSON.stringify(document));
    const padding = new Uint8Array(-text.length & 3).fill(0x20);
    const length = 12 + 8 + text.length + padding.length + 8 + this.size;
    const words = (...values: number[]): Uint8Array<ArrayBuffer> => {
      const view = new DataView(new ArrayBuffer(4 * values.length));
      values.forEach((value, i) => { view.setUint32(4 * i, value, true); });
      return new Uint8Array(view.buffer);
    };
    return new Blob([words(0x46546c67, 2, length, text.length + padding.length, JSON_CHUNK), text, padding, words(this.size, BINARY_CHUNK), ...this.parts as Uint8Array<ArrayBuffer>[]],
                    { type: "model/gltf-binary" });
  }
}

function extremes(values: ArrayLike<number>, width: number): { min: number[]; max: number[] } {
  const min = new Array<number>(width).fill(Infinity);
  const max = new Array<number>(width).fill(-Infinity);
  for (let i = 0; i < values.length; i++) {
    min[i % width] = Math.min(min[i % width]!, values[i]!);
    max[i % width] = Math.max(max[i % width]!, values[i]!);
  }
  return values.length === 0 ? { min: [], max: [] } : { min, max };
}
