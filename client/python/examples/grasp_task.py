"""What a grasp scene asks for: which body is held, along which finger paths, in which phases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import eipc
from eipc.v1 import scene_pb2

FrameKey = tuple[str, str]


class TaskError(Exception):
    """The scene is no grasp; the message says what is missing."""


@dataclass(frozen=True)
class GraspTask:
    """Times in s, weight in N. The holding window is where forces are averaged."""

    held: str
    weight_n: float
    fingers: dict[FrameKey, eipc.Trajectory]
    squeeze_end_s: float
    lift_end_s: float
    duration_s: float
    holding_start_s: float
    holding_end_s: float

    def targets(self, time_s: float) -> dict[FrameKey, eipc.Pose]:
        """Where the fingers should be."""
        return {key: path.at(time_s) for key, path in self.fingers.items()}

    @property
    def lift_m(self) -> float:
        """How far the fingers rise after the squeeze (the least of them)."""
        return float(min(path.at(self.duration_s).position[2] - path.at(self.squeeze_end_s).position[2]
                         for path in self.fingers.values()))

    def phase(self, time_s: float) -> str:
        return "squeeze" if time_s < self.squeeze_end_s else "lift" if time_s < self.lift_end_s else "hold"


def read_task(message: scene_pb2.Scene, summary: eipc.SceneSummary) -> GraspTask:
    """Reads the task from the scene: its boundary sets' keyframes, schedule and holding window. Raises TaskError."""
    fingers = {(body.name, boundary.name): eipc.Trajectory.from_message(boundary.trajectory)
               for body in message.bodies for boundary in body.boundary_sets if boundary.trajectory.keyframes}
    if not fingers:
        raise TaskError("no body of the scene has a boundary set with a trajectory to command")
    holding = message.schedule.holding
    if holding.body not in summary.bodies:
        raise TaskError("the scene's schedule names no body that is held (schedule.holding.body)")
    keys = sorted({float(t) for path in fingers.values() for t in path.times_s})
    if len(keys) < 3:
        raise TaskError("the fingers' trajectories need keyframes for the start, the end of the squeeze and of the lift")
    gravity = message.gravity_m_s2
    g = np.linalg.norm([gravity.x, gravity.y, gravity.z]) if message.HasField("gravity_m_s2") else 9.81
    return GraspTask(held=holding.body, weight_n=float(g * summary.bodies[holding.body].mass_kg), fingers=fingers,
                     squeeze_end_s=keys[1], lift_end_s=keys[2], duration_s=message.schedule.duration_s or keys[-1],
                     holding_start_s=holding.start_s, holding_end_s=holding.end_s)
