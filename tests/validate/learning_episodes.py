"""Episodes of `eipc/Grasp-v0` that studies of the learning stack repeat under other circumstances, and their digests."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np

from eipc_cli import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "client" / "python"))
from eipc.envs import EipcVectorEnv, make_vec  # noqa: E402
from eipc.farm.policies import Scripted  # noqa: E402

ENVIRONMENT = "eipc/Grasp-v0"
SCALE = float(os.environ.get("EIPC_LEARNING_SCALE", "1"))
# Digests of an episode: of its start, and after each action.
Digests = dict[int, list[str]]


def scaled(count: int, least: int = 1) -> int:
    return max(least, round(count * SCALE))


@contextlib.contextmanager
def environment(server: Path, worlds: int, max_steps: int, **options: Any) -> Iterator[EipcVectorEnv]:
    """Worlds on a server of their own, which the environment starts again when it ends. options: of make_vec."""
    before = os.environ.get("EIPC_SERVER")
    os.environ["EIPC_SERVER"] = str(server)
    try:
        with make_vec(ENVIRONMENT, worlds, max_episode_steps=max_steps, autoreset_mode="DISABLED", **options) as env:
            yield env
    finally:
        if before is None:
            del os.environ["EIPC_SERVER"]
        else:
            os.environ["EIPC_SERVER"] = before


def play(env: EipcVectorEnv, episodes: int, before_step: Callable[[int], None] = lambda step: None,
         ended: Callable[[int], None] = lambda seed: None) -> Digests:
    """Episodes of the scripted policy with the seeds 0, 1, 2 and so on, as many at a time as there are worlds.

    before_step: called with the number of the step of the environment. ended: called with the seed of an episode as soon as step() has
    said that it is over. A world without an episode left rests at its last state.
    """
    found: Digests = {}
    policies = [Scripted() for _ in range(env.num_envs)]
    seeds: list[int] = [-1] * env.num_envs
    waiting = iter(range(episodes))
    observation = np.zeros(0)
    over = np.ones(env.num_envs, dtype=bool)
    step = done = 0
    while True:
        if over.any():
            for world in np.flatnonzero(over).tolist():
                seeds[world] = next(waiting, -1)
                policies[world].reset(0)
                if env.recording is not None:
                    env.recording.wanted[world] = seeds[world] >= 0
            observation, info = env.reset(seed=[max(seed, 0) for seed in seeds], options={"reset_mask": over})
            for world in np.flatnonzero(over).tolist():
                if seeds[world] >= 0:
                    found[seeds[world]] = [info["state_digest"][world]]
        before_step(step)
        observation, _, terminated, truncated, info = env.step(np.stack([p.act(seen) for p, seen in zip(policies, observation)]))
        over, step = terminated | truncated, step + 1
        for world, seed in enumerate(seeds):
            if seed < 0:
                continue
            found[seed].append(info["state_digest"][world])
            if over[world]:
                ended(seed)
                done += 1
        if done == episodes:
            return found


def different(one: Digests, other: Digests) -> int:
    """Episodes that are not the same to the last bit of every state, or are absent from one of the two."""
    return sum(one.get(seed) != other.get(seed) for seed in one.keys() | other.keys())
