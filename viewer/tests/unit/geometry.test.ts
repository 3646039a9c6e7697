import assert from "node:assert/strict";
import { test } from "node:test";
import { pointOfAction, type Vector } from "../../src/data/line_of_action.js";
import type { Body } from "../../src/data/recording.js";
import { edgesOfMap, surfacePositions, withTetrahedra } from "../../src/surface/embedding.js";
import { smooth, writeNormals } from "../../src/surface/smoothing.js";

const QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]] as const;
const CUBE = Uint32Array.from(QUADS.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]));
const CORNERS = Float32Array.from([...Array(8).keys()].flatMap((i) => [i >> 2, (i >> 1) & 1, i & 1]));

const bodyOf = (nodes: number[], weights: number[]): Body => ({
  name: "b", kind: "", map: "embedded", index: 0, triangles: new Uint32Array(0), nodes: Uint32Array.from(nodes), weights: Float32Array.from(weights),
  edges: new Uint32Array(0), elements: new Uint32Array(0), cage: new Float32Array(0), cageSize: 5,
});

test("a cube keeps its edges: every face has its own normals", () => {
  const smoothing = smooth(CUBE, CORNERS);
  assert.equal(smoothing.vertex.length, 24);
  const normals = new Float32Array(3 * 24);
  writeNormals(normals, CUBE, smoothing, CORNERS);
  CUBE.forEach((vertex, corner) => {
    const drawn = smoothing.corner[corner]!;
    assert.equal(smoothing.vertex[drawn], vertex);
    const quad = QUADS[Math.floor(corner / 6)]!;
    const outward = [0, 1, 2].map((k) => quad.reduce<number>((sum, v) => sum + CORNERS[3 * v + k]! - 0.5, 0) / 2);
    assert.deepEqual([...normals.subarray(3 * drawn, 3 * drawn + 3)].map((n) => n + 0), outward.map((n) => n + 0));
  });
});

test("a gentle edge is smoothed, and its normals follow the positions", () => {
  const triangles = Uint32Array.of(0, 1, 2, 2, 1, 3);
  const bent = Float32Array.of(0, 0, 0.1, 0, 1, 0, 0, -1, 0, 0.9, 0, 0.1).map((v) => v);
  bent.set([-1, 0, -0.1], 0);
  bent.set([0, -1, 0], 3);
  bent.set([0, 1, 0], 6);
  bent.set([1, 0, -0.1], 9);
  const smoothing = smooth(triangles, bent);
  assert.equal(smoothing.vertex.length, 4);
  const normals = new Float32Array(12);
  writeNormals(normals, triangles, smoothing, bent);
  const ridge = 3 * smoothing.corner[1]!;
  assert.ok(Math.abs(normals[ridge]!) < 1e-7 && Math.abs(Math.abs(normals[ridge + 2]!) - 1) < 1e-7);
});

test("surfaces are weighted sums of nodes, of the sample at the offset", () => {
  const cage = new Float32Array(30);
  cage.set([1, 0, 0, 0, 2, 0, 0, 0, 4, 8, 8, 8], 15);
  const made = surfacePositions(bodyOf([0, 1, 2, 3, 2, 2, 2, 2], [0.5, 0.25, 0.25, 0, 1, 0, 0, 0]), cage, 15);
  assert.deepEqual([...made], [0.5, 0.5, 1, 0, 0, 4]);
});

test("a vertex at a node gets a tetrahedron that has the node", () => {
  const whole = withTetrahedra(bodyOf([0, 1, 2, 3, 2, 2, 2, 2], [0.5, 0.25, 0.25, 0, 1, 0, 0, 0]))!;
  assert.deepEqual([...whole.nodes], [0, 1, 2, 3, 0, 1, 2, 3]);
  assert.deepEqual([...whole.weights.subarray(4)], [0, 0, 1, 0]);
  assert.equal(withTetrahedra(bodyOf([0, 1, 2, 3, 4, 4, 4, 4], [1, 0, 0, 0, 1, 0, 0, 0])), null);
});

test("edges of a map are listed once", () => {
  const edges = edgesOfMap(Uint32Array.of(0, 1, 2, 3, 3, 2, 1, 4), 5);
  assert.equal(edges.length / 2, 9);
  assert.equal(edgesOfMap(Uint32Array.of(2, 2, 2, 2), 5).length, 0);
});

test("a force is drawn on its line of action", () => {
  const center: Vector = [0.1, 0.2, 0.3];
  const [arm, force]: [Vector, Vector] = [[0.04, 0.01, -0.02], [0, 0, 5]];
  const moment: Vector = [arm[1] * force[2] - arm[2] * force[1], arm[2] * force[0] - arm[0] * force[2], arm[0] * force[1] - arm[1] * force[0]];
  const point = pointOfAction(force, moment, center, [9, 9, 0.7]);
  [0.14, 0.21, 0.7].forEach((value, k) => { assert.ok(Math.abs(point[k]! - value) < 1e-12); });
  assert.deepEqual(pointOfAction([0, 0, 0], moment, center, center), center);
});
