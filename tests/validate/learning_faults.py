"""Bits of environments: on other threads and servers, beside a world that fails, and when their server is killed."""

from __future__ import annotations

import functools
import random
import signal
import time
from typing import Any

import numpy as np

from learning_episodes import Digests, different, environment, play, scaled
from page import Page
from validation import Context, Record, at_least, equal, reported

import eipc
from eipc.envs import EipcVectorEnv, servers
from eipc.episode import episode_paths

EPISODES, WORLDS, MAX_STEPS = 100, 10, 80
ISOLATED_WORLDS, ISOLATED_STEPS, FAILING_WORLD = 64, 30, 37
KILLS, KILLED_EPISODES, KILL_SEED = 8, 32, 5


def digests(context: Context, page: Page) -> list[Record]:
    """The same seeds and policy give the same states on 1 and 2 threads, on another server, and when the server is killed meanwhile."""
    episodes, worlds = scaled(EPISODES, 3), min(WORLDS, scaled(EPISODES, 3))
    with environment(context.server, worlds, MAX_STEPS) as env:
        alone = play(env, episodes)
    with environment(context.server, worlds, MAX_STEPS, threads=2) as env:
        threads = play(env, episodes)
    with environment(context.server, worlds, MAX_STEPS) as env:
        middle = sum(map(len, alone.values())) // (2 * worlds)
        restarted = play(env, episodes, before_step=lambda step: _kill() if step == middle else None)
        restarts = env.worlds.restarts
    page.section("Digests of episodes")
    page.text(f"""{episodes} episodes of the scripted policy in `eipc/Grasp-v0`, {worlds} worlds at a time. The digests of the start and of the state
        after each action are compared with those of one thread: with two threads in the step of a world on another server, and with a
        server that is killed in the middle and started again, from whose last snapshots the worlds go on.""")
    return [equal("digests.episodes", len(alone), episodes), reported("digests.states", sum(map(len, alone.values()))),
            equal("digests.distinct_episodes", len({tuple(one) for one in alone.values()}), episodes),
            equal("digests.different_on_2_threads", different(alone, threads), 0),
            equal("digests.restarts", restarts, 1),
            equal("digests.different_after_a_restart", different(alone, restarted), 0)]


def _kill() -> None:
    """kill -9 of the server that the environments of this process share."""
    process = servers.SHARED.process().process
    process.send_signal(signal.SIGKILL)
    process.wait()


def isolation(context: Context, page: Page) -> list[Record]:
    """One world of many fails; all others are the same, to the bit, as if it had not."""
    steps = scaled(ISOLATED_STEPS, 6)
    undisturbed, _ = _steps(context, steps, "")
    records = [reported("isolation.worlds", ISOLATED_WORLDS), reported("isolation.steps", steps)]
    others = np.arange(ISOLATED_WORLDS) != FAILING_WORLD
    for kind in FAILURES:
        seen, words = _steps(context, steps, kind)
        touched = (seen != undisturbed).any(axis=0)
        records += [equal(f"isolation.{kind}.others_touched", int(touched[others].sum()), 0),
                    equal(f"isolation.{kind}.failures", [_WHERE[kind] in word for word in words] == [True], True),
                    equal(f"isolation.{kind}.failing_world_differs", bool(touched[FAILING_WORLD]), True)]
        context.say(f"{kind}: {'; '.join(words)}")
    page.section("A world that fails")
    page.text(f"""{ISOLATED_WORLDS} worlds of `eipc/Grasp-v0` are stepped together with random actions, {steps} times, and world {FAILING_WORLD} is made to fail
        once: by an action that is no number, which does not leave the client; by a pose that is no number, which the server refuses; and by a
        pose so far away that numbers overflow in the step itself. The digests of the {ISOLATED_WORLDS - 1} others are compared after every
        step with those of a run in which no world fails.""")
    return records


# An action that is no number, and where the frames of the failing world are to go, m: the server refuses the former, the latter overflows.
FAILURES = {"action": float("nan"), "request": float("nan"), "step": 1e300}
# What the words of a failure contain that happened where it was to happen.
_WHERE = {"action": "action is not finite", "request": "INVALID_ARGUMENT", "step": "0 of 2 substeps taken"}


