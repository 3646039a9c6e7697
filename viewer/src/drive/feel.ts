import { Vector3 } from "three";
import type { Vec3 } from "../proto/eipc/v1/geometry_pb.js";
import type { Observation } from "../proto/eipc/v1/observation_pb.js";

// What a hand of these bodies feels about a point (m, world): force (N) and moment (N m) of all contacts with others, world frame.
export function wrenchOn(seen: Observation, bodies: ReadonlySet<string>, about: Vector3): { readonly force: Vector3; readonly moment: Vector3 } {
  const total = { force: new Vector3(), moment: new Vector3() };
  for (const wrench of seen.contactWrenches) {
    if (!bodies.has(wrench.body) || bodies.has(wrench.other)) continue;
    const force = vectorOf(wrench.normalForceN).add(vectorOf(wrench.frictionForceN));
    const place = vectorOf(seen.bodies.find(({ name }) => name === wrench.body)?.pose?.positionM); // what its moments are about
    total.force.add(force);
    total.moment.add(vectorOf(wrench.normalMomentNm)).add(vectorOf(wrench.frictionMomentNm)).add(place.sub(about).cross(force));
  }
  return total;
}

function vectorOf(from: Vec3 | undefined): Vector3 {
  return new Vector3(from?.x ?? 0, from?.y ?? 0, from?.z ?? 0);
}
