"""What recording costs, and what a recorder leaves that is killed."""

from __future__ import annotations

import os
import random
import signal
import statistics
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

import numpy as np

from eipc_cli import REPOSITORY, RunError
from learning_episodes import ENVIRONMENT, SCALE, scaled
from page import Page
from validation import Context, Record, at_least, at_most, equal, reported

import eipc
from eipc.envs.registration import task_of
from eipc.envs.task import Task
from eipc.episode import episode_paths

STEPS, EPISODE_STEPS = 10_000, 100
MOST_COST = 0.02  # of the time of a step
KILL_ROUNDS, KILL_SEED = 30, 3
_ACTION = np.array([0.5, 0.0, 0.0, 0.1])  # closes, and lifts slowly
Targets = dict[tuple[str, str], eipc.Pose]


@dataclass
class _Took:
    """What an episode took, s: all of it, its begin and end alone (none without a recorder), and processor time of this process."""

    wall: float
    ends: float
    processor: float


@dataclass
class _Turns:
    """Equal episodes, one by one: without a recorder, and with it; of the latter also how long the disk went on after their end, s."""

    plain: list[_Took] = field(default_factory=list)
    recorded: list[_Took] = field(default_factory=list)
    disk: list[float] = field(default_factory=list)
    different: int = 0
    bytes_a_step: float = 0.0

    @property
    def steps_cost(self) -> list[float]:
        return [(with_it.wall - with_it.ends) / without.wall - 1 for with_it, without in zip(self.recorded, self.plain)]

    @property
    def cost(self) -> list[float]:
        return [with_it.wall / without.wall - 1 for with_it, without in zip(self.recorded, self.plain)]

    @property
    def processor(self) -> list[float]:
        return [with_it.processor - without.processor for with_it, without in zip(self.recorded, self.plain)]


def recorder(context: Context, page: Page) -> list[Record]:
    """Episodes of the grasp, in turns with and without a recorder, the same to the bit."""
    episodes = max(2, round(STEPS * SCALE / EPISODE_STEPS))
    turns = _Turns()
    with eipc.launch(context.server) as server, server.client() as client:
        task = task_of(ENVIRONMENT)(client)
        targets = _targets(task)
        scene = client.create_scene(task.scene)
        with scene.create_session() as session, eipc.Recorder(context.scratch / "recorder") as recorder:
            _plain(session, task, targets)  # warms up
            for turn in range(episodes):
                _turn(turns, session, task, targets, recorder, recorded_first=bool(turn % 2))
        files = episode_paths(recorder.folder)
        turns.bytes_a_step = sum(path.stat().st_size for path in files) / (len(files) * EPISODE_STEPS)
    page.section("Recording")
    page.text(f"""{episodes * EPISODE_STEPS} steps of the scene of `{ENVIRONMENT}` in episodes of {EPISODE_STEPS}, through a Python stream with the observations that a
        step has by default, and the same ones through `eipc.Recorder`, in turns on one server. Both read the poses and the outcome after each
        step, as a policy would. The cost of an episode is what it took with the recorder over what it took without, less one; of the steps
        alone, without the begin of the episode (its marker, a snapshot) and its end (the check of the surfaces, the file). The disk works
        on after the end of an episode: each one that is timed follows another one directly, and pays for what that left to the disk. The
        medians over the episodes are judged.""")
    return _records(turns, episodes)


