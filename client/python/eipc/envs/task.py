"""What a task of two fingers and an object consists of: its scene, its start, what is seen, and how well it goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

import numpy as np

from ..client import BodyInfo
from ..shown import brief
from ..v1 import scene_pb2
from ..viz import Camera
from .gripper import Gripper
from .rotations import matrices
from .stacked import Layout, WorldArrays


@dataclass(frozen=True)
class Timing:
    """dt_s: of a step of the simulation. substeps: of these an action holds for. settle_substeps: that a reset takes to
    bring the gripper to its drawn start. max_episode_steps: actions of an episode. hold_steps: how many actions long the
    goal has to be met."""

    dt_s: float
    substeps: int
    settle_substeps: int
    max_episode_steps: int
    hold_steps: int = 5

    @property
    def action_s(self) -> float:
        return self.dt_s * self.substeps

    @property
    def fps(self) -> int:
        return round(1 / self.action_s)


@brief
@dataclass(frozen=True, eq=False)
class Score:
    """potential [k]: how near the goal is, from 0 to 1, of which rewards are differences. met [k]: whether the goal is met
    now. figures: [k] each, for `info`."""

    potential: np.ndarray
    met: np.ndarray
    figures: Mapping[str, np.ndarray] = field(default_factory=dict)


@brief
@dataclass(frozen=True, eq=False)
class Episodes:
    """What the worlds of an environment remember of their episodes: commands [W,4] of the grippers, and start [W,3], the
    object's position after the reset, m."""

    commands: np.ndarray
    start: np.ndarray


class Task:
    """A gripper and an object. Subclasses say where episodes begin and how they are scored."""

    description = ""
    hidden: tuple[str, ...] = ("ground",)  # bodies that pictures show as a plane

    def __init__(self, scene: scene_pb2.Scene, held: str, gripper: Gripper, timing: Timing, bodies: Mapping[str, BodyInfo],
                 others: tuple[str, ...] = ()) -> None:
        """scene: with inline meshes. held: the object. bodies: of the compiled scene. others: observed besides object and
        fingers."""
        self.scene, self.held, self.gripper, self.timing = scene, held, gripper, timing
        self.fingers = tuple(body for body, _ in gripper.frames)
        seen = {held, *self.fingers, *others}
        order = [body.name for body in scene.bodies if body.name in seen]
        pairs = [(held, finger) for finger in self.fingers] + [(held, other) for other in others]
        self.layout = Layout(order, pairs)
        self.held_at = order.index(held)
        g = scene.gravity_m_s2
        gravity = float(np.linalg.norm([g.x, g.y, g.z])) if scene.HasField("gravity_m_s2") else 9.81
        self.weight_n = gravity * bodies[held].mass_kg

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.held!r} held by {', '.join(self.fingers)})"

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """The gripper's command [4] at the start of an episode."""
        raise NotImplementedError

    def score(self, state: WorldArrays, episodes: Episodes) -> Score:
        """How well all worlds do."""
        raise NotImplementedError

    def pressed(self, state: WorldArrays) -> np.ndarray:
        """Which fingers press on the object with more than a twentieth of its weight, [W,2] bool."""
        return np.linalg.norm(state.wrench[:, :2, 0], axis=2) > 0.05 * self.weight_n

    def features(self, state: WorldArrays, episodes: Episodes) -> np.ndarray:
        """The observation "state" [W,26]: command in shares of its range [4]; the object's position from the middle of the
        gripper [3] m, two axes of its frame [6], linear and angular velocity [6] m/s, rad/s; force of each finger on it
        [6] N; its displacement since the start of the episode [1] m upwards."""
        h = self.held_at
        axes = matrices(state.orientation[:, h])[:, :, :2].transpose(0, 2, 1).reshape(-1, 6)
        force = state.wrench[:, :2, :2].sum(axis=2).reshape(-1, 6)
        parts = [self.gripper.shares(episodes.commands), state.position[:, h] - self.gripper.centers(episodes.commands), axes,
                 state.velocity[:, h], force, (state.position[:, h, 2] - episodes.start[:, 2])[:, None]]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def camera(self) -> Camera:
        """Where pictures are taken from."""
        middle = self.gripper.start[:, :3].mean(axis=0)
        target = np.array([middle[0], middle[1], 0.75 * middle[2] + 0.02])
        return Camera(eye=tuple(target + np.array([0.42, 0.26, 0.20])), target=tuple(target), vertical_fov_deg=35)
