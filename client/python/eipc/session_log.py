"""A session's recording (Session.recording, "Save recording" on the viewer's page) as an episode, made by taking its steps again.

The bytes are those of `server/session/action_log.h`: records, of which each says what a request did to one world.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from .action_log import records
from .client import Client
from .errors import EipcError, EpisodeError
from .observation import Observation, Observe, observation_from_message
from .recorder import Recorder
from .session import Session
from .v1 import geometry_pb2, scene_pb2, service_pb2

_HEADER, _STATE, _STEP, _BATCH_STEP, _MIGRATED, _REACHED = range(6)
_FRAME_BYTES = 8
_WITHOUT_DRIVES, _WITHOUT_TIME_LIMITS, _VERSION = 1, 2, 3
_SNAPSHOT_MARK, _SNAPSHOT_VERSION = b"EIPCSNAP", 2
_SEEN = Observe(state_digest=True, boundary_poses=True)


@dataclass(frozen=True)
class LoggedStep:
    """A request of a recording. Frames and drives have the server's numbers: boundary sets of the scene in order, and sliders, then joints."""

    dt: float
    substeps: int
    digest: str
    targets: list[tuple[int, geometry_pb2.Pose]] = field(default_factory=list)
    trajectories: list[tuple[int, scene_pb2.Trajectory]] = field(default_factory=list)
    drives: list[tuple[int, scene_pb2.DriveMotion]] = field(default_factory=list)
    limited: bool = False  # a time limit ended its solves


@dataclass(frozen=True)
class LoggedRun:
    """One world of a recording since its last reset. start: its state there, as the bytes of a snapshot."""

    scene: scene_pb2.Scene
    scene_name: str
    build: str
    start: bytes
    steps: list[LoggedStep]


def read_log(log: bytes, world: int = 0) -> LoggedRun:
    """What happened to a world since its last reset. Raises EpisodeError for bytes that are no recording, or hold less than its steps."""
    header: Optional[tuple[scene_pb2.Scene, str, str]] = None
    state, steps = b"", list[LoggedStep]()
    for kind, of_world, record in _checked(log):
        reader = _Reader(record[_FRAME_BYTES:])
        if kind == _HEADER:
            header = reader.header()
        elif kind == _MIGRATED or of_world != world:
            continue
        elif kind == _STATE:
            state, steps = reader.state(), []
        elif kind in (_STEP, _BATCH_STEP):
            steps.append(reader.step())
        else:
            raise EpisodeError("the recording holds a state in place of the steps that led there")
    if header is None or not state:
        raise EpisodeError(f"this is no recording of a session, or it has no world {world}")
    scene, name, build = header
    return LoggedRun(scene, name, build, _snapshot(name, build, state), steps)


def _checked(log: bytes) -> list[tuple[int, int, bytes]]:
    try:
        return list(records(log))
    except EipcError as error:
        raise EpisodeError(f"this is no recording of a session, or it is cut short ({error})") from None


def _snapshot(scene: str, build: str, state: bytes) -> bytes:
    """As PackSnapshot of server/session/snapshot.h."""
    payload = b"".join(struct.pack("<Q", len(part)) + part for part in (scene.encode(), build.encode(), state))
    packed = _SNAPSHOT_MARK + struct.pack("<IQ", _SNAPSHOT_VERSION, len(payload)) + payload
    return packed + struct.pack("<I", zlib.crc32(packed))


def record_again(run: LoggedRun, client: Client, recorder: Recorder, task: str = "", threads: int = 1) -> tuple[Path, Optional[int]]:
    """Takes the steps of a recording on a server and records them as an episode.

    The action of a step is where all frames of the scene are commanded after it, seven numbers each (m, and a quaternion w x y z). Returns
    the episode's path, and the first request, from 1, that leads to another state than the recorded one; None: all lead to the same, bit
    for bit. Steps that a time limit ended lead elsewhere: where that was depended on the machine's speed. Raises EpisodeError for a
    recording without steps, EipcError for a step that fails.
    """
    if not run.steps:
        raise EpisodeError("the recording has no steps")
    scene = client.create_scene(run.scene)
    if scene.name != run.scene_name:
        raise EpisodeError(f"the scene is {scene.name}, it was {run.scene_name}: the server's build reads it otherwise, or mesh files have changed")
    parted: Optional[int] = None
    with scene.create_session(threads=threads, snapshot=run.start) as session:
        names = _Names(session.state(_SEEN), run.scene)
        with recorder.episode(session, task=task) as episode:
            for number, step in enumerate(run.steps, 1):
                request = names.request(step)
                seen = _take(client, session, request, episode.observe(_SEEN))
                episode.record(seen, _commanded(seen), request)
                if parted is None and seen.state_digest != step.digest:
                    parted = number
    return episode.path, parted


