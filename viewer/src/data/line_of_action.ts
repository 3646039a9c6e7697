export type Vector = readonly [number, number, number];

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const along = (a: Vector, s: number, b: Vector): Vector => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];

export const norm = (a: Vector): number => Math.sqrt(dot(a, a));

// Where to draw a contact force: the point of its line of action nearest to `near`. The line passes through center + F x M / |F|^2.
// A moment along the force has no line and is left out. m, N, N m, world; `center` is what the moment is about.
export function pointOfAction(force: Vector, moment: Vector, center: Vector, near: Vector): Vector {
  const square = dot(force, force);
  if (square === 0) return center;
  const foot = along(center, 1 / square, cross(force, moment));
  return along(foot, dot(along(near, -1, foot), force) / square, force);
}

export function vectorAt(values: Float32Array, index: number): Vector {
  return [values[3 * index]!, values[3 * index + 1]!, values[3 * index + 2]!];
}
