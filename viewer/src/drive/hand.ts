import { Quaternion, Vector3 } from "three";

// A frame that the hand holds: a finger, or a whole gripper.
export interface Finger {
  readonly body: string;
  readonly boundarySet: string;
  readonly position: Vector3; // m, world
  readonly rotation: Quaternion;
  readonly onGuide?: boolean; // a drive closes it along its guide, which is at the pose
}

// Where the hand is relative to where it was taken (the clutch): it moves and turns with its fingers, and closes by moving them towards
// its middle, those on guides by their drives.
export interface HandPose {
  readonly position: Vector3; // m, of the middle
  readonly rotation: Quaternion; // from the clutch
  readonly closing: number; // m, of each finger
}

// Largest changes of a commanded hand in a second.
export interface Speeds {
  readonly linear: number; // m/s
  readonly angular: number; // rad/s
  readonly closing: number; // m/s
}

const LEAST_GAP = 1e-3; // m between a finger and the middle that closing leaves

export class Hand {
  readonly middle: Vector3;
  private readonly directions: readonly Vector3[]; // unit, towards the middle; zero for a single finger

  constructor(readonly fingers: readonly Finger[]) {
    this.middle = new Vector3();
    for (const finger of fingers) this.middle.addScaledVector(finger.position, 1 / fingers.length);
    this.directions = fingers.map((finger) => {
      const offset = this.middle.clone().sub(finger.position);
      return offset.length() > LEAST_GAP && finger.onGuide !== true ? offset.normalize() : new Vector3();
    });
  }

  get closes(): boolean {
    return this.directions.some((direction) => direction.lengthSq() > 0);
  }

  // The most that fingers can close, m.
  get mostClosing(): number {
    const distances = this.fingers.flatMap((finger, i) => (this.directions[i]!.lengthSq() > 0 ? [finger.position.distanceTo(this.middle)] : []));
    return distances.length > 0 ? Math.min(...distances) - LEAST_GAP : 0;
  }

  start(): HandPose {
    return { position: this.middle.clone(), rotation: new Quaternion(), closing: 0 };
  }

  // Where the fingers are to be.
  targets(pose: HandPose): Finger[] {
    return this.fingers.map((finger, i) => {
      const arm = finger.position.clone().sub(this.middle).addScaledVector(this.directions[i]!, pose.closing).applyQuaternion(pose.rotation);
      return { ...finger, position: arm.add(pose.position), rotation: pose.rotation.clone().multiply(finger.rotation) };
    });
  }
}

// From one pose of the hand towards another, as far as the speeds allow in dt seconds.
export function approach(from: HandPose, to: HandPose, speeds: Speeds, dt: number): HandPose {
  const displacement = to.position.clone().sub(from.position);
  displacement.clampLength(0, speeds.linear * dt);
  const closing = from.closing + Math.min(Math.max(to.closing - from.closing, -speeds.closing * dt), speeds.closing * dt);
  const angle = from.rotation.angleTo(to.rotation);
  const rotation = angle < 1e-9 ? to.rotation.clone() : from.rotation.clone().slerp(to.rotation, Math.min(1, (speeds.angular * dt) / angle));
  return { position: from.position.clone().add(displacement), rotation, closing };
}