def _take(client: Client, session: Session, request: service_pb2.StepRequest, observe: Observe) -> Observation:
    request.session = session.name
    request.observe.CopyFrom(observe.to_message())
    return observation_from_message(client._call(client._stub.Step, request, None).observation)


def _commanded(seen: Observation) -> np.ndarray:
    poses = [pose.commanded for pose in seen.boundary_poses.values()]
    return np.concatenate([np.concatenate([pose.position, pose.orientation]) for pose in poses]) if poses else np.zeros(0)


class _Names:
    """What the numbers of frames and drives name."""

    def __init__(self, seen: Observation, scene: scene_pb2.Scene) -> None:
        self._frames, self._sliders = list(seen.boundary_poses), list(seen.drives)
        self._joints = [joint.name for joint in scene.joints]

    def request(self, step: LoggedStep) -> service_pb2.StepRequest:
        request = service_pb2.StepRequest(dt_s=step.dt, substeps=step.substeps)
        for frame, pose in step.targets:
            body, boundary_set = self._frames[frame]
            request.targets.add(body=body, boundary_set=boundary_set, pose=pose)
        for frame, trajectory in step.trajectories:
            body, boundary_set = self._frames[frame]
            request.trajectories.add(body=body, boundary_set=boundary_set, trajectory=trajectory)
        for drive, motion in step.drives:
            if drive < len(self._sliders):
                body, boundary_set = self._sliders[drive]
                request.drives.add(body=body, boundary_set=boundary_set, motion=motion)
            else:
                request.drives.add(joint=self._joints[drive - len(self._sliders)], motion=motion)
        return request


class _Reader:
    """The values of one record, little-endian (sim/base/byte_archive.h). Raises EpisodeError where they end too early."""

    def __init__(self, record: bytes) -> None:
        self._record, self._at = record, 0
        self._version, _ = self._values("<BB")
        if not _WITHOUT_DRIVES <= self._version <= _VERSION:
            raise EpisodeError(f"the recording is of version {self._version}; this client reads up to {_VERSION}")

    def _values(self, form: str) -> tuple[Any, ...]:
        try:
            values = struct.unpack_from(form, self._record, self._at)
        except struct.error:
            raise EpisodeError("a record of the recording is cut short") from None
        self._at += struct.calcsize(form)
        return values

    def _text(self) -> bytes:
        (size,) = self._values("<Q")
        text, self._at = self._record[self._at:self._at + size], self._at + size
        if len(text) != size:
            raise EpisodeError("a record of the recording is cut short")
        return text

    def _each(self, one: Callable[[], Any]) -> list[Any]:
        (count,) = self._values("<Q")
        return [one() for _ in range(min(count, len(self._record)))]

    def header(self) -> tuple[scene_pb2.Scene, str, str]:
        name, payload, build = self._text(), self._text(), self._text()
        return scene_pb2.Scene.FromString(payload), name.decode(), build.decode()

    def state(self) -> bytes:
        self._values("<i")
        return self._text()

    def step(self) -> LoggedStep:
        _, dt, substeps = self._values("<idi")
        targets, trajectories = self._each(self._target), self._each(self._trajectory)
        digest, _, _, _ = (self._text() for _ in range(4))
        drives = self._each(self._drive) if self._version > _WITHOUT_DRIVES else []
        ended_at = self._each(lambda: self._values("<q")) if self._version > _WITHOUT_TIME_LIMITS else []
        return LoggedStep(dt, substeps, digest.decode(), targets, trajectories, drives, bool(ended_at))

    def _pose(self) -> geometry_pb2.Pose:
        px, py, pz, x, y, z, w = self._values("<7d")
        return geometry_pb2.Pose(position_m=geometry_pb2.Vec3(x=px, y=py, z=pz), quaternion=geometry_pb2.Quaternion(w=w, x=x, y=y, z=z))

    def _target(self) -> tuple[int, geometry_pb2.Pose]:
        (frame,) = self._values("<i")
        return frame, self._pose()

    def _trajectory(self) -> tuple[int, scene_pb2.Trajectory]:
        (frame,) = self._values("<i")
        trajectory = scene_pb2.Trajectory()
        if self._version > _WITHOUT_DRIVES:
            trajectory.interpolation = self._values("<i")[0] + 1  # the message counts from an unset one
        for time, pose in self._each(lambda: (self._values("<d")[0], self._pose())):
            trajectory.keyframes.add(time_s=time, pose=pose)
        return frame, trajectory

    def _drive(self) -> tuple[int, scene_pb2.DriveMotion]:
        drive, mode, interpolation = self._values("<iii")
        motion = scene_pb2.DriveMotion(mode=mode + 1, interpolation=interpolation + 1)
        for time, value in self._each(lambda: self._values("<dd")):
            motion.keys.add(time_s=time, value=value)
        return drive, motion