def _records(turns: _Turns, episodes: int) -> list[Record]:
    low, high = np.percentile(turns.cost, [25, 75])
    step = statistics.median(took.wall for took in turns.plain) / EPISODE_STEPS
    return [equal("recorder.episodes", len(turns.recorded), episodes), reported("recorder.steps", episodes * EPISODE_STEPS),
            equal("recorder.different_states", turns.different, 0),
            at_most("recorder.cost_of_the_steps", statistics.median(turns.steps_cost), MOST_COST),
            at_most("recorder.cost", statistics.median(turns.cost), MOST_COST),
            reported("recorder.cost_lower_quartile", float(low)), reported("recorder.cost_upper_quartile", float(high)),
            reported("recorder.bytes_a_step", turns.bytes_a_step, "B"), reported("recorder.step", 1e3 * step, "ms"),
            reported("recorder.begin_and_end_over_a_step", statistics.median(took.ends for took in turns.recorded) / step),
            reported("recorder.more_processor_time_a_step", 1e6 * statistics.median(turns.processor) / EPISODE_STEPS, "us"),
            reported("recorder.disk_after_an_episode", 1e3 * statistics.median(turns.disk), "ms")]


def _targets(task: Task) -> list[Targets]:
    """Of the fingers, one a step: they close and lift."""
    gripper, commands, targets = task.gripper, np.zeros((1, 4)), []
    for _ in range(EPISODE_STEPS):
        commands = gripper.next(commands, _ACTION[None], task.timing.dt_s)
        targets.append({frame: eipc.Pose(pose[:3], pose[3:]) for frame, pose in zip(gripper.frames, gripper.poses(commands)[0])})
    return targets


def _turn(turns: _Turns, session: eipc.Session, task: Task, targets: Sequence[Targets], recorder: eipc.Recorder, recorded_first: bool) -> None:
    """One episode with the recorder and one without, in an order that alternates."""
    seen = {}
    for recorded in (recorded_first, not recorded_first):
        session.reset()
        if recorded:
            _recorded(session, task, targets, recorder)  # keeps the disk busy while the next one is timed
            session.reset()
            turns.recorded.append(_recorded(session, task, targets, recorder))
            begin = time.perf_counter()
            recorder.sync()
            turns.disk.append(time.perf_counter() - begin)
        else:
            turns.plain.append(_plain(session, task, targets))
        seen[recorded] = session.state(eipc.Observe(state_digest=True)).state_digest
    turns.different += seen[True] != seen[False]


def _plain(session: eipc.Session, task: Task, targets: Sequence[Targets]) -> _Took:
    begin, processor = time.perf_counter(), time.process_time()
    with session.stream() as stream:
        for target in targets:
            _read(stream.step(task.timing.dt_s, targets=target))
    return _Took(time.perf_counter() - begin, 0.0, time.process_time() - processor)


def _recorded(session: eipc.Session, task: Task, targets: Sequence[Targets], recorder: eipc.Recorder) -> _Took:
    begin, processor = time.perf_counter(), time.process_time()
    with recorder.episode(session) as episode:
        first = time.perf_counter()
        for target in targets:
            _read(episode.step(task.timing.dt_s, targets=target))
        last = time.perf_counter()
    end = time.perf_counter()
    return _Took(end - begin, first - begin + end - last, time.process_time() - processor)


def _read(seen: eipc.Observation) -> tuple[list[eipc.Pose], eipc.Outcome]:
    """What a policy reads: observations are unpacked when they are read."""
    assert seen.solver_report is not None
    return [body.pose for body in seen.bodies.values() if body.pose is not None], seen.solver_report.outcome


# Records episodes of a few steps until it is killed. It says when an episode begins, and when it has been acknowledged as finished.
_RECORDING = """
import sys
import eipc
from eipc.envs.registration import task_of
from learning_recorder import _targets, KILLED_STEPS, ENVIRONMENT

with eipc.connect(sys.argv[1]) as client, eipc.Recorder(sys.argv[2]) as recorder:
    task = task_of(ENVIRONMENT)(client)
    targets = _targets(task)[:KILLED_STEPS]
    with client.create_scene(task.scene).create_session() as session:
        while True:
            session.reset()
            with recorder.episode(session, seed=7) as episode:
                print("began", episode.number, flush=True)
                for target in targets:
                    episode.step(task.timing.dt_s, targets=target)
            print("finished", episode.number, flush=True)
"""
KILLED_STEPS = 8


