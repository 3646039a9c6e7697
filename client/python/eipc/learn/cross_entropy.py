"""The cross-entropy method (Rubinstein 1999; with decreasing noise, Szita and Lőrincz 2006): a Gaussian over the parameters of a policy
moves to those that did best. Candidates act side by side, one a world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

from ..envs import EipcVectorEnv
from .policies import LinearPolicy
from .rollouts import run_episodes


@dataclass(frozen=True)
class CrossEntropySettings:
    """generations: at most. elite: share of the candidates that the Gaussian moves to. deviation: at the start, of every parameter.
    noise: added variance at the start, which decreases to none over the generations. enough: mean success of the candidates at which
    learning ends; above 1: never."""

    generations: int = 20
    elite: float = 0.2
    deviation: float = 0.8
    noise: float = 0.15
    enough: float = 0.95


@dataclass(frozen=True)
class Generation:
    """What the candidates of one generation reached, and the simulated steps so far."""

    number: int
    mean_return: float
    best_return: float
    success: float
    env_steps: int


def cross_entropy(env: EipcVectorEnv, seed: int, settings: CrossEntropySettings = CrossEntropySettings(),
                  report: Callable[[Generation], None] = lambda generation: None,
                  start: Optional[np.ndarray] = None) -> tuple[LinearPolicy, list[Generation]]:
    """Learns a linear policy over the worlds of an environment; every generation has as many candidates as there are worlds, all with
    the same start of the episode, which changes from generation to generation.

    seed: of everything that is drawn. start [60]: the Gaussian's mean, default zero: a gripper that stays where it is. Returns the
    policy of the last mean, and the learning curve. The same seed and settings give the same bits.
    """
    random = np.random.default_rng(seed)
    mean = np.zeros(LinearPolicy.PARAMETERS) if start is None else np.array(start, dtype=np.float64)
    deviation = np.full(LinearPolicy.PARAMETERS, settings.deviation)
    kept = max(2, round(settings.elite * env.num_envs))
    curve: list[Generation] = []
    steps = 0
    for number in range(settings.generations):
        candidates = mean + deviation * random.standard_normal((env.num_envs, LinearPolicy.PARAMETERS))
        done = run_episodes(env, LinearPolicy.of(candidates).actions, [int(random.integers(1 << 31))] * env.num_envs)
        steps += int(done.steps.sum())
        best = candidates[np.argsort(-done.returns, kind="stable")[:kept]]
        mean = best.mean(axis=0)
        extra = settings.noise * max(0.0, 1 - 1.5 * number / settings.generations)
        deviation = np.sqrt(best.var(axis=0) + extra)
        curve.append(Generation(number + 1, float(done.returns.mean()), float(done.returns.max()), float(done.success.mean()), steps))
        report(curve[-1])
        if done.success.mean() >= settings.enough:
            break
    return LinearPolicy.of(mean), curve
