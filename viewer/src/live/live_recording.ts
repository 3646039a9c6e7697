import { toFloats, toIndices } from "./arrays.js";
import type { Observation } from "../proto/eipc/v1/observation_pb.js";
import { StepOutcome } from "../proto/eipc/v1/observation_pb.js";
import type { ViewerBody, ViewerScene } from "../proto/eipc/v1/viewer_pb.js";
import { norm, type Vector } from "../data/line_of_action.js";
import { LiveTouch } from "./live_touch.js";
import { Recording, type Body, type PairForces } from "../data/recording.js";

const MOST_SAMPLES = 3000;
const FEWEST_SAMPLES = 200;
const MOST_BYTES = 64e6; // of cage positions
const BYTES_OF_FEWEST = 256e6; // where the fewest samples have more, fewer are kept
const FORCES = ["normal", "friction", "normalMoment", "frictionMoment"] as const;

// How many samples are kept, of this many bytes each.
export function samplesOf(bytes: number): number {
  const fewest = Math.min(Math.max(Math.floor(BYTES_OF_FEWEST / bytes), 2), FEWEST_SAMPLES);
  return Math.min(Math.max(Math.floor(MOST_BYTES / bytes), fewest), MOST_SAMPLES);
}

// A recording that grows at its end while it is shown, and forgets its beginning when it is long. A session that was reset, or put back,
// begins anew.
export class LiveRecording extends Recording {
  largestForce = 0; // N, of those seen
  declare readonly touch: LiveTouch;
  private readonly most: number;
  private readonly cages: Float32Array[]; // of the bodies, [most,m,3]
  private readonly store: { time: Float64Array; positions: Float32Array; contacts: Int32Array; gap: Float32Array; newton: Int32Array; wall: Float32Array;
                            converged: Int32Array; step: Float64Array; span: Float64Array };
  private forceStore: Record<(typeof FORCES)[number], Float32Array>;
  private readonly pairNumbers = new Map<string, number>();
  private count = 0;
  private step = -1n;

  // kept: how many samples; by default as many as there is room for.
  constructor(scene: ViewerScene, first: Observation, title: string, kept?: number) {
    const bodies = scene.bodies.map((body, index) => makeBody(body, index, first));
    const floats = bodies.reduce((sum, body) => sum + (body.map === "still" ? 0 : 3 * body.cageSize), 0);
    const most = kept ?? samplesOf(4 * floats + 1);
    const none = (): Float32Array => new Float32Array(0);
    super({ title, facts: [], time: new Float64Array(0), bodies, pairs: [], forces: { normal: none(), friction: none(), normalMoment: none(), frictionMoment: none() },
            positions: none(), contacts: new Int32Array(0), gap: none(), newton: new Int32Array(0), wall: none(), converged: new Int32Array(0), touch: new LiveTouch() });
    this.most = most;
    this.cages = bodies.map((body) => (body.map === "still" ? body.cage : new Float32Array(3 * most * body.cageSize)));
    this.store = { time: new Float64Array(most), positions: new Float32Array(3 * most * bodies.length), contacts: new Int32Array(2 * most),
                   gap: new Float32Array(most), newton: new Int32Array(most), wall: new Float32Array(most), converged: new Int32Array(most), step: new Float64Array(most),
                   span: new Float64Array(most) };
    this.forceStore = { normal: none(), friction: none(), normalMoment: none(), frictionMoment: none() };
    this.append(first, null);
  }

  override stepAt(sample: number): string {
    return String(this.store.step[sample]!);
  }

  override spanOf(sample: number): number {
    return this.store.span[sample]!;
  }

  override get start(): number {
    return 0;
  }

  // skipped: observations that were left out since the last one, each of a step of its own; null: not known. What became of the samples:
  // how many were forgotten at the beginning, or that all were (begun anew), and whether there are new pairs.
  append(seen: Observation, skipped: number | null): { forgotten: number; anew: boolean; pairs: boolean } {
    const anew = this.count > 0 && (seen.step < this.step || seen.timeS < this.store.time[this.count - 1]!);
    if (anew) this.count = 0;
    const again = !anew && seen.step === this.step; // the same step, read from the server
    if (again) this.count--;
    const forgotten = this.count === this.most ? this.forget(Math.ceil(this.most / 4)) : 0;
    const pairs = this.learnPairs(seen);
    if (!again) this.store.span[this.count] = this.count === 0 || skipped === null ? NaN : (seen.timeS - this.store.time[this.count - 1]!) / (1 + skipped);
    this.write(seen, this.count++);
    this.step = seen.step;
    this.publish();
    return { forgotten, anew, pairs };
  }

