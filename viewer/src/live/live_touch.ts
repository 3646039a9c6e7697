import type { Pair } from "../data/recording.js";
import type { Slip, Touch, Tractions } from "../data/touch.js";
import { norm } from "../data/line_of_action.js";
import type { ContactTractions, Observation } from "../proto/eipc/v1/observation_pb.js";
import { toFloats, toIndices } from "./arrays.js";

const MOST_NUMBERS = 8e6; // kept; older samples are forgotten first

interface Felt {
  readonly tractions: ReadonlyMap<number, Tractions>;
  readonly stresses: ReadonlyMap<number, Float32Array>;
  readonly slips: ReadonlyMap<string, Slip>;
  readonly numbers: number;
}

// What the observations of a session that goes on hold, by sample.
export class LiveTouch implements Touch {
  readonly holds = { tractions: true, vertexSlips: true, stresses: true, slips: true }; // whatever is asked for
  private readonly felt: (Felt | null)[] = [];
  private numbers = 0;

  write(seen: Observation, at: number, bodyIndex: (name: string) => number): void {
    this.cut(at);
    const made = feltIn(seen, bodyIndex);
    this.felt[at] = made;
    this.numbers += made.numbers;
    for (let i = 0; i < at && this.numbers > MOST_NUMBERS; i++) this.drop(i);
  }

  // Forgets samples at the beginning.
  forget(samples: number): void {
    for (let i = 0; i < samples; i++) this.drop(i);
    this.felt.splice(0, samples);
  }

  tractions(body: number, sample: number): Tractions | null {
    return this.felt[sample]?.tractions.get(body) ?? null;
  }

  stresses(body: number, sample: number): Float32Array | null {
    return this.felt[sample]?.stresses.get(body) ?? null;
  }

  slip(pair: Pair, sample: number): Slip | null {
    const slips = this.felt[sample]?.slips;
    return slips?.get(`${pair.on}\n${pair.by}`) ?? slips?.get(`${pair.by}\n${pair.on}`) ?? null;
  }

  // Forgets this sample and later ones.
  private cut(at: number): void {
    for (let i = at; i < this.felt.length; i++) this.drop(i);
    this.felt.length = Math.min(this.felt.length, at);
  }

  private drop(at: number): void {
    this.numbers -= this.felt[at]?.numbers ?? 0;
    this.felt[at] = null;
  }
}

function feltIn(seen: Observation, bodyIndex: (name: string) => number): Felt {
  const tractions = new Map<number, Tractions>();
  const stresses = new Map<number, Float32Array>();
  let numbers = 0;
  for (const body of seen.bodies) {
    const index = bodyIndex(body.name);
    if (index < 0) continue;
    if (body.contactTractions) tractions.set(index, tractionsOf(body.contactTractions));
    if (body.vonMisesPa) stresses.set(index, toFloats(body.vonMisesPa));
    numbers += 4 * (tractions.get(index)?.vertices.length ?? 0) + (stresses.get(index)?.length ?? 0);
  }
  const slips = new Map(seen.slips.map(({ body, other, velocityMS: v, sticking }): [string, Slip] => [`${body}\n${other}`, { speed: norm([v?.x ?? 0, v?.y ?? 0, v?.z ?? 0]), sticking }]));
  return { tractions, stresses, slips, numbers };
}

function tractionsOf(from: ContactTractions): Tractions {
  const area = toFloats(from.areaM2);
  const lengths = (vectors: Float32Array): Float32Array => area.map((_, i) => norm([vectors[3 * i]!, vectors[3 * i + 1]!, vectors[3 * i + 2]!]));
  const over = (forces: Float32Array): Float32Array => lengths(forces).map((force, i) => (area[i]! > 0 ? force / area[i]! : 0));
  return { vertices: toIndices(from.vertices), normal: over(toFloats(from.normalForceN)), friction: over(toFloats(from.frictionForceN)),
           slip: from.slipVelocityMS ? lengths(toFloats(from.slipVelocityMS)) : null };
}
