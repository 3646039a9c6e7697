"""The requests of sessions as messages, for the client that waits and for the one that does not (eipc.aio)."""

from __future__ import annotations

import zlib
from typing import Any, Mapping, Optional, Sequence, Union

import grpc

from .drives import DriveMotion
from .errors import InternalError
from .geometry import Pose, Trajectory
from .materials import Materials
from .observation import Observe
from .placement import Placement, PlacementRange, start_order
from .resources import Snapshot
from .stacked import stack_request
from .v1 import service_pb2

# A target's key: (body, boundary set), or the name of a kinematic body or of one that slides as a whole.
TargetKey = Union[str, tuple[str, str]]
Targets = Mapping[TargetKey, Pose]
Trajectories = Mapping[TargetKey, Trajectory]
Drives = Mapping[TargetKey, DriveMotion]
Joints = Mapping[str, DriveMotion]


def step(session: str, dt: float, targets: Optional[Targets] = None, observe: Optional[Observe] = None, substeps: int = 1,
         expected_step: Optional[int] = None, request_id: str = "", trajectories: Optional[Trajectories] = None, world: int = 0,
         drives: Optional[Drives] = None, time_limit: float = 0.0,
         joints: Optional[Joints] = None) -> service_pb2.StepRequest:
    """Arguments as of Session.step."""
    request = commands(dt, targets, substeps, trajectories, drives, time_limit, joints)
    request.MergeFrom(of_world(session, observe, world, expected_step, request_id))
    return request


def of_world(session: str, observe: Optional[Observe] = None, world: int = 0, expected_step: Optional[int] = None,
             request_id: str = "") -> service_pb2.StepRequest:
    """The part of a request for a step that says where and when it is taken, and what is seen of it."""
    request = service_pb2.StepRequest(session=session, observe=(observe or Observe()).to_message(), request_id=request_id, world=world)
    if expected_step is not None:
        request.expected_step = expected_step
    return request


def commands(dt: float, targets: Optional[Targets] = None, substeps: int = 1, trajectories: Optional[Trajectories] = None,
             drives: Optional[Drives] = None, time_limit: float = 0.0, joints: Optional[Joints] = None) -> service_pb2.StepRequest:
    """The rest: what the step does."""
    request = service_pb2.StepRequest(dt_s=dt, substeps=substeps, time_limit_s=time_limit)
    for key, pose in (targets or {}).items():
        body, boundary_set = _split(key)
        request.targets.append(service_pb2.TargetPose(body=body, boundary_set=boundary_set, pose=pose.to_message()))
    for key, trajectory in (trajectories or {}).items():
        body, boundary_set = _split(key)
        request.trajectories.append(
            service_pb2.TargetTrajectory(body=body, boundary_set=boundary_set, trajectory=trajectory.to_message()))
    for key, motion in (drives or {}).items():
        body, boundary_set = _split(key)
        request.drives.append(service_pb2.DriveCommand(body=body, boundary_set=boundary_set, motion=motion.to_message()))
    for name, motion in (joints or {}).items():
        request.drives.append(service_pb2.DriveCommand(joint=name, motion=motion.to_message()))
    return request


def step_batch(session: str, steps: Sequence[Mapping[str, Any]], request_id: str = "") -> service_pb2.StepBatchRequest:
    return service_pb2.StepBatchRequest(session=session, request_id=request_id, steps=[step(session, **one) for one in steps])


def step_stacked(session: str, steps: Sequence[Mapping[str, Any]], observe: Observe, pairs: Sequence[tuple[str, str]] = (),
                 request_id: str = "") -> service_pb2.StepBatchRequest:
    request = step_batch(session, steps, request_id)
    for one, made in zip(steps, request.steps):
        if "observe" in one:
            raise ValueError("stacked worlds are observed alike: give observe once, not in a step")
        made.ClearField("observe")
    request.stack.CopyFrom(stack_request(observe, pairs))
    return request


def reset(session: str, observe: Optional[Observe] = None, world: int = 0, placements: Optional[Mapping[str, Placement]] = None,
          ranges: Optional[Mapping[str, PlacementRange]] = None, seed: int = 0, attempts: int = 0,
          materials: Optional[Materials] = None) -> service_pb2.ResetRequest:
    return service_pb2.ResetRequest(session=session, observe=(observe or Observe()).to_message(), world=world,
                                    **start_order(placements, ranges, materials, seed, attempts))


def state(session: str, observe: Optional[Observe] = None, world: int = 0) -> service_pb2.GetStateRequest:
    return service_pb2.GetStateRequest(session=session, observe=(observe or Observe()).to_message(), world=world)


def snapshot(session: str, world: int = 0, data: bool = False, keep: bool = True) -> service_pb2.CreateSnapshotRequest:
    return service_pb2.CreateSnapshotRequest(session=session, world=world, include_data=data, transient=not keep)


def restore(session: str, start: Union[Snapshot, str, bytes], observe: Optional[Observe] = None,
            world: int = 0) -> service_pb2.RestoreSessionRequest:
    return service_pb2.RestoreSessionRequest(session=session, world=world, observe=(observe or Observe()).to_message(),
                                             **start_fields(start))


def start_fields(start: Union[Snapshot, str, bytes, None]) -> dict[str, Any]:
    """The field of a request that says where a world should be: nothing, a name, or bytes."""
    if start is None:
        return {}
    if isinstance(start, bytes):
        return {"snapshot_data": start}
    if isinstance(start, str):
        return {"snapshot": start}
    return {"snapshot": start.name} if start.name else {"snapshot_data": start.data}


def checked_piece(chunk: Any) -> bytes:
    """The bytes of a piece of a recording. Raises InternalError when they are not those that were sent."""
    if zlib.crc32(chunk.data) != chunk.crc32:
        raise InternalError("a piece of the recording does not match its checksum", grpc.StatusCode.DATA_LOSS)
    return bytes(chunk.data)


def _split(key: TargetKey) -> tuple[str, str]:
    return (key, "") if isinstance(key, str) else key
