import type { Body } from "../data/recording.js";

// Surface positions [n,3] of cage positions that begin at `offset` of `cage`: x = sum of weight times node.
export function surfacePositions(body: Body, cage: Float32Array, offset: number): Float32Array {
  const out = new Float32Array((3 * body.nodes.length) / 4);
  for (let i = 0; i < body.nodes.length; i++) {
    const [to, from, weight] = [3 * (i >> 2), offset + 3 * body.nodes[i]!, body.weights[i]!];
    for (let k = 0; k < 3; k++) out[to + k]! += weight * cage[from + k]!;
  }
  return out;
}

// Nodes and weights [n,4] in which every vertex has a whole tetrahedron, so that the shader can turn its normal by the tetrahedron's
// deformation. A vertex at a node has that node four times: it gets a tetrahedron that has the node. Null: for some there is none.
export function withTetrahedra(body: Body): { nodes: Uint32Array; weights: Float32Array } | null {
  const nodes = body.nodes.slice();
  const weights = body.weights.slice();
  const tetOf = new Map<number, number>(); // node -> first vertex whose tetrahedron has it
  for (let i = 0; i < nodes.length; i += 4) {
    if (nodes[i] === nodes[i + 1]) continue;
    for (let k = 0; k < 4; k++) if (!tetOf.has(nodes[i + k]!)) tetOf.set(nodes[i + k]!, i);
  }
  for (let i = 0; i < nodes.length; i += 4) {
    if (nodes[i] !== nodes[i + 1]) continue;
    const node = nodes[i]!;
    const tet = tetOf.get(node);
    if (tet === undefined) return null;
    for (let k = 0; k < 4; k++) {
      nodes[i + k] = body.nodes[tet + k]!;
      weights[i + k] = nodes[i + k] === node ? 1 : 0;
    }
  }
  return { nodes, weights };
}

// Edges [e,2] of the tetrahedra that vertices are in, for cages that came without their edges.
export function edgesOfMap(nodes: Uint32Array, cageSize: number): Uint32Array {
  const seen = new Set<number>();
  for (let i = 0; i < nodes.length; i += 4) {
    for (let a = 0; a < 4; a++) {
      for (let b = a + 1; b < 4; b++) {
        const [p, q] = [nodes[i + a]!, nodes[i + b]!];
        if (p !== q) seen.add(Math.min(p, q) * cageSize + Math.max(p, q));
      }
    }
  }
  return Uint32Array.from([...seen].flatMap((key) => [Math.floor(key / cageSize), key % cageSize]));
}
