"""Take a plate out of a stand with soft fingers and set it into a slot of a rack."""

from __future__ import annotations

from typing import Mapping

import numpy as np

from ..client import BodyInfo, Client
from ..scene_source import load_scene
from ..v1 import scene_pb2
from ..viz import Camera
from .goals import SceneGoals
from .grasp_task import finger_starts
from .gripper import Gripper
from .scene_files import model_file
from .stacked import WorldArrays
from .task import Episodes, Score, Task, Timing

_PLATE_RADIUS_M = 0.11  # of a ball about the plate's middle that holds it


class PlateTask(Task):
    """The goals of the scene (in a slot, standing, at rest), reached by a plate that no finger touches."""

    description = "take the plate out of the stand, set it into a slot of the rack and let go"

    def __init__(self, scene: scene_pb2.Scene, gripper: Gripper, timing: Timing, bodies: Mapping[str, BodyInfo],
                 spread: tuple[float, float, float] = (0.005, 0.004, 0.010)) -> None:
        """spread: of the gripper's start, m, at most so far from the scene's in x, y and z."""
        super().__init__(scene, "plate", gripper, timing, bodies, others=("rack",))
        self.spread = np.array(spread)
        self.goals = SceneGoals(scene, bodies, self.layout.bodies, _PLATE_RADIUS_M)
        self._slot = self.goals.names.index("in_slot")
        self._upright = self.goals.names.index("standing")
        self._distance_m = 0.25  # about the distance of the plate from its slot at the start

    def draw(self, random: np.random.Generator) -> np.ndarray:
        return np.concatenate([[0.0], random.uniform(-1, 1, 3) * self.spread])

    def score(self, state: WorldArrays, episodes: Episodes) -> Score:
        """Potential: 0.2 for a plate that both fingers hold or that is in its slot, 0.6 for its approach to the slot, 0.2 for standing there."""
        values = self.goals.values(state)
        reached = values <= self.goals.tolerances
        pressed = self.pressed(state)
        placed = reached[:, self._slot]
        approach = 1 - np.clip(values[:, self._slot] / self._distance_m, 0, 1)
        potential = 0.2 * (pressed.all(axis=1) | placed) + 0.6 * approach + 0.2 * (placed & reached[:, self._upright])
        touched = (state.contacts[:, :2].sum(axis=2) > 0).any(axis=1)
        figures = {f"goal_{name}": values[:, g] for g, name in enumerate(self.goals.names)}
        return Score(potential, reached.all(axis=1) & ~touched, {**figures, "pads": pressed.sum(axis=1)})

    def camera(self) -> Camera:
        return Camera(eye=(0.25, -0.85, 0.5), target=(-0.03, 0.0, 0.14), vertical_fov_deg=35)


def plate_in_rack(client: Client) -> PlateTask:
    """The FinRay gripper, the plate and the rack of models/scenes/finray_plate.textproto. client: of the server that is to run it."""
    message = load_scene(model_file("scenes/finray_plate.textproto"))
    poses = finger_starts(message)
    gripper = Gripper.of(list(poses), list(poses.values()), low=[0, -0.03, -0.02, -0.07], high=[0.045, 0.25, 0.02, 0.07],
                         speed=[0.08, 0.25, 0.05, 0.15])
    return PlateTask(message, gripper, Timing(0.02, 2, 10, 200), client.validate_scene(message).bodies)