def _steps(context: Context, steps: int, kind: str) -> tuple[np.ndarray, list[str]]:
    """Digests [steps + 1, worlds], and in which words the failing world failed. kind: of FAILURES, or "" for no failure."""
    draw, words = np.random.default_rng(0), []
    with environment(context.server, ISOLATED_WORLDS, 0) as env:
        rows = [env.reset(seed=0)[1]["state_digest"]]
        over = np.zeros(ISOLATED_WORLDS, dtype=bool)
        for step in range(steps):
            if over.any():
                env.reset(options={"reset_mask": over})
            actions = draw.uniform(-1, 1, (ISOLATED_WORLDS, 4))
            failing = bool(kind) and step == steps // 3
            if failing and kind == "action":
                actions[FAILING_WORLD] = FAILURES[kind]
            elif failing:
                _astray(env, FAILURES[kind])
            _, _, terminated, truncated, info = env.step(actions)
            over = terminated | truncated
            words += [str(word) for word in info.get("failure", ()) if word is not None]
            rows.append(info["state_digest"])
    return np.stack(rows), words


def _astray(env: EipcVectorEnv, to_m: float) -> None:
    """In the next request the frames of the failing world are to go there."""
    rows = env.worlds.rows

    def once(worlds: np.ndarray, begin: np.ndarray, end: np.ndarray, *rest: Any) -> np.ndarray:
        del env.worlds.rows  # the method of the class again
        end = end.copy()
        end[worlds == FAILING_WORLD, :, 0] = to_m
        return rows(worlds, begin, end, *rest)

    env.worlds.rows = once  # type: ignore[method-assign]


def killed_server(context: Context, page: Page) -> list[Record]:
    """The server is killed while batches are in flight; what step() has said to be over is on the disk, whole and as if undisturbed."""
    episodes, kills = scaled(KILLED_EPISODES, 4), scaled(KILLS, 2)
    worlds = min(8, episodes)
    with environment(context.server, worlds, MAX_STEPS) as env:
        undisturbed = play(env, episodes)
    folder = context.scratch / "killed_server"
    lost_at_once = 0
    with environment(context.server, worlds, MAX_STEPS, record=folder) as env:
        killer = _Killer(env, kills, steps=sum(map(len, undisturbed.values())) // worlds)
        acknowledged: list[int] = []

        def ended(seed: int) -> None:
            nonlocal lost_at_once
            acknowledged.append(seed)
            lost_at_once += len(episode_paths(folder)) < len(acknowledged)

        found = play(env, episodes, before_step=killer.before_step, ended=ended)
    recorded: Digests = {}
    for episode in eipc.load_episodes(folder):
        assert episode.seed is not None
        recorded[episode.seed] = [digest.decode() for digest in episode["state_digest"]]
    page.section("A server that is killed amid batches")
    page.text(f"""{episodes} episodes are recorded, {worlds} worlds at a time, and the server is killed with `kill -9` {killer.killed} times while the answer to
        a batch is awaited; {killer.amid} of the answers did not come. Episodes that a step had said to be over are read from the disk at once,
        and are compared with those of an undisturbed run when all is done.""")
    return [at_least("killed_server.kills_amid_a_batch", killer.amid, kills), equal("killed_server.restarts", env.worlds.restarts, killer.killed),
            equal("killed_server.acknowledged", len(acknowledged), episodes), equal("killed_server.not_on_disk_when_acknowledged", lost_at_once, 0),
            equal("killed_server.missing", len(set(acknowledged) - recorded.keys()), 0),
            equal("killed_server.different_files", different(undisturbed, recorded), 0),
            equal("killed_server.different_states", different(undisturbed, found), 0)]


class _Killer:
    """Kills the server at random moments of batches that are spread over an environment's steps.

    killed: how often. amid: how often of these the batch's answer did not come.
    """

    def __init__(self, env: EipcVectorEnv, kills: int, steps: int) -> None:
        self.killed = self.amid = 0
        self._env, self._random, self._wanted = env, random.Random(KILL_SEED), kills
        self._every = max(1, steps // (2 * kills + 1))  # room for kills that come too late
        self._longest_s = 0.02
        self._armed = False

    def before_step(self, step: int) -> None:
        if self.amid < self._wanted and not self._armed and step and step % self._every == 0:
            worlds = self._env.worlds
            worlds._call = functools.partial(self._deadly, worlds._call)  # until the restart
            self._armed = True

    def _deadly(self, real: Any, request: bytes, timeout: Any) -> Any:
        """An answer that comes before the kill is taken, and the next batch is tried, nearer to its beginning."""
        answer = real.future(request, timeout=timeout)
        time.sleep(self._random.uniform(0, self._longest_s))
        if answer.done():
            self._longest_s /= 2
            return answer.result()
        _kill()
        self._armed, self.killed = False, self.killed + 1
        self.amid += answer.exception() is not None
        return answer.result()
