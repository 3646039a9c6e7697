"""What studies share: records, and runs of the program that are made once however many studies ask for them.

A study is a module tests/validate/study_NAME.py with NAME, DESCRIPTION and run(context) -> list of records.
"""

from __future__ import annotations

import concurrent.futures
import functools
import math
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence, Union

import numpy as np

from eipc_cli import EipcCli, GraspCase
from kept import Kept

Value = Union[float, int, str, bool, None]


@dataclass(frozen=True)
class Record:
    """One figure. target: in words, e.g. "<= 0.01"; passed: whether the value meets it (True where it is only reported)."""

    name: str
    value: Value
    unit: str
    target: str
    passed: bool

    def __post_init__(self) -> None:
        """What comes from an array becomes a number or a truth value of Python, which JSON can hold."""
        if isinstance(self.value, np.generic):
            object.__setattr__(self, "value", self.value.item())
        object.__setattr__(self, "passed", bool(self.passed))

    def to_json(self) -> dict[str, Any]:
        """name, value, unit, target, pass; a number that JSON cannot hold becomes null."""
        fields = asdict(self)
        fields["pass"] = fields.pop("passed")
        if isinstance(self.value, float) and not math.isfinite(self.value):
            fields["value"] = None
        return fields


def at_most(name: str, value: float, limit: float, unit: str = "") -> Record:
    return Record(name, value, unit, f"<= {limit:g}", value <= limit)


def at_least(name: str, value: float, limit: float, unit: str = "") -> Record:
    return Record(name, value, unit, f">= {limit:g}", value >= limit)


def within(name: str, value: float, low: float, high: float, unit: str = "") -> Record:
    return Record(name, value, unit, f"{low:g} to {high:g}", low <= value <= high)


def equal(name: str, value: Value, expected: Value, unit: str = "") -> Record:
    return Record(name, value, unit, f"== {expected}", value == expected)


def reported(name: str, value: Value, unit: str = "") -> Record:
    """A figure that belongs beside others and has no target of its own."""
    return Record(name, value, unit, "reported", True)


@dataclass(frozen=True)
class Run:
    """One `eipc run`: of a grasp case at its own or another step size."""

    case: GraspCase
    dt_s: Optional[float] = None
    audit: bool = False
    settings: tuple[str, ...] = ()
    trajectory: bool = False

    @property
    def name(self) -> str:
        extras = [f"h={self.dt_s:g}"] if self.dt_s else []
        return " ".join([self.case.name, *extras, *(["audited"] if self.audit else []), *self.settings])


@dataclass(frozen=True)
class RunResult:
    """The report, and the file of surface positions when it was asked for."""

    report: dict[str, Any]
    trajectory: Optional[Path]


class Context:
    """Given to every study. data: folder of real meshes or None; figures: folder for pictures; scratch: for this call only."""

    def __init__(self, cli: EipcCli, server: Path, figures: Path, scratch: Path, jobs: int,
                 say: Callable[[str], None], keep: Optional[Path] = None) -> None:
        self.cli, self.server, self.figures, self.scratch, self.say = cli, server, figures, scratch, say
        self._keep = keep or scratch / "kept"
        self._jobs = jobs
        self._results: dict[Run, RunResult] = {}
        self._lock = threading.Lock()

    @property
    def jobs(self) -> int:
        """Runs at a time."""
        return self._jobs

    @functools.cached_property
    def kept(self) -> Kept:
        """Results of earlier calls."""
        return Kept(self._keep, self.cli.binary)

    @property
    def data(self) -> Optional[Path]:
        return self.cli.data

    def run(self, run: Run) -> RunResult:
        """Makes the run, or returns what it gave before. Raises RunError."""
        with self._lock:
            if run in self._results:
                return self._results[run]
            number = len(list(self.scratch.glob("run-*")))
            path = self.scratch / f"run-{number}.positions"
            if run.trajectory:
                path.touch()  # takes the number
        report = self.cli.run(run.case.scene, run.dt_s or run.case.dt_s, audit=run.audit, settings=run.settings,
                              trajectory=path if run.trajectory else None)
        result = RunResult(report, path if run.trajectory else None)
        with self._lock:
            return self._results.setdefault(run, result)

    def prepare(self, runs: Iterable[Run]) -> None:
        """Makes runs ahead, several at a time, saying which are done. Raises the first RunError."""
        distinct = list(dict.fromkeys(runs))
        self.each([lambda run=run: self.run(run) for run in distinct], [run.name for run in distinct])

    def each(self, calls: Sequence[Callable[[], Any]], names: Sequence[str]) -> list[Any]:
        """Results of independent calls, in order, several at a time."""
        done = 0
        with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
            futures = {pool.submit(call): name for call, name in zip(calls, names)}
            try:
                for future in concurrent.futures.as_completed(futures):
                    future.result()
                    done += 1
                    self.say(f"{done}/{len(futures)} {futures[future]}")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            return [future.result() for future in futures]
