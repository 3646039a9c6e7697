import type { Arrays, Header } from "./format.js";
import type { Pair } from "./recording.js";

// Contact forces on the vertices of a surface that a contact acts on, as magnitudes over the vertices' areas, and how fast the surface slides
// there on what it touches.
export interface Tractions {
  readonly vertices: Uint32Array; // [k] increasing
  readonly normal: Float32Array; // [k] Pa
  readonly friction: Float32Array; // [k] Pa
  readonly slip: Float32Array | null; // [k] m/s; null: not observed
}

// How a body slides on another.
export interface Slip {
  readonly speed: number; // m/s, mean over their contacts, weighed by the normal forces
  readonly sticking: number; // share of the normal force at contacts that hold, 0 to 1
}

// What surfaces and materials feel, as far as it was observed. Null: it was not, at this sample.
export interface Touch {
  readonly holds: { readonly tractions: boolean; readonly vertexSlips: boolean; readonly stresses: boolean; readonly slips: boolean };
  tractions(body: number, sample: number): Tractions | null;
  stresses(body: number, sample: number): Float32Array | null; // [elements] von Mises, Pa; infinite in inverted ones
  slip(pair: Pair, sample: number): Slip | null;
}

interface BodyTouch {
  readonly begin: Uint32Array; // [samples+1] rows of each sample
  readonly vertices: Uint32Array;
  readonly normal: Float32Array;
  readonly friction: Float32Array;
  readonly slip: Float32Array | null;
}

// That of a recording.
export class RecordedTouch implements Touch {
  readonly holds: Touch["holds"];
  private readonly bodies: readonly (BodyTouch | null)[];
  private readonly stress: readonly (Float32Array | null)[]; // [samples,elements]
  private readonly speed: Float32Array | null; // [samples,pairs], NaN where the pair does not touch
  private readonly sticking: Float32Array | null;
  private readonly pairNumbers: ReadonlyMap<string, number>;

  constructor(private readonly samples: number, header: Header, arrays: Arrays) {
    const each = <T>(name: string, read: (index: number) => T): (T | null)[] => header.bodies.map((_, index) => (arrays.has(`${name}_${index}`) ? read(index) : null));
    this.bodies = each("traction_begin", (index) => readTractions(index, samples, arrays));
    this.stress = each("von_mises_pa", (index) => arrays.get(`von_mises_pa_${index}`, "f32", [samples, -1]));
    const pairs = header.pairs.length;
    this.speed = arrays.has("slip_m_s") ? arrays.get("slip_m_s", "f32", [samples, pairs]) : null;
    this.sticking = arrays.has("sticking") ? arrays.get("sticking", "f32", [samples, pairs]) : null;
    this.pairNumbers = new Map(header.pairs.map(([on, by], index) => [`${on}\n${by}`, index]));
    this.holds = { tractions: this.bodies.some((body) => body !== null), vertexSlips: this.bodies.some((body) => body !== null && body.slip !== null),
                   stresses: this.stress.some((body) => body !== null), slips: this.speed !== null && this.sticking !== null };
  }

  tractions(body: number, sample: number): Tractions | null {
    const found = this.bodies[body];
    if (!found) return null;
    const [begin, end] = [found.begin[sample]!, found.begin[sample + 1]!];
    return { vertices: found.vertices.subarray(begin, end), normal: found.normal.subarray(begin, end), friction: found.friction.subarray(begin, end),
             slip: found.slip?.subarray(begin, end) ?? null };
  }

  stresses(body: number, sample: number): Float32Array | null {
    const found = this.stress[body];
    if (!found) return null;
    const elements = found.length / this.samples;
    return found.subarray(sample * elements, (sample + 1) * elements);
  }

  slip(pair: Pair, sample: number): Slip | null {
    const number = this.pairNumbers.get(`${pair.on}\n${pair.by}`);
    if (number === undefined || !this.speed || !this.sticking) return null;
    const at = sample * this.pairNumbers.size + number;
    return Number.isNaN(this.speed[at]!) ? null : { speed: this.speed[at]!, sticking: this.sticking[at]! };
  }
}

function readTractions(index: number, samples: number, arrays: Arrays): BodyTouch {
  const begin = arrays.get(`traction_begin_${index}`, "u32", [samples + 1]);
  const rows = begin[samples]!;
  return { begin, vertices: arrays.get(`traction_vertices_${index}`, "u32", [rows]), normal: arrays.get(`normal_traction_pa_${index}`, "f32", [rows]),
           friction: arrays.get(`friction_traction_pa_${index}`, "f32", [rows]),
           slip: arrays.has(`slip_speed_m_s_${index}`) ? arrays.get(`slip_speed_m_s_${index}`, "f32", [rows]) : null };
}
