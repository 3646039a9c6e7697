"""Episodes of a policy in the worlds of a vector environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

import numpy as np

from ..envs import EipcVectorEnv
from ..shown import brief


@brief
@dataclass(frozen=True, eq=False)
class Episodes:
    """Of W worlds: the sum of rewards [W], whether the goal was reached [W], and the steps [W]."""

    returns: np.ndarray
    success: np.ndarray
    steps: np.ndarray


def run_episodes(env: EipcVectorEnv, act: Callable[[np.ndarray], np.ndarray], seeds: Sequence[int]) -> Episodes:
    """One episode in each world, with its seed. env: observes "state", and resets in the mode NEXT_STEP. act: observations [W,26] ->
    actions [W,4]. What worlds do whose episode is over does not count."""
    observations, _ = env.reset(seed=list(seeds))
    count = env.num_envs
    returns, success, steps = np.zeros(count), np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
    running = np.ones(count, dtype=bool)
    while running.any():
        actions = np.where(running[:, None], act(observations), 0.0)
        observations, rewards, terminated, truncated, _ = env.step(actions)
        returns[running] += rewards[running]
        steps[running] += 1
        success |= running & terminated
        running &= ~(terminated | truncated)
    return Episodes(returns, success, steps)
