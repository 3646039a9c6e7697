"""A single environment: a view of a vector environment of one world."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

import numpy as np

from ..client import Client
from . import gym_api
from .infos import of_world
from .observations import row
from .task import Task
from .vector_env import EipcVectorEnv


class EipcEnv(gym_api.Env):
    """One world of a task, with Gymnasium's interface. It is world 0 of an EipcVectorEnv with the same seed, bit for bit."""

    metadata: dict[str, Any] = dict(EipcVectorEnv.metadata)

    def __init__(self, task: Callable[[Client], Task], **options: Any) -> None:
        """Arguments of EipcVectorEnv, without num_envs and autoreset_mode."""
        self.vector = EipcVectorEnv(task, 1, autoreset_mode="DISABLED", **options)
        self.metadata = {key: value for key, value in self.vector.metadata.items() if key != "autoreset_mode"}
        self.render_mode = self.vector.render_mode
        self.observation_space, self.action_space = self.vector.single_observation_space, self.vector.single_action_space
        self.max_episode_steps = self._max_episode_steps = self.vector.max_episode_steps
        self.task, self.task_description = self.vector.task, self.vector.task_description

    def __repr__(self) -> str:
        return f"EipcEnv({self.task!r}, at {self.vector._connection.client.address})"

    def reset(self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode. seed: of where it begins; None: random numbers go on."""
        observation, info = self.vector.reset(seed=seed)
        self._np_random, self._np_random_seed = self.vector._np_random, self.vector._np_random_seed
        return row(observation, 0), of_world(info, 0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Acts. action [4] as a row of EipcVectorEnv.step. Returns observation, reward, terminated, truncated, info."""
        action = np.asarray(action, dtype=np.float64)
        if action.shape != (4,):
            raise ValueError(f"the action has shape {action.shape}, and must have (4,)")
        observation, reward, terminated, truncated, info = self.vector.step(action[None])
        return row(observation, 0), float(reward[0]), bool(terminated[0]), bool(truncated[0]), of_world(info, 0)

    def render(self) -> Optional[np.ndarray]:
        """A picture, see EipcVectorEnv.render."""
        pictures = self.vector.render()
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        """May be called more than once."""
        self.vector.close()
