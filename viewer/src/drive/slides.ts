import { create } from "@bufbuild/protobuf";
import type { DriveReading, Observation } from "../proto/eipc/v1/observation_pb.js";
import { DriveMotion_Mode } from "../proto/eipc/v1/scene_pb.js";
import { DriveCommandSchema, type DriveCommand } from "../proto/eipc/v1/service_pb.js";
import type { ViewerFrameOfBody } from "../proto/eipc/v1/viewer_pb.js";

// The parts on guides that a hand holds: their drives close and open them with a force. When they are let go, one that presses against
// something keeps its force, and any other one stops.
export class Slides {
  private pushed = false; // in the step before

  constructor(private readonly frames: readonly ViewerFrameOfBody[]) {}

  // Of the next step. close: in [-1, 1], opens below 0. most: N, 0 for what the drives can. Drives without a command go on with theirs.
  commands(close: number, most: number, seen: Observation): DriveCommand[] {
    if (close === 0 && !this.pushed) return [];
    this.pushed = close !== 0;
    return this.frames.flatMap((frame): DriveCommand[] => {
      if (close !== 0) return [command(frame, DriveMotion_Mode.FORCE, Math.sign(close) * Math.min(frame.maxForceN, most > 0 ? most : Infinity))];
      if (holds(readingOf(frame, seen))) return [];
      return [command(frame, frame.takesVelocities ? DriveMotion_Mode.VELOCITY : DriveMotion_Mode.FORCE, 0)];
    });
  }
}

function readingOf({ body, boundarySet }: ViewerFrameOfBody, seen: Observation): DriveReading | undefined {
  return seen.boundaryPoses.find((pose) => pose.body === body && pose.boundarySet === boundarySet)?.drive;
}

function holds(reading: DriveReading | undefined): boolean {
  return reading !== undefined && reading.blocked && reading.effortN > 0;
}

function command({ body, boundarySet }: ViewerFrameOfBody, mode: DriveMotion_Mode, value: number): DriveCommand {
  return create(DriveCommandSchema, { body, boundarySet, motion: { mode, keys: [{ value }] } });
}
