"""`eipc record`: episodes of a scene that follows its own motion, or of a policy in an environment."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Optional

import numpy as np

from ..client import Client
from ..envs import EipcVectorEnv, make_vec
from ..errors import EpisodeError
from ..farm.policy import Policy, load_policy
from ..recorder import Recorder
from ..scene_source import load_scene
from .env_options import add_env_option, env_options
from .servers import add_server_option, client_of


def add_commands(commands: Any) -> None:
    record = commands.add_parser(
        "record", help="record episodes of a scene, or of a policy in an environment",
        description="Records episodes, a crash-safe file each, that `eipc replay`, `diff`, `verify` and `export` read. A scene follows the "
        "motion that it prescribes; in an environment a policy acts.")
    record.add_argument("scene", metavar="SCENE", help="a scene file, or the id of an environment (eipc/Grasp-v0)")
    record.add_argument("--out", type=Path, default=Path("episodes"), metavar="FOLDER", help="default: episodes; new ones are added")
    record.add_argument("--policy", metavar="MODULE[:NAME]", help="of an environment: has act(observation) and, optionally, reset(seed)")
    record.add_argument("--episodes", type=int, default=1, help="how many (default 1)")
    record.add_argument("--seed", type=int, default=0, help="of the first; the next has the next")
    record.add_argument("--worlds", type=int, default=1, help="of an environment: stepped together (default 1)")
    record.add_argument("--max-steps", type=int, help="of an episode; default: the environment's, or the scene's duration")
    record.add_argument("--dt", type=float, help="of a step of a scene, s; default: the scene's")
    record.add_argument("--observations", default="state", help="of an environment: groups, separated by commas (default: state)")
    record.add_argument("--task", default="", help="of a scene: what is done, in words")
    record.add_argument("--no-log", action="store_true", help="of a scene: without what `eipc verify` replays offline")
    add_env_option(record)
    add_server_option(record)
    record.set_defaults(command=_record)


def _record(options: argparse.Namespace) -> int:
    if options.episodes < 1 or options.worlds < 1:
        raise EpisodeError("--episodes and --worlds are at least 1")
    is_scene = Path(options.scene).is_file()
    if not is_scene and Path(options.scene).suffix:
        raise EpisodeError(f"{options.scene}: there is no such file")
    if is_scene and options.policy:
        raise EpisodeError("a policy acts in an environment (eipc/Grasp-v0), not in a scene file, whose motion is prescribed")
    if not is_scene and not options.policy:
        raise EpisodeError(f"who acts in {options.scene}? Name a --policy, for example eipc.farm.policies:Random")
    with client_of(options) as client, Recorder(options.out) as recorder:
        for lost in recorder.lost:
            print(f"lost: episode {lost.number} (seed {lost.seed}), which an earlier recorder did not finish")
        if is_scene:
            _record_scene(options, client, recorder)
        else:
            _record_policy(options, client, recorder)
    return 0


def _record_scene(options: argparse.Namespace, client: Client, recorder: Recorder) -> None:
    message = load_scene(options.scene)
    dt = options.dt or message.schedule.dt_s
    if dt <= 0:
        raise EpisodeError(f"{options.scene} has no schedule.dt_s: give --dt")
    steps = options.max_steps or round(message.schedule.duration_s / dt)
    if steps < 1:
        raise EpisodeError(f"{options.scene} has no schedule.duration_s: give --max-steps")
    scene = client.create_scene(message)
    for number in range(options.episodes):
        with scene.create_session(record=not options.no_log) as session:
            with recorder.episode(session, seed=options.seed + number, task=options.task or message.display_name) as episode:
                for step in range(1, steps + 1):
                    episode.step(dt)
                    episode.mark(done=step == steps)
        print(f"{episode.path}: {steps} steps of {dt:g} s")


def _record_policy(options: argparse.Namespace, client: Client, recorder: Recorder) -> None:
    worlds = min(options.worlds, options.episodes)
    groups = tuple(options.observations.split(","))
    policies = [load_policy(options.policy) for _ in range(worlds)]
    env = make_vec(options.scene, worlds, max_episode_steps=options.max_steps, server=client, autoreset_mode="DISABLED", record=recorder,
                   observations=groups[0] if len(groups) == 1 else groups, **env_options(options.env_option))
    with env:
        _Rollout(env, policies, range(options.seed, options.seed + options.episodes)).run()


class _Rollout:
    """Episodes with given seeds, in as many worlds as there are; worlds that have none left go on without being recorded."""

    def __init__(self, env: EipcVectorEnv, policies: list[Policy], seeds: range) -> None:
        self._env, self._policies, self._seeds = env, policies, iter(seeds)
        self._left = len(seeds)
        self._seed_of: list[Optional[int]] = [None] * env.num_envs

    def run(self) -> None:
        env = self._env
        everyone = np.ones(env.num_envs, dtype=bool)
        observation = self._begin(everyone)
        while self._left:
            actions = np.stack([np.asarray(policy.act(_row(observation, world)), dtype=np.float64)
                                for world, policy in enumerate(self._policies)])
            observation, _, terminated, truncated, info = env.step(actions)
            over = terminated | truncated
            for world in np.flatnonzero(over):
                self._report(int(world), info)
            if over.any() and self._left:
                observation = self._begin(over)

    def _begin(self, mask: np.ndarray) -> Any:
        seeds: list[Optional[int]] = [None] * self._env.num_envs
        assert self._env.recording is not None
        for world in np.flatnonzero(mask).tolist():
            seeds[world] = self._seed_of[world] = next(self._seeds, None)
            self._env.recording.wanted[world] = seeds[world] is not None
            reset: Any = getattr(self._policies[world], "reset", None)
            if reset is not None:
                reset(seeds[world] or 0)
        return self._env.reset(seed=seeds, options={"reset_mask": mask})[0]

    def _report(self, world: int, info: Any) -> None:
        seed = self._seed_of[world]
        if seed is None:
            return
        self._left -= 1
        how = "failed, not kept: " + str(info["failure"][world]) if info["failed"][world] else "success" if info["is_success"][world] else "no success"
        print(f"seed {seed}: {info['elapsed_steps'][world]} steps, {how}")


def _row(observation: Any, world: int) -> Any:
    return {name: values[world] for name, values in observation.items()} if isinstance(observation, dict) else observation[world]
