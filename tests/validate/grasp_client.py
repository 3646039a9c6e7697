"""Runs grasps through the server, for what only a client sees: forces over time, and where a body's surface lies."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

from eipc_cli import REPOSITORY, GraspCase
from validation import Context

CLIENT = REPOSITORY / "client" / "python"
for _folder in (CLIENT, CLIENT / "examples"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
import eipc  # noqa: E402
from grasp_recording import Recording  # noqa: E402
from grasp_task import GraspTask, read_task  # noqa: E402
from eipc.v1 import scene_pb2  # noqa: E402

_OBSERVE = eipc.Observe(contact_wrenches=True, contact_counts=True, min_distance=True, state_digest=True)


@dataclass(frozen=True, eq=False)
class GraspSeries:
    """A grasp over time, driven by the scene's own trajectories, the digest of its last state, and the scene's velocity of smoothed friction."""

    task: GraspTask
    recording: Recording
    state_digest: str
    creep_m_s: float

    def behind(self) -> np.ndarray:
        """[T] m: how much higher the fingers (their mean) are than the held body."""
        fingers = [np.mean([pose.position[2] for pose in self.task.targets(time).values()]) for time in self.recording.time_s]
        return np.array(fingers) - self.recording.position_m[:, self.recording.bodies.index(self.task.held), 2]

    def lift_off(self) -> int:
        """The first sample from which on nothing but the fingers carries the held body."""
        fingers = {body for body, _ in self.task.fingers}
        others = [self.recording.force_on(self.task.held, body) for body in self.recording.touching(self.task.held) if body not in fingers]
        carried = np.flatnonzero(np.abs(sum(others, np.zeros((len(self.recording.time_s), 3)))).max(axis=1) > 0)
        return int(carried[-1]) + 1 if len(carried) else 0


def grasp_series(context: Context, case: GraspCase) -> GraspSeries:
    """Steps a whole grasp on a server of its own."""
    return scene_series(context, case.scene, case.dt_s)


def scene_series(context: Context, path: Path, dt_s: float, change: Callable[[scene_pb2.Scene], None] = lambda scene: None) -> GraspSeries:
    """The same of a scene file that `change` has altered."""
    message = eipc.load_scene(path, data=context.data)
    change(message)
    with eipc.launch_server(context.server) as server, server.client(default_timeout=600.0) as client:
        scene = client.create_scene(message)
        task = read_task(scene.message, scene.summary)
        with scene.create_session() as session:
            observations = [session.state(_OBSERVE)]
            with session.stream() as stream:
                requests = ({"dt": dt_s, "observe": _OBSERVE} for _ in range(round(task.duration_s / dt_s)))
                observations.extend(stream.run(requests))
    return GraspSeries(task, Recording(observations, {}), observations[-1].state_digest, message.contact.friction_velocity_m_s)


def held_body(context: Context, case: GraspCase) -> tuple[str, slice]:
    """The body that the scene holds, and its vertices in the surface of the whole scene."""
    with eipc.launch_server(context.server) as server, server.client() as client:
        message = eipc.load_scene(case.scene, data=context.data)
        summary = client.validate_scene(message)
    first, held = 0, message.schedule.holding.body
    for name, body in summary.bodies.items():
        if name == held:
            return held, slice(first, first + body.surface_vertices)
        first += body.surface_vertices
    raise ValueError(f"{case.scene.name}: no body named {held!r}")
