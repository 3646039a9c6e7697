"""The commands of this package: `eipc evaluate`, `eipc compare` and `eipc verify FOLDER`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Optional

from ..client import connect
from ..server_process import launch
from .comparison import write_comparison
from .engines import engine_named
from .errors import EvaluationError
from .evaluation import evaluate
from .plan import Plan
from .report import compare, words, write_report
from .results import Results
from .verify import choose, verify
from .worker import credentials


def add_commands(commands: Any) -> None:
    """Adds them to what argparse's add_subparsers() returned."""
    run = commands.add_parser("evaluate", help="run a policy in many episodes", description="Runs a policy in episodes with seeds. The "
                              "same command goes on where it was stopped; every episode has exactly one result.")
    run.add_argument("--policy", required=True, metavar="MODULE[:NAME]", help="has act(observation) and, optionally, reset(seed)")
    run.add_argument("--scenes", required=True, nargs="+", metavar="SCENE", help="environments: ids (eipc/Grasp-v0) or MODULE:NAME; "
                     "scene files with goals (.textproto)")
    run.add_argument("--episodes", type=int, default=100, help="of each scene (default 100)")
    run.add_argument("--workers", type=int, default=0, help="at a time; default: the processors of this machine")
    run.add_argument("--out", type=Path, default=Path("evaluation"), help="folder of the results (default: evaluation)")
    run.add_argument("--seed", type=int, default=0, help="of the first episode of every scene; the next has the next")
    run.add_argument("--max-steps", type=int, default=0, help="of an episode; default: the environment's or the scene's")
    run.add_argument("--randomize", default="", metavar="FILE", help="of scene files: ranges of starts, drawn with the seed of each "
                     "episode (eipc.v1.Randomize as text, or a file with it)")
    run.add_argument("--episode-timeout", type=float, default=600.0, help="seconds after which an episode is an error (default 600)")
    run.add_argument("--engine", default="local", help="local, slurm, dask, ray or agones (default: local)")
    run.add_argument("--engine-option", action="append", default=[], metavar="WORD", help="of sbatch, or the address of the Dask "
                     "scheduler or Ray cluster; may be repeated")
    run.add_argument("--server", action="append", default=[], metavar="ADDRESS", help="a server that is there, for one worker, and for "
                     "those of other servers when they are lost; may be repeated; default: every worker starts its own")
    run.set_defaults(command=_evaluate)
    pair = commands.add_parser("compare", help="compare two policies on the same episodes")
    pair.add_argument("folders", nargs=2, type=Path, metavar="FOLDER")
    pair.add_argument("--out", type=Path, metavar="FOLDER", help="writes comparison.html, .json and .csv there")
    pair.set_defaults(command=_compare)
    again = commands.add_parser("verify", help="run episodes again and compare every state")
    again.add_argument("folder", type=Path, metavar="FOLDER", help="of an evaluation, or its report.json")
    again.add_argument("--sample", type=int, help="so many episodes, drawn at random; default: all")
    again.add_argument("--seed", type=int, default=0, help="of the draw")
    again.add_argument("--server", help="address; default: one that is started for this")
    again.set_defaults(command=_verify)


def _evaluate(options: argparse.Namespace) -> int:
    plan = Plan.make(options.policy, options.scenes, options.episodes, first_seed=options.seed, max_steps=options.max_steps,
                     episode_timeout_s=options.episode_timeout, randomize=options.randomize)
    plan.write(options.out)
    engine = engine_named(options.engine, options.workers or _processors(), tuple(options.server), tuple(options.engine_option))
    progress = Progress()
    try:
        results = evaluate(options.out, engine, say=progress.say, progress=progress)
    finally:
        progress.end()
    report = write_report(results)
    print(words(report))
    print(f"report: {options.out / 'report.html'}")
    return 0 if report["complete"] and not report["problems"] else 1


def _compare(options: argparse.Namespace) -> int:
    first, second = map(Results, options.folders)
    found = write_comparison(first, second, options.out) if options.out else compare(first, second)
    print(json.dumps(found, indent=1))
    return 0


def _verify(options: argparse.Namespace) -> int:
    folder = options.folder.parent if options.folder.name == "report.json" else options.folder
    results = Results(folder)
    indices = choose(results, options.sample, options.seed)
    if not indices:
        raise EvaluationError(f"{folder} has no results yet")
    if options.server:
        with connect(options.server, **credentials()) as client:
            verified = verify(results, client, indices, print)
    else:
        with launch() as server, server.client() as client:
            verified = verify(results, client, indices, print)
    same = sum(one.same for one in verified)
    print(f"{same} of {len(verified)} episodes have the same states")
    return 0 if same == len(verified) else 1


def _processors() -> int:
    return max(1, len(os.sched_getaffinity(0)))


class Progress:
    """A line on a terminal that is rewritten in place: episodes done, and the time left. Notes go above it."""

    def __init__(self, out: Any = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = sys.stderr if out is None else out
        self._shown = bool(getattr(self._out, "isatty", lambda: False)())
        self._clock, self._start = clock, clock()
        self._first: Optional[int] = None  # done when this began
        self._reported = -1.0

    def __repr__(self) -> str:
        return f"Progress({self._first or 0} done at first)"

    def __call__(self, done: int, count: int) -> None:
        if self._first is None:
            self._first = done
        if not self._shown:
            if done == count or self._clock() - self._reported >= 30:
                self._reported = self._clock()
                print(f"eipc evaluate: {self._line(done, count)}", file=self._out, flush=True)
            return
        print(f"\r{self._line(done, count)}\033[K", end="", file=self._out, flush=True)

    def say(self, note: str) -> None:
        if self._shown:
            print("\r\033[K", end="", file=self._out)
        print(f"eipc evaluate: {note}", file=self._out, flush=True)

    def end(self) -> None:
        if self._shown:
            print(file=self._out)

    def _line(self, done: int, count: int) -> str:
        text = f"{done} of {count} episodes"
        since = done - (self._first or 0)
        if since > 0 and done < count:
            left = (self._clock() - self._start) / since * (count - done)
            text += f", {left:.0f} s left" if left < 120 else f", {left / 60:.0f} min left"
        return text
