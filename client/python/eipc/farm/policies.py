"""Policies to begin with: `eipc evaluate --policy eipc.farm.policies:Random`."""

from __future__ import annotations

from typing import Any

import numpy as np


class Schedule:
    """Of scene files: commands nothing, so that frames follow the scene's trajectories."""

    def __repr__(self) -> str:
        return "Schedule()"

    def act(self, observation: Any) -> None:
        return None


class Still:
    """Of the grasping environments: the gripper stays where it starts."""

    def __repr__(self) -> str:
        return "Still()"

    def act(self, observation: Any) -> np.ndarray:
        return np.zeros(4)


class Random:
    """Of the grasping environments: uniform actions, drawn from the episode's seed."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def __repr__(self) -> str:
        return "Random()"

    def reset(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def act(self, observation: Any) -> np.ndarray:
        return self._random.uniform(-1, 1, 4)


class Scripted:
    """Of the grasping environments with the observation "state": moves over the object, closes, and lifts it. It knows the task; a
    teacher for policies that learn from demonstrations."""

    def __init__(self) -> None:
        self._step = 0

    def __repr__(self) -> str:
        return f"Scripted(step {self._step})"

    def reset(self, seed: int) -> None:
        self._step = 0

    def act(self, observation: Any) -> np.ndarray:
        """observation: [26], or [W,26] of worlds whose episodes began together, or a mapping with it under "state" or
        "environment_state". Returns [4] or [W,4]."""
        if not isinstance(observation, np.ndarray):
            observation = observation["state"] if "state" in observation else observation["environment_state"]
        offset = np.asarray(observation[..., 4:6], dtype=np.float64)  # of the object from the middle of the gripper, m
        over = (np.abs(offset) < 0.004).all(axis=-1)
        action = np.zeros((*offset.shape[:-1], 4))
        action[..., 0] = over | (self._step > 10)
        action[..., 1:3] = np.clip(20 * offset, -1, 1)
        action[..., 3] = -0.5 if self._step < 14 else 0.6 * (self._step >= 28)
        self._step += 1
        return action
