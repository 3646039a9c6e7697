"""A gripper of two fingers: what an action does to the poses of their frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np

from ..geometry import Pose
from ..shown import brief
from .batch_request import FrameKey


@brief
@dataclass(frozen=True, eq=False)
class Gripper:
    """Two fingers that close towards each other and move together.

    frames: of the fingers. start [2,7]: their poses in the scene, m and quaternions. A command [4] is how far each finger
    has closed and how far the gripper has moved in x, y and z, m, since then; low, high [4] bound it, speed [4] m/s is the
    most by which it changes.
    """

    frames: tuple[FrameKey, ...]
    start: np.ndarray
    low: np.ndarray
    high: np.ndarray
    speed: np.ndarray

    @classmethod
    def of(cls, frames: Sequence[FrameKey], poses: Sequence[Pose], low: Sequence[float], high: Sequence[float],
           speed: Sequence[float]) -> "Gripper":
        start = np.array([[*pose.position, *pose.orientation] for pose in poses])
        return cls(tuple(frames), start, np.array(low), np.array(high), np.array(speed))

    @property
    def closing(self) -> np.ndarray:
        """Directions in which the fingers close, [2,3]."""
        across = self.start[1, :3] - self.start[0, :3]
        across = across / np.linalg.norm(across)
        return np.stack([across, -across])

    def next(self, commands: np.ndarray, actions: np.ndarray, duration_s: float) -> np.ndarray:
        """Commands [k,4] after actions [k,4] in [-1, 1]: shares of the speeds, for `duration_s` s."""
        return np.clip(commands + np.clip(actions, -1, 1) * self.speed * duration_s, self.low, self.high)

    def poses(self, commands: np.ndarray) -> np.ndarray:
        """Poses of the fingers' frames, [k,2,7]."""
        poses = np.repeat(self.start[None], len(commands), axis=0)
        poses[..., :3] += commands[:, None, 1:] + commands[:, :1, None] * self.closing
        return poses

    def centers(self, commands: np.ndarray) -> np.ndarray:
        """The middle between the fingers' frames, [k,3] m."""
        return self.start[:, :3].mean(axis=0) + commands[:, 1:]

    def shares(self, commands: np.ndarray) -> np.ndarray:
        """Commands in [-1, 1] of their ranges."""
        return 2 * (commands - self.low) / (self.high - self.low) - 1
