"""Policies to begin with: `eipc evaluate --policy eipc.farm.policies:Random`."""

from __future__ import annotations

from typing import Any

import numpy as np


class Schedule:
    """Of scene files: commands nothing, so that frames follow the scene's trajectories."""

    def act(self, observation: Any) -> None:
        return None


class Still:
    """Of the grasping environments: the gripper stays where it starts."""

    def act(self, observation: Any) -> np.ndarray:
        return np.zeros(4)


class Random:
    """Of the grasping environments: uniform actions, drawn from the episode's seed."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def reset(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def act(self, observation: Any) -> np.ndarray:
        return self._random.uniform(-1, 1, 4)
