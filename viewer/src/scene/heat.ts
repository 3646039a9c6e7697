import type { Body, Recording } from "../data/recording.js";
import type { Tractions } from "../data/touch.js";
import { niceAbove } from "../units.js";

export type Quantity = "pressure" | "friction" | "ratio" | "slip" | "stress";
type AtContacts = Exclude<Quantity, "stress">;

interface Kind {
  readonly title: string;
  readonly unit: string; // "" for a ratio
  readonly everywhere: boolean; // it has a value at every vertex of a body that has it, not at contacts only: the shown sample sets its scale
}

// What surfaces can be coloured by.
export const QUANTITIES: Readonly<Record<Quantity, Kind>> = {
  pressure: { title: "contact pressure", unit: "Pa", everywhere: false },
  friction: { title: "friction traction", unit: "Pa", everywhere: false },
  ratio: { title: "friction over normal force", unit: "", everywhere: false },
  slip: { title: "slip speed", unit: "m/s", everywhere: false },
  stress: { title: "von Mises stress", unit: "Pa", everywhere: true },
};

// Shares of the values that are not 0: a single peak does not set the scale, and of values everywhere not the few elements at an edge.
const SHARE_BELOW_TOP = 0.99;
const SHARE_BELOW_TOP_EVERYWHERE = 0.95;

const MOST_SAMPLED = 100; // samples: a recording that grows is scanned again and again

// Values [n] of a body's surface vertices at a sample, 0 where no contact acts; null where they are not known.
export function vertexValues(recording: Recording, body: Body, quantity: Quantity, sample: number): Float32Array | null {
  const count = body.map === "still" ? body.cageSize : body.nodes.length / 4;
  if (quantity === "stress") return stressOfVertices(body, recording.touch.stresses(body.index, sample), count);
  const found = recording.touch.tractions(body.index, sample);
  if (!found || (quantity === "slip" && !found.slip)) return null;
  const out = new Float32Array(count);
  found.vertices.forEach((vertex, i) => { out[vertex] = valueOf(quantity, found, i); });
  return out;
}

function valueOf(quantity: AtContacts, { normal, friction, slip }: Tractions, i: number): number {
  if (quantity === "pressure") return normal[i]!;
  if (quantity === "friction") return friction[i]!;
  if (quantity === "slip") return slip?.[i] ?? 0;
  return normal[i]! > 0 ? friction[i]! / normal[i]! : 0;
}

// Elements' stresses [elements], averaged at the nodes; null where it is not known which nodes elements have.
function stressOfNodes(body: Body, stresses: Float32Array | null): Float64Array | null {
  if (!stresses || body.elements.length !== 4 * stresses.length) return null;
  const sum = new Float64Array(body.cageSize);
  const elements = new Uint32Array(body.cageSize);
  body.elements.forEach((node, i) => {
    const stress = stresses[i >> 2]!;
    if (!Number.isFinite(stress)) return; // an inverted element
    sum[node]! += stress;
    elements[node]!++;
  });
  return sum.map((total, node) => (elements[node]! > 0 ? total / elements[node]! : 0));
}

// Stresses of the nodes, by the map of the surface at its vertices.
function stressOfVertices(body: Body, stresses: Float32Array | null, count: number): Float32Array | null {
  const ofNodes = stressOfNodes(body, stresses);
  if (!ofNodes) return null;
  const out = new Float32Array(count);
  body.nodes.forEach((node, i) => { out[i >> 2]! += body.weights[i]! * ofNodes[node]!; });
  return out;
}

// The end of the scale of colours for all bodies; 1 where nothing was felt. Of a quantity that is everywhere it is set by the shown sample
// of the chosen body, where that has any, since other moments and stiffer bodies may have many times as much; of one at contacts by about
// MOST_SAMPLED samples, of which the last is one.
export function topOf(recording: Recording, quantity: Quantity, shown: number, chosen: string): number {
  if (QUANTITIES[quantity].everywhere) {
    const own = stressesAt(recording.bodies.filter((body) => body.name === chosen), recording, shown);
    return endOf(own.length > 0 ? own : stressesAt(recording.bodies, recording, shown), SHARE_BELOW_TOP_EVERYWHERE);
  }
  return endOf(atContacts(recording, quantity as AtContacts), SHARE_BELOW_TOP);
}

function stressesAt(bodies: readonly Body[], recording: Recording, sample: number): number[] {
  return bodies.flatMap((body) => [...(stressOfNodes(body, recording.touch.stresses(body.index, sample)) ?? [])]).filter((value) => value > 0);
}

function atContacts(recording: Recording, quantity: AtContacts): number[] {
  const values: number[] = [];
  const stride = Math.ceil(recording.samples / MOST_SAMPLED);
  for (let sample = recording.samples - 1; sample >= 0; sample -= stride) {
    for (const body of recording.bodies) {
      const found = recording.touch.tractions(body.index, sample);
      for (let i = 0; i < (found?.vertices.length ?? 0); i++) {
        const value = valueOf(quantity, found!, i);
        if (value > 0) values.push(value);
      }
    }
  }
  return values;
}

function endOf(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values.length > 0 ? niceAbove(values[Math.floor(share * (values.length - 1))]!) : 1;
}
