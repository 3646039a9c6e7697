// Which corners of triangles share a normal: those of one vertex that are joined by edges less sharp than the crease angle.

const CREASE_COSINE = Math.cos((50 * Math.PI) / 180);

export interface Smoothing {
  readonly corner: Uint32Array; // [3k] drawn vertex of each corner
  readonly vertex: Uint32Array; // [d] surface vertex of each drawn vertex
}

// triangles [k,3], positions [n,3].
export function smooth(triangles: Uint32Array, positions: Float32Array): Smoothing {
  const parent = Uint32Array.from(triangles, (_, corner) => corner);
  const find = (corner: number): number => {
    let root = corner;
    while (parent[root]! !== root) root = parent[root]!;
    parent[corner] = root;
    return root;
  };
  const normals = faceNormals(triangles, positions);
  const open = new Map<string, number>(); // edge -> corner at which its first triangle begins it
  for (let corner = 0; corner < triangles.length; corner++) {
    const next = corner % 3 === 2 ? corner - 2 : corner + 1;
    const [a, b] = [triangles[corner]!, triangles[next]!];
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    const other = open.get(key);
    if (other === undefined) {
      open.set(key, corner);
    } else if (cosine(normals, Math.floor(corner / 3), Math.floor(other / 3)) >= CREASE_COSINE) {
      const otherNext = other % 3 === 2 ? other - 2 : other + 1;
      for (const mine of [corner, next]) {
        const twin = triangles[other]! === triangles[mine]! ? other : otherNext;
        parent[find(mine)] = find(twin);
      }
    }
  }
  return number(triangles, find);
}

function number(triangles: Uint32Array, find: (corner: number) => number): Smoothing {
  const corner = new Uint32Array(triangles.length);
  const vertex: number[] = [];
  const numbers = new Map<number, number>();
  for (let c = 0; c < triangles.length; c++) {
    const root = find(c);
    let drawn = numbers.get(root);
    if (drawn === undefined) {
      drawn = vertex.length;
      numbers.set(root, drawn);
      vertex.push(triangles[c]!);
    }
    corner[c] = drawn;
  }
  return { corner, vertex: Uint32Array.from(vertex) };
}

// Normals [k,3] of triangles, twice their area long.
function faceNormals(triangles: Uint32Array, p: Float32Array): Float32Array {
  const out = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    const [ux, uy, uz] = [p[b]! - p[a]!, p[b + 1]! - p[a + 1]!, p[b + 2]! - p[a + 2]!];
    const [vx, vy, vz] = [p[c]! - p[a]!, p[c + 1]! - p[a + 1]!, p[c + 2]! - p[a + 2]!];
    out[t] = uy * vz - uz * vy;
    out[t + 1] = uz * vx - ux * vz;
    out[t + 2] = ux * vy - uy * vx;
  }
  return out;
}

function cosine(n: Float32Array, a: number, b: number): number {
  const [i, j] = [3 * a, 3 * b];
  const product = n[i]! * n[j]! + n[i + 1]! * n[j + 1]! + n[i + 2]! * n[j + 2]!;
  return product / (Math.hypot(n[i]!, n[i + 1]!, n[i + 2]!) * Math.hypot(n[j]!, n[j + 1]!, n[j + 2]!) || 1);
}

// Writes unit normals [d,3] of the drawn vertices for surface positions [n,3].
export function writeNormals(out: Float32Array, triangles: Uint32Array, smoothing: Smoothing, positions: Float32Array): void {
  const faces = faceNormals(triangles, positions);
  out.fill(0);
  for (let c = 0; c < triangles.length; c++) {
    const [to, from] = [3 * smoothing.corner[c]!, c - (c % 3)];
    for (let k = 0; k < 3; k++) out[to + k]! += faces[from + k]!;
  }
  for (let i = 0; i < out.length; i += 3) {
    const length = Math.hypot(out[i]!, out[i + 1]!, out[i + 2]!) || 1;
    for (let k = 0; k < 3; k++) out[i + k]! /= length;
  }
}
