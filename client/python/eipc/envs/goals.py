"""The goals of scenes for many worlds at once; single runs are measured by sim/sensor/goals.cc."""

from __future__ import annotations

from typing import Mapping, Sequence

import numpy as np

from ..client import BodyInfo
from ..geometry import Pose
from ..v1 import geometry_pb2, scene_pb2
from .rotations import turned, turned_back
from .stacked import WorldArrays


class SceneGoals:
    """Values and tolerances of the goals of a scene, but for their from_s: all are of the present state."""

    def __init__(self, scene: scene_pb2.Scene, bodies: Mapping[str, BodyInfo], order: Sequence[str], radius_m: float) -> None:
        """order: of the bodies in states. radius_m: of a ball about the centre of mass that holds the object: its farthest
        point moves at most as fast as the centre and the rotation allow."""
        self._goals, self._order, self._radius = list(scene.goals), list(order), radius_m
        authored = {body.name: Pose.from_message(body.pose) for body in scene.bodies}
        # Of the centre of mass, in the authored mesh frame: frames of bodies have its axes.
        self._center = {name: authored[name].inverse().apply(bodies[name].center_of_mass) for name in order}

    @property
    def names(self) -> list[str]:
        return [goal.name for goal in self._goals]

    @property
    def tolerances(self) -> np.ndarray:
        """[G], in the unit of each: m, rad, m/s."""
        return np.array([_tolerance(goal) for goal in self._goals])

    def __repr__(self) -> str:
        return f"SceneGoals({', '.join(self.names)})"

    def values(self, state: WorldArrays) -> np.ndarray:
        """[W,G]: a goal is reached where its value is at most its tolerance."""
        return np.stack([self._value(goal, state) for goal in self._goals], axis=1)

    def _value(self, goal: scene_pb2.Goal, state: WorldArrays) -> np.ndarray:
        body = self._order.index(goal.body)
        position, orientation = state.position[:, body], state.orientation[:, body]
        measure = goal.WhichOneof("measure")
        if measure == "speed":
            velocity = state.velocity[:, body]
            return np.linalg.norm(velocity[:, :3], axis=1) + self._radius * np.linalg.norm(velocity[:, 3:], axis=1)
        if measure == "direction":
            axis = turned(orientation, _unit(goal.direction.axis))
            direction = _unit(goal.direction.direction)
            if goal.relative_to:
                direction = turned(state.orientation[:, self._order.index(goal.relative_to)], direction)
            return np.arctan2(np.linalg.norm(np.cross(axis, direction), axis=1), (axis * direction).sum(axis=1))
        point = position
        if goal.position.HasField("point_m"):
            point = turned(orientation, _vector(goal.position.point_m) - self._center[goal.body]) + position
        if goal.relative_to:
            other = self._order.index(goal.relative_to)
            point = turned_back(state.orientation[:, other], point - state.position[:, other]) + self._center[goal.relative_to]
        low, high = _vector(goal.position.region.min_m), _vector(goal.position.region.max_m)
        return np.linalg.norm(np.maximum(np.maximum(low - point, point - high), 0), axis=1)


def _tolerance(goal: scene_pb2.Goal) -> float:
    measure = goal.WhichOneof("measure")
    return {"position": goal.position.tolerance_m, "direction": goal.direction.tolerance_rad, "speed": goal.speed.tolerance_m_s}[measure]


def _vector(message: geometry_pb2.Vec3) -> np.ndarray:
    return np.array([message.x, message.y, message.z])


def _unit(message: geometry_pb2.Vec3) -> np.ndarray:
    vector = _vector(message)
    return vector / np.linalg.norm(vector)
