"""Evaluations whose workers are killed and paused at random, against an undisturbed one: one result each, equal digests."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any, Callable

from eipc_cli import REPOSITORY
from validation import Context, Record, at_least, equal, reported

NAME = "farm"
DESCRIPTION = "evaluations on processes and on Dask with workers killed and paused: one result an episode, digests as undisturbed"

EPISODES, WORKERS = 1000, 4
MISSING = "no result"
_SCENE, _POLICY = "small_grasp:environment", "farm_policies:Grasp"


def run(context: Context) -> list[Record]:
    """EIPC_FARM_SCALE: share of the episodes, 1 by default."""
    episodes = max(8, round(EPISODES * float(os.environ.get("EIPC_FARM_SCALE", "1"))))
    prepare(context)
    from eipc.farm.engines.local import LocalEngine

    alone, seconds = evaluate(context, "alone", episodes, LocalEngine(1))
    records = [reported("one_worker.episodes_per_second", episodes / seconds, "1/s")]
    cores = min(WORKERS, len(os.sched_getaffinity(0)))
    many, together = evaluate(context, "many", episodes, LocalEngine(cores))
    records += [reported("local.parallel_efficiency", seconds / together / cores, ""), *same("local", alone, many)]
    engine = Disturbed(LocalEngine(WORKERS), lambda job, number: os.killpg(job.process.pid, number))
    records += disturbed(context, "local_disturbed", episodes, engine, alone)
    if importlib.util.find_spec("distributed") is None:
        context.say("Dask is not installed (./dev setup farm): its proof is skipped")
    else:
        records += on_dask(context, episodes, alone)
    context.say("no proof here yet on Slurm, nor in network namespaces")
    return records


def prepare(context: Context) -> None:
    """For this process and its workers: the package, the scene and the policy of the tests, the server."""
    folders = [str(REPOSITORY / "client" / "python"), str(REPOSITORY / "client" / "python" / "tests")]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    os.environ["EIPC_SERVER"] = str(context.server)


def evaluate(context: Context, name: str, episodes: int, engine: Any) -> tuple[list[str], float]:
    """Outcome and digest of every episode, and the seconds that all took."""
    from eipc.farm import Plan
    from eipc.farm.evaluation import evaluate as run_evaluation

    folder: Path = context.scratch / name
    Plan.make(_POLICY, [_SCENE], episodes).write(folder)
    start = time.monotonic()
    results = run_evaluation(folder, engine, say=context.say)
    seconds = time.monotonic() - start
    context.say(f"{name}: {episodes} episodes in {seconds:.0f} s")
    there = results.finished()
    found = {index: results.get(index) for index in sorted(there)}
    return [f"{found[k].outcome} {found[k].digest}" if k in there else MISSING for k in range(episodes)], seconds


def same(name: str, alone: list[str], other: list[str]) -> list[Record]:
    return [equal(f"{name}.episodes_without_a_result", other.count(MISSING), 0),
            equal(f"{name}.errors", sum(words.startswith("error") for words in other), 0),
            equal(f"{name}.episodes_that_differ", sum(a != b for a, b in zip(alone, other)), 0)]


def disturbed(context: Context, name: str, episodes: int, engine: "Disturbed", alone: list[str]) -> list[Record]:
    found, _ = evaluate(context, name, episodes, engine)
    return [at_least(f"{name}.killed", engine.killed, 1, ""), reported(f"{name}.paused", engine.paused, ""), *same(name, alone, found)]


def on_dask(context: Context, episodes: int, alone: list[str]) -> list[Record]:
    import distributed
    from eipc.farm.engines.dask import DaskEngine

    with distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster:
        def signal_one(job: Any, number: int) -> None:
            nannies = sorted(cluster.workers.items())
            os.kill(engine.draw.choice(nannies)[1].pid, number)

        engine = Disturbed(DaskEngine(WORKERS, client=distributed.Client(cluster)), signal_one)
        return disturbed(context, "dask_disturbed", episodes, engine, alone)


class Disturbed:
    """An engine whose running workers are killed or paused for a while, at random."""

    def __init__(self, engine: Any, send: Callable[[Any, int], None]) -> None:
        self._engine, self._send = engine, send
        self.name, self.capacity, self.submit = engine.name, engine.capacity, engine.submit
        self.cancel, self.close = engine.cancel, engine.close
        self.draw = random.Random(0)
        self.killed = self.paused = 0
        self._polls = 0

    def poll(self, job: Any) -> Any:
        ended = self._engine.poll(job)
        if ended is None:
            self._polls += 1
            if self._polls % 40 == 20:
                self._disturb(job)
        return ended

    def _disturb(self, job: Any) -> None:
        if self.killed <= self.paused:
            self.killed += 1
            self._send(job, signal.SIGKILL)
            return
        self.paused += 1
        self._send(job, signal.SIGSTOP)
        time.sleep(0.5)
        self._send(job, signal.SIGCONT)
