import type { Connection } from "./connection.js";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { ObservationSchema, type Observation } from "../proto/eipc/v1/observation_pb.js";
import {
  CreateSessionRequestSchema, CreateSnapshotRequestSchema, DeleteSessionRequestSchema, ForkSessionRequestSchema, ListScenesRequestSchema, ListScenesResponseSchema,
  ListSessionsRequestSchema, ListSessionsResponseSchema, ResetRequestSchema, RestoreSessionRequestSchema, SessionInfoSchema, SnapshotInfoSchema,
  StepRequestSchema, StepResponseSchema, type SceneInfo, type SessionInfo, type SnapshotInfo, type StepResponse,
} from "../proto/eipc/v1/service_pb.js";
import type { Message, MessageInitShape } from "@bufbuild/protobuf";
import type { ObservationRequestSchema } from "../proto/eipc/v1/observation_pb.js";
import { DataType } from "../proto/eipc/v1/geometry_pb.js";

export type Observe = Exclude<MessageInitShape<typeof ObservationRequestSchema>, Message>; // as plain values, so that two can be joined

// What the picture and the figures of one world need.
export const OBSERVE: Observe = {
  poses: true, cagePositions: true, contactWrenches: true, contactCounts: true, minDistance: true, solverReport: true, boundaryPoses: true,
  positionsDtype: DataType.FLOAT32,
};

// The calls of the service that the page makes.
export class Server {
  constructor(private readonly connection: Connection) {}

  async sessions(): Promise<SessionInfo[]> {
    return (await this.connection.call("ListSessions", ListSessionsRequestSchema, { pageSize: 1000 }, ListSessionsResponseSchema)).sessions;
  }

  async scenes(): Promise<SceneInfo[]> {
    return (await this.connection.call("ListScenes", ListScenesRequestSchema, { pageSize: 1000 }, ListScenesResponseSchema)).scenes;
  }

  // Recorded, so that what is driven in it can be kept.
  createSession(scene: string, worlds = 1): Promise<SessionInfo> {
    return this.connection.call("CreateSession", CreateSessionRequestSchema, { scene, worlds, record: true }, SessionInfoSchema);
  }

  async deleteSession(session: string): Promise<void> {
    await this.connection.call("DeleteSession", DeleteSessionRequestSchema, { session }, EmptySchema);
  }

  reset(session: string, world: number): Promise<Observation> {
    return this.connection.call("Reset", ResetRequestSchema, { session, world, observe: OBSERVE }, ObservationSchema);
  }

  snapshot(session: string, world: number): Promise<SnapshotInfo> {
    return this.connection.call("CreateSnapshot", CreateSnapshotRequestSchema, { session, world }, SnapshotInfoSchema);
  }

  restore(session: string, world: number, snapshot: string): Promise<Observation> {
    return this.connection.call("RestoreSession", RestoreSessionRequestSchema,
      { session, world, source: { case: "snapshot", value: snapshot }, observe: OBSERVE }, ObservationSchema);
  }

  fork(session: string, world: number): Promise<SessionInfo> {
    return this.connection.call("ForkSession", ForkSessionRequestSchema, { session, world, worlds: 1, record: true }, SessionInfoSchema);
  }

  step(values: MessageInitShape<typeof StepRequestSchema>): Promise<StepResponse> {
    return this.connection.call("Step", StepRequestSchema, values, StepResponseSchema);
  }
}
