import { RecordedTouch, type Touch } from "./touch.js";
import { RecordingError, type Arrays, type BodyHeader, type Header } from "./format.js";

export interface Body extends BodyHeader {
  readonly index: number;
  readonly triangles: Uint32Array; // [k,3] vertices
  readonly nodes: Uint32Array; // [n,4] rows of the body's cage; empty for a still body
  readonly weights: Float32Array; // [n,4]
  readonly edges: Uint32Array; // [e,2] of the cage; may be empty
  readonly elements: Uint32Array; // [t,4] of the cage; may be empty
  cage: Float32Array; // [samples,m,3] m, world; positions [m,3] of a still body
  readonly cageSize: number; // m
}

export interface Pair {
  readonly on: string;
  readonly by: string;
}

export interface PairForces {
  readonly normal: Float32Array; // [samples,pairs,3] N, world: force of `by` on `on`
  readonly friction: Float32Array;
  readonly normalMoment: Float32Array; // N m, about the centre of mass of `on`
  readonly frictionMoment: Float32Array;
}

// What the page shows. Samples are the start and the end of each step. SI units, world frame. A live one grows (LiveRecording).
export interface Samples {
  title: string;
  facts: Header["facts"];
  time: Float64Array;
  readonly bodies: readonly Body[];
  pairs: readonly Pair[];
  forces: PairForces;
  positions: Float32Array; // [samples,bodies,3] centres of mass
  contacts: Int32Array; // [samples,2] point-triangle, edge-edge
  gap: Float32Array; // [samples] smallest distance; infinite: none within the detection distance
  newton: Int32Array | null; // [samples], 0 at the start
  wall: Float32Array | null; // [samples] s of computing the step, 0 at the start
  converged: Int32Array | null; // [samples] 1 or 0
  readonly touch: Touch;
}

export class Recording implements Samples {
  title: string;
  facts: Header["facts"];
  time: Float64Array;
  readonly bodies: readonly Body[];
  pairs: readonly Pair[];
  forces: PairForces;
  positions: Float32Array;
  contacts: Int32Array;
  gap: Float32Array;
  newton: Int32Array | null;
  wall: Float32Array | null;
  converged: Int32Array | null;
  readonly touch: Touch;

  constructor(samples: Samples) {
    this.title = samples.title;
    this.facts = samples.facts;
    this.time = samples.time;
    this.bodies = samples.bodies;
    this.pairs = samples.pairs;
    this.forces = samples.forces;
    this.positions = samples.positions;
    this.contacts = samples.contacts;
    this.gap = samples.gap;
    this.newton = samples.newton;
    this.wall = samples.wall;
    this.converged = samples.converged;
    this.touch = samples.touch;
  }

  static read(header: Header, arrays: Arrays): Recording {
    const time = arrays.get("time_s", "f64", [-1]);
    const n = time.length;
    if (n === 0) throw new RecordingError("The recording has no samples. Record at least the start.");
    const pairs = header.pairs.length;
    const vectors = (name: string, count: number): Float32Array => arrays.get(name, "f32", [n, count, 3]);
    return new Recording({
      title: header.title,
      facts: header.facts,
      time,
      bodies: header.bodies.map((body, index) => readBody(body, index, n, arrays)),
      pairs: header.pairs.map(([on, by]) => ({ on, by })),
      forces: {
        normal: vectors("normal_force_n", pairs),
        friction: vectors("friction_force_n", pairs),
        normalMoment: vectors("normal_moment_nm", pairs),
        frictionMoment: vectors("friction_moment_nm", pairs),
      },
      positions: vectors("position_m", header.bodies.length),
      contacts: arrays.get("contacts", "i32", [n, 2]),
      gap: arrays.get("min_distance_m", "f32", [n]),
      newton: arrays.has("newton_iterations") ? arrays.get("newton_iterations", "i32", [n]) : null,
      wall: arrays.has("step_wall_s") ? arrays.get("step_wall_s", "f32", [n]) : null,
      converged: arrays.has("converged") ? arrays.get("converged", "i32", [n]) : null,
      touch: new RecordedTouch(n, header, arrays),
    });
  }

  // What times are counted from.
  get start(): number {
    return this.time[0]!;
  }

  get samples(): number {
    return this.time.length;
  }

  // Which step ended in a sample, in words.
  stepAt(sample: number): string {
    return `${sample} of ${this.samples - 1}`;
  }

  // Simulated time of the step that ended in a sample, s; NaN where it is not known.
  spanOf(sample: number): number {
    return sample === 0 ? NaN : this.time[sample]! - this.time[sample - 1]!;
  }

  get duration(): number {
    return this.time[this.samples - 1]! - this.time[0]!;
  }

  bodyIndex(name: string): number {
    return this.bodies.findIndex((body) => body.name === name);
  }

  // The last sample whose time, counted from the start, is not after `seconds`.
  sampleAt(seconds: number): number {
    const at = this.time[0]! + seconds + 1e-9;
    let low = 0;
    let high = this.samples - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Pairs whose force acts on a body.
  pairsOn(body: string): number[] {
    return this.pairs.flatMap((pair, index) => (pair.on === body ? [index] : []));
  }

  // Bodies that a force acted on, the one with most partners that moves first: it is what the recording is about.
  touched(): string[] {
    const names = [...new Set(this.pairs.map((pair) => pair.on))];
    const rank = (name: string): number => this.pairsOn(name).length - (this.bodies[this.bodyIndex(name)]?.map === "still" ? 1000 : 0);
    return names.sort((a, b) => rank(b) - rank(a) || this.bodyIndex(a) - this.bodyIndex(b));
  }
}

function readBody(header: BodyHeader, index: number, samples: number, arrays: Arrays): Body {
  const get = { triangles: arrays.get(`triangles_${index}`, "u32", [-1, 3]), none: new Uint32Array(0) };
  const still = header.map === "still";
  const cage = arrays.get(`cage_${index}`, "f32", still ? [-1, 3] : [samples, -1, 3]);
  const cageSize = cage.length / (still ? 3 : 3 * samples);
  const mapped = header.map === "embedded" || header.map === "nodes";
  const own = still ? 0 : cageSize; // every point is a vertex of its own
  const nodes = mapped ? arrays.get(`nodes_${index}`, "u32", [-1, 4]) : Uint32Array.from({ length: 4 * own }, (_, i) => i >> 2);
  const weights = mapped ? arrays.get(`weights_${index}`, "f32", [nodes.length / 4, 4]) : Float32Array.from({ length: 4 * own }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const edges = arrays.has(`edges_${index}`) ? arrays.get(`edges_${index}`, "u32", [-1, 2]) : get.none;
  const elements = arrays.has(`elements_${index}`) ? arrays.get(`elements_${index}`, "u32", [-1, 4]) : get.none;
  const vertices = mapped ? nodes.length / 4 : cageSize;
  for (const [what, numbers, limit] of [["triangles", get.triangles, vertices], ["nodes", nodes, cageSize], ["edges", edges, cageSize], ["elements", elements, cageSize]] as const) {
    if (numbers.some((number) => number >= limit)) {
      throw new RecordingError(`The ${what} of '${header.name}' name a point that it does not have. Write the page again.`);
    }
  }
  return { ...header, index, triangles: get.triangles, nodes, weights, edges, elements, cage, cageSize };
}
