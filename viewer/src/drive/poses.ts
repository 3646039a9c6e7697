import { Quaternion, Vector3 } from "three";
import type { Pose } from "../proto/eipc/v1/geometry_pb.js";
import type { Observation } from "../proto/eipc/v1/observation_pb.js";
import { quantity } from "../units.js";

const ARRIVED_M = 1e-5;

export function positionOf(pose: Pose): Vector3 {
  const p = pose.positionM;
  return new Vector3(p?.x ?? 0, p?.y ?? 0, p?.z ?? 0);
}

export function rotationOf(pose: Pose): Quaternion {
  if (pose.rotation.case !== "quaternion") return new Quaternion();
  const { w, x, y, z } = pose.rotation.value;
  return w === 0 && x === 0 && y === 0 && z === 0 ? new Quaternion() : new Quaternion(x, y, z, w);
}

interface PoseValues {
  readonly positionM: { readonly x: number; readonly y: number; readonly z: number };
  readonly rotation: { readonly case: "quaternion"; readonly value: { readonly w: number; readonly x: number; readonly y: number; readonly z: number } };
}

export function poseMessage(position: Vector3, rotation: Quaternion): PoseValues {
  const { x, y, z, w } = rotation.clone().normalize();
  const sign = w < 0 ? -1 : 1;
  return { positionM: { x: position.x, y: position.y, z: position.z },
           rotation: { case: "quaternion", value: { w: sign * w, x: sign * x, y: sign * y, z: sign * z } } };
}

// What keeps frames from where they were commanded, and drives at their limits; empty when nothing does. amounts: with how much, which
// is another with every step.
export function wordsOf(seen: Observation, amounts = true): string {
  const amount = (value: number, unit: string, before: string, after: string): string => (amounts ? `${before}${quantity(value, unit)}${after}` : "");
  return seen.boundaryPoses.flatMap((pose): string[] => {
    const name = [pose.body, pose.boundarySet].filter(Boolean).join(" / ");
    if (pose.drive?.blocked) return [`${name} presses against something with all its force${amount(pose.drive.effortN, "N", " (", ")")}.`];
    if (pose.drive?.saturated) return [`${name} is at the limit of its force${amount(pose.drive.effortN, "N", " (", ")")}.`];
    if (pose.poseDrive?.blocked) return [`${name} presses against something with all its force.`];
    if (pose.poseDrive?.saturated) return [`${name} is at the limit of its force.`];
    if (pose.poseDrive) return []; // a spring, which gives way
    if (pose.errorM > ARRIVED_M) return [`${name} was stopped${amount(pose.errorM, "m", " ", "")} before its command: something obstructs it.`];
    return [];
  }).join(" ");
}