  private write(seen: Observation, at: number): void {
    const { store, bodies } = this;
    this.touch.write(seen, at, (name) => this.bodyIndex(name));
    store.time[at] = seen.timeS;
    store.step[at] = Number(seen.step);
    store.contacts.set([seen.contactCounts?.pointTriangle ?? 0, seen.contactCounts?.edgeEdge ?? 0], 2 * at);
    store.gap[at] = seen.minDistanceM ?? Infinity;
    store.newton[at] = seen.solverReport?.newtonIterations ?? 0;
    store.wall[at] = seen.solverReport?.wallTimeS ?? 0;
    store.converged[at] = seen.solverReport === undefined || seen.solverReport.outcome === StepOutcome.CONVERGED ? 1 : 0;
    for (const body of seen.bodies) {
      const index = this.bodyIndex(body.name);
      if (index < 0) continue;
      const place = body.pose?.positionM;
      if (place) store.positions.set([place.x, place.y, place.z], 3 * (at * bodies.length + index));
      if (body.cagePositions && bodies[index]!.map !== "still") this.cages[index]!.set(toFloats(body.cagePositions), 3 * at * bodies[index]!.cageSize);
    }
    const pairs = this.pairs.length;
    for (const name of FORCES) this.forceStore[name].fill(0, 3 * at * pairs, 3 * (at + 1) * pairs);
    for (const wrench of seen.contactWrenches) {
      const pair = this.pairNumbers.get(key(wrench.body, wrench.other))!;
      const values = { normal: wrench.normalForceN, friction: wrench.frictionForceN, normalMoment: wrench.normalMomentNm, frictionMoment: wrench.frictionMomentNm };
      for (const name of FORCES) {
        const v = values[name];
        const vector: Vector = [v?.x ?? 0, v?.y ?? 0, v?.z ?? 0];
        this.forceStore[name].set(vector, 3 * (at * pairs + pair));
        if (name === "normal" || name === "friction") this.largestForce = Math.max(this.largestForce, norm(vector));
      }
    }
  }

  // Pairs that touch for the first time get a column of their own.
  private learnPairs(seen: Observation): boolean {
    const before = this.pairs.length;
    const pairs = [...this.pairs];
    for (const { body, other } of seen.contactWrenches) {
      if (this.pairNumbers.has(key(body, other))) continue;
      this.pairNumbers.set(key(body, other), pairs.length);
      pairs.push({ on: body, by: other });
    }
    if (pairs.length === before) return false;
    for (const name of FORCES) {
      const wider = new Float32Array(3 * this.most * pairs.length);
      for (let at = 0; at < this.count; at++) wider.set(this.forceStore[name].subarray(3 * at * before, 3 * (at + 1) * before), 3 * at * pairs.length);
      this.forceStore[name] = wider;
    }
    this.pairs = pairs;
    return true;
  }

  private forget(samples: number): number {
    const shift = (values: Float32Array | Float64Array | Int32Array, width: number): void => { values.copyWithin(0, samples * width, this.count * width); };
    const { store } = this;
    shift(store.time, 1);
    shift(store.positions, 3 * this.bodies.length);
    shift(store.contacts, 2);
    for (const values of [store.gap, store.newton, store.wall, store.converged, store.step, store.span]) shift(values, 1);
    for (const name of FORCES) shift(this.forceStore[name], 3 * this.pairs.length);
    this.bodies.forEach((body, index) => { if (body.map !== "still") shift(this.cages[index]!, 3 * body.cageSize); });
    this.touch.forget(samples);
    this.count -= samples;
    return samples;
  }

  private publish(): void {
    const { store, count } = this;
    this.time = store.time.subarray(0, count);
    this.positions = store.positions.subarray(0, 3 * count * this.bodies.length);
    this.contacts = store.contacts.subarray(0, 2 * count);
    this.gap = store.gap.subarray(0, count);
    this.newton = store.newton.subarray(0, count);
    this.wall = store.wall.subarray(0, count);
    this.converged = store.converged.subarray(0, count);
    const forces = (name: (typeof FORCES)[number]): Float32Array => this.forceStore[name].subarray(0, 3 * count * this.pairs.length);
    this.forces = { normal: forces("normal"), friction: forces("friction"), normalMoment: forces("normalMoment"), frictionMoment: forces("frictionMoment") } satisfies PairForces;
    this.bodies.forEach((body, index) => { if (body.map !== "still") body.cage = this.cages[index]!.subarray(0, 3 * count * body.cageSize); });
  }
}

function key(on: string, by: string): string {
  return `${on}\n${by}`;
}

// With the cage of the first observation.
export function makeBody(from: ViewerBody, index: number, first: Observation): Body {
  const { name, kind } = from;
  const triangles = toIndices(from.triangles);
  const none = new Uint32Array(0);
  if (from.positions) {
    const cage = toFloats(from.positions);
    return { name, kind, map: "still", index, triangles, nodes: none, weights: new Float32Array(0), edges: none, elements: none, cage, cageSize: cage.length / 3 };
  }
  const nodes = toIndices(from.nodes);
  const weights = toFloats(from.weights);
  const seen = first.bodies.find((body) => body.name === name);
  const cage = seen?.cagePositions ? toFloats(seen.cagePositions) : new Float32Array(0);
  let direct = true;
  for (let i = 0; i < nodes.length; i += 4) direct &&= nodes[i] === nodes[i + 1] && nodes[i] === nodes[i + 2] && nodes[i] === nodes[i + 3];
  const elements = toIndices(from.elements);
  return { name, kind, map: direct ? "nodes" : "embedded", index, triangles, nodes, weights, edges: edgesOf(elements), elements, cage, cageSize: cage.length / 3 };
}

// Edges [e,2] of elements [t,4].
function edgesOf(elements: Uint32Array): Uint32Array {
  const seen = new Map<number, readonly [number, number]>();
  for (let t = 0; t < elements.length; t += 4) {
    for (let a = 0; a < 4; a++) {
      for (let b = a + 1; b < 4; b++) {
        const [p, q] = [Math.min(elements[t + a]!, elements[t + b]!), Math.max(elements[t + a]!, elements[t + b]!)];
        seen.set(p * 2 ** 26 + q, [p, q]);
      }
    }
  }
  return Uint32Array.from([...seen.values()].flat());
}
