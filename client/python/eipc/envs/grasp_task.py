"""Grasp an object between two pads, lift it and hold it."""

from __future__ import annotations

from typing import Mapping

import numpy as np

from ..client import BodyInfo, Client
from ..geometry import Pose, Trajectory
from ..scene_source import load_scene
from ..v1 import scene_pb2
from .gripper import Gripper
from .scene_files import model_file
from .stacked import WorldArrays
from .task import Episodes, Score, Task, Timing


class GraspTask(Task):
    """The goal is met while the object is goal_m above where it lay, between both pads, which press on it."""

    description = "grasp the object, lift it and hold it"

    def __init__(self, scene: scene_pb2.Scene, held: str, gripper: Gripper, timing: Timing, bodies: Mapping[str, BodyInfo],
                 goal_m: float = 0.05, spread: tuple[float, float, float] = (0.010, 0.006, 0.020)) -> None:
        """spread: of the gripper's start, m: at most so far from the object in x and y, and above the scene's height."""
        super().__init__(scene, held, gripper, timing, bodies)
        self.goal_m, self.spread = goal_m, np.array(spread)

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """On a ground that is the same everywhere, a gripper that starts elsewhere is an object that lies elsewhere."""
        return np.concatenate([[0.0], random.uniform([-1, -1, 0], [1, 1, 1]) * self.spread])

    def score(self, state: WorldArrays, episodes: Episodes) -> Score:
        """Potential: 0.3 for pads that press, 0.7 for the part of the height that the object is lifted by both."""
        rise = state.position[:, self.held_at, 2] - episodes.start[:, 2]
        pads = self.pressed(state)
        both = pads.all(axis=1)
        part = np.clip(rise / self.goal_m, 0, 1)
        potential = 0.3 * pads.mean(axis=1) + 0.7 * part * both
        return Score(potential, both & (rise >= self.goal_m), {"rise_m": rise, "pads": pads.sum(axis=1)})


def bubble_grasp(client: Client) -> GraspTask:
    """The teddy bear between two soft bubbles, with a cage of 34 vertices. client: of the server that is to run it."""
    message = load_scene(model_file("scenes/bubble_teddy_low_sound.textproto"))
    poses = finger_starts(message)
    gripper = Gripper.of(list(poses), list(poses.values()), low=[0, -0.04, -0.04, 0], high=[0.042, 0.04, 0.04, 0.16],
                         speed=[0.06, 0.06, 0.06, 0.1])
    bodies = client.validate_scene(message).bodies
    return GraspTask(message, "teddy", gripper, Timing(0.02, 2, 10, 100), bodies)


def finger_starts(scene: scene_pb2.Scene) -> dict[tuple[str, str], Pose]:
    """Poses at the start of the boundary sets that move; of the fingers, in scenes of grippers."""
    return {(body.name, boundary.name): Trajectory.from_message(boundary.trajectory).at(0)
            for body in scene.bodies for boundary in body.boundary_sets if boundary.trajectory.keyframes}
