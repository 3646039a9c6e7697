import type { Body, Recording } from "../data/recording.js";
import { colorOf } from "../surface/body_mesh.js";
import { surfacePositions } from "../surface/embedding.js";
import { FLOAT, GlbFile, INDICES, VERTICES } from "./glb_file.js";

const MOST_JOINTS = 1 << 16; // glTF numbers joints by 16 bits
const UPRIGHT = [-Math.SQRT1_2, 0, 0, Math.SQRT1_2]; // glTF has y up, the world z: a quarter turn about x, as x y z w

// An animated glTF 2.0 file (.glb) of the recording, as eipc.gltf writes it: each node of a cage is a joint that only moves, a surface vertex
// has the weights of its tetrahedron, and linear blend skinning then is the map of the simulation. Throws an Error with words.
export function writeGlb(recording: Recording): Blob {
  const file = new GlbFile();
  const start = recording.time[0]!;
  const writer: Writer = { file, times: file.accessor(Float32Array.from(recording.time, (time) => time - start), "SCALAR", 1), samplers: [], channels: [], samples: recording.samples };
  const children: number[] = [];
  const roots: number[] = [];
  for (const body of recording.bodies) {
    const node = body.map === "still" ? addStill(file, body) : addSkin(writer, body, children);
    (body.map === "still" ? children : roots).push(node);
  }
  const world = file.add("nodes", { name: "world", rotation: UPRIGHT, children });
  if (writer.channels.length > 0) file.add("animations", { name: "recording", samplers: writer.samplers, channels: writer.channels });
  return file.bytes([world, ...roots], { title: recording.title });
}

interface Writer {
  readonly file: GlbFile;
  readonly times: number;
  readonly samples: number;
  readonly samplers: { input: number; output: number; interpolation: string }[];
  readonly channels: { sampler: number; target: { node: number; path: string } }[];
}

function addMesh(file: GlbFile, body: Body, positions: Float32Array, attributes: Record<string, number>): number {
  const color = colorOf(body);
  const linear = [16, 8, 0].map((shift) => (((color >> shift) & 255) / 255) ** 2.2);
  const material = file.add("materials", { name: body.name, doubleSided: true,
    pbrMetallicRoughness: { baseColorFactor: [...linear, 1], metallicFactor: 0, roughnessFactor: 0.8 } });
  const primitive = { attributes: { POSITION: file.accessor(positions, "VEC3", 3, VERTICES), ...attributes }, indices: file.accessor(body.triangles, "SCALAR", 1, INDICES), material };
  return file.add("meshes", { name: body.name, primitives: [primitive] });
}

function addStill(file: GlbFile, body: Body): number {
  return file.add("nodes", { name: body.name, mesh: addMesh(file, body, body.cage.slice(), {}) });
}

// Returns the node of the mesh; the frame of its joints becomes one of `children`.
function addSkin({ file, times, samples, samplers, channels }: Writer, body: Body, children: number[]): number {
  const count = body.cageSize;
  if (count > MOST_JOINTS) throw new Error(`${body.name} has ${count} moving points; glTF numbers joints by 16 bits, so it holds at most ${MOST_JOINTS}.`);
  const weights = body.weights.map((weight) => Math.max(weight, 0)); // -1e-12 at most: a vertex on a face
  for (let i = 0; i < weights.length; i += 4) {
    const sum = weights[i]! + weights[i + 1]! + weights[i + 2]! + weights[i + 3]!;
    for (let k = 0; k < 4; k++) weights[i + k]! /= sum;
  }
  const joints = Uint16Array.from(body.nodes, (node, i) => (weights[i]! > 0 ? node : 0));
  const mesh = addMesh(file, body, surfacePositions(body, body.cage, 0),
    { JOINTS_0: file.accessor(joints, "VEC4", 4, VERTICES), WEIGHTS_0: file.accessor(weights, "VEC4", 4, VERTICES) });
  const inverse = new Float32Array(16 * count); // by columns
  const nodes: number[] = [];
  for (let node = 0; node < count; node++) {
    const place = [...body.cage.subarray(3 * node, 3 * node + 3)];
    inverse.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, ...place.map((value) => -value), 1], 16 * node);
    nodes.push(file.add("nodes", { translation: place }));
  }
  const bufferView = file.view(pathsOf(body, samples));
  nodes.forEach((node, i) => {
    const output = file.add("accessors", { bufferView, byteOffset: 12 * i * samples, componentType: FLOAT, count: samples, type: "VEC3" });
    samplers.push({ input: times, output, interpolation: "LINEAR" });
    channels.push({ sampler: samplers.length - 1, target: { node, path: "translation" } });
  });
  const frame = file.add("nodes", { name: `${body.name} cage`, children: nodes });
  children.push(frame);
  const skin = file.add("skins", { name: body.name, joints: nodes, skeleton: frame, inverseBindMatrices: file.accessor(inverse, "MAT4", 16) });
  return file.add("nodes", { name: body.name, mesh, skin });
}

// Positions of each node over the samples, [m,samples,3].
function pathsOf(body: Body, samples: number): Float32Array {
  const out = new Float32Array(3 * samples * body.cageSize);
  for (let node = 0; node < body.cageSize; node++) {
    for (let sample = 0; sample < samples; sample++) {
      const from = 3 * (sample * body.cageSize + node);
      out.set(body.cage.subarray(from, from + 3), 3 * (node * samples + sample));
    }
  }
  return out;
}