@dataclass
class _Killed:
    """rounds: in which a recorder was killed. began, finished: numbers of episodes that were said to be. said_lost: by the next recorder."""

    rounds: int = 0
    began: set[int] = field(default_factory=set)
    finished: set[int] = field(default_factory=set)
    said_lost: set[int] = field(default_factory=set)
    most_lost_at_once: int = 0
    in_an_episode: int = 0


def killed_recorder(context: Context, page: Page) -> list[Record]:
    """A recorder is killed at random moments; the next one finds all that was finished, and says what was not."""
    rounds, rng, seen = scaled(KILL_ROUNDS, 3), random.Random(KILL_SEED), _Killed()
    folder = context.scratch / "killed_recorder"
    with eipc.launch(context.server) as server:
        for k in range(rounds):
            _kill_once(server.address, folder, "finished" if k % 2 else "began", rng.uniform(0, 0.5), seen)
    kept, damaged, digests = set(), 0, set()
    for path in episode_paths(folder):
        try:
            episode = eipc.Episode.load(path)
        except eipc.EpisodeError:
            damaged += 1
            continue
        kept.add(episode.number)
        digests.add(tuple(episode["state_digest"].tolist()))
        damaged += episode.steps != KILLED_STEPS
    page.section("A recorder that is killed")
    page.text(f"""{rounds} times, a process that records episodes of {KILLED_STEPS} steps into one folder is killed with `kill -9` at a random moment and another
        one goes on. Every episode that was finished must be there whole, all of them the same to the bit, for they were recorded from the
        same start; every one that was begun and is not there must have been named as lost by the next recorder, at most one of each that
        was killed.""")
    return [equal("killed_recorder.rounds", seen.rounds, rounds), reported("killed_recorder.episodes_begun", len(seen.began)),
            at_least("killed_recorder.killed_in_an_episode", seen.in_an_episode, max(1, rounds // 3)),
            equal("killed_recorder.finished_and_missing", len(seen.finished - kept), 0),
            equal("killed_recorder.missing_and_not_named", len(seen.began - kept - seen.said_lost), 0),
            equal("killed_recorder.named_and_not_missing", len(seen.said_lost & kept), 0),
            at_most("killed_recorder.most_lost_at_once", seen.most_lost_at_once, 1),
            equal("killed_recorder.damaged", damaged, 0), equal("killed_recorder.distinct_episodes", len(digests), 1),
            equal("killed_recorder.files_left_over", len([*folder.glob("*.part"), *folder.glob("*.open")]), 0)]


def _kill_once(address: str, folder: Path, word: str, after_s: float, seen: _Killed) -> None:
    """Kills one recorder so long after its first episode has begun or, however slow the machine is, finished; counts what it left."""
    here = Path(__file__).resolve().parent
    path = os.pathsep.join(map(str, (REPOSITORY / "client" / "python", here, here.parent / "support")))
    process = subprocess.Popen([sys.executable, "-c", _RECORDING, address, str(folder)], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": path})
    assert process.stdout is not None
    first = process.stdout.readline()
    if first.startswith("began ") and word != "began":
        first += process.stdout.readline()
    if f"{word} " not in first:
        raise RunError("the process that records could not begin")
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    said = [line.split() for line in (first + process.stdout.read()).splitlines()]
    if process.wait() != -signal.SIGKILL:
        raise RunError("the process that records ended before it was killed")
    seen.rounds += 1
    began = {int(number) for word, number in said if word == "began"}
    seen.began |= began
    seen.finished |= {int(number) for word, number in said if word == "finished"}
    seen.in_an_episode += bool(began - seen.finished)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eipc.LostEpisodeWarning)
        with eipc.Recorder(folder) as recorder:
            lost = {episode.number for episode in recorder.lost}
    seen.said_lost |= lost
    seen.most_lost_at_once = max(seen.most_lost_at_once, len(lost))
