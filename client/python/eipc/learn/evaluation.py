"""How often a policy succeeds, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..envs import EipcVectorEnv
from ..farm.statistics import wilson
from .policies import VectorPolicy
from .rollouts import run_episodes


@dataclass(frozen=True)
class Rate:
    """successes of `episodes`; low, high: Wilson's interval of 95 %. mean_return: of all episodes."""

    successes: int
    episodes: int
    low: float
    high: float
    mean_return: float

    @property
    def rate(self) -> float:
        return self.successes / self.episodes

    def __str__(self) -> str:
        return f"{100 * self.rate:.0f} % of {self.episodes} episodes succeed ({100 * self.low:.0f} to {100 * self.high:.0f} %)"


def success_rate(env: EipcVectorEnv, policy: VectorPolicy, episodes: int, first_seed: int) -> Rate:
    """Of episodes with the seeds from first_seed on. episodes: rounded up to a multiple of the number of worlds."""
    rounds = -(-episodes // env.num_envs)
    success, returns = [], []
    for k in range(rounds):
        begin = first_seed + k * env.num_envs
        done = run_episodes(env, policy.actions, range(begin, begin + env.num_envs))
        success.append(done.success)
        returns.append(done.returns)
    count = int(np.concatenate(success).sum())
    total = rounds * env.num_envs
    return Rate(count, total, *wilson(count, total), float(np.concatenate(returns).mean()))
