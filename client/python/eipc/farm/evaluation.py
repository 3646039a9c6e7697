"""The evaluation: hands cases to workers until every case has exactly one result."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Sequence

from .engines import Ended, Engine
from .engines.base import feeder_of, submit_all
from .errors import EvaluationError
from .results import ERROR, Result, Results
from .worker import CANNOT, NO_SERVER, OTHER_BUILD

_ATTEMPTS = 3  # workers that may end in one and the same case
_STARTS = 3  # times that every worker, one after the other, may find no server
_LOST_STARTS = 10  # the same, may be lost before its first episode: nodes go away, but a worker that never starts is a mistake
_LOOK_S = 0.2  # between two looks at the workers
_PART, _SCENES = 32, 32  # cases that a worker is given at once; scenes that it is given in all: its server keeps each of them


@dataclass
class _Job:
    """cases: those without a result when it was last looked at, in the order in which they are run."""

    handle: Any
    cases: list[int]
    begun_at: float
    progress_at: float
    scenes: set[str]
    finished: int = 0
    fed: bool = True  # it may be given more

    def seconds_left(self, now: float) -> float:
        """Of wall-clock time, until it has nothing to do, as its cases took so far; infinite where none has been finished."""
        if not self.cases:
            return 0.0
        return len(self.cases) * (now - self.begun_at) / self.finished if self.finished else math.inf


@dataclass
class Evaluation:
    """results: in the folder of the plan. say: for notes, a line each. progress: called with (done, of all) now and then."""

    results: Results
    engine: Engine
    say: Callable[[str], None] = print
    progress: Callable[[int, int], None] = lambda done, count: None
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    _attempts: dict[int, int] = field(default_factory=dict)
    _bad_starts: int = 0
    _done: set[int] = field(default_factory=set)  # cases that are known to have a result

    def run(self) -> None:
        """Until every case has a result. Raises EvaluationError when no worker can go on; what is done stays, and the same call goes
        on from there."""
        self._set_damaged_aside()
        self._done = self.results.finished()
        jobs: list[_Job] = []
        try:
            while True:
                jobs = [job for job in jobs if not self._over(job)]
                waiting = self._waiting(jobs)
                self._feed(jobs, waiting)
                jobs += self._submit(waiting, self.engine.capacity - len(jobs))
                self.progress(len(self._done), self.results.plan.count)
                if not jobs:
                    return
                self.wait(_LOOK_S)
        finally:
            for job in jobs:
                self.engine.cancel(job.handle)

    def _set_damaged_aside(self) -> None:
        for index in sorted(self.results.finished()):
            try:
                self.results.get(index)
            except EvaluationError as error:
                self.say(f"{error}; it is kept as {self.results.set_aside(index).name} and the episode is run again")

    def _waiting(self, jobs: Sequence[_Job]) -> list[int]:
        """Cases that no job has. What is in the folder is read again before the evaluation ends, not at every look."""
        if not jobs:
            self._done = self.results.finished()
        taken = self._done.union(*(job.cases for job in jobs))
        return [index for index in range(self.results.plan.count) if index not in taken]

    def _part(self, waiting: list[int]) -> list[int]:
        """Takes some cases off the list: few enough that the last jobs end together."""
        size = max(1, min(_PART, len(waiting) // (3 * self.engine.capacity)))
        part, waiting[:] = waiting[:size], waiting[size:]
        return part

    def _submit(self, waiting: list[int], jobs: int) -> list[_Job]:
        parts: list[list[int]] = []
        while waiting and len(parts) < jobs:
            parts.append(self._part(waiting))
        handles = submit_all(self.engine, self.results.folder, parts)
        now = self.clock()
        return [_Job(handle, cases, now, now, self._scenes(cases)) for handle, cases in zip(handles, parts)]

    def _feed(self, jobs: Sequence[_Job], waiting: list[int]) -> None:
        """Gives more cases to workers that would have nothing to do before the next look; where there are none left, they end."""
        feed = feeder_of(self.engine)
        if feed is None:
            return
        for job in jobs:
            while job.fed and job.seconds_left(self.clock()) <= 2 * _LOOK_S:
                part = self._part(waiting)
                if len(job.scenes | self._scenes(part)) > _SCENES:
                    waiting[:0], part = part, []
                feed(job.handle, part)
                job.fed = bool(part)
                job.progress_at = job.progress_at if job.cases else self.clock()
                job.cases += part
                job.scenes |= self._scenes(part)

    def _scenes(self, cases: Sequence[int]) -> set[str]:
        return {self.results.plan.case(index).scene for index in cases}

    def _over(self, job: _Job) -> bool:
        ended = self.engine.poll(job.handle)
        # After the poll: what it has finished until it ended is not left.
        left = [index for index in job.cases if not self.results.path(index).exists()]
        if len(left) < len(job.cases):
            job.finished += len(job.cases) - len(left)
            self._done.update(set(job.cases).difference(left))
            job.cases, job.progress_at, self._bad_starts = left, self.clock(), 0
        if ended is None and self.clock() - job.progress_at > 1.5 * self.results.plan.episode_timeout_s + 60:
            self.engine.cancel(job.handle)
            ended = Ended(None, "it made no progress and was given up")
        if ended is None:
            return False
        if left:
            self._lost(left, ended)
        return True

    def _lost(self, left: list[int], ended: Ended) -> None:
        """A worker ended before its cases did. Cases are run in order, so the first one left is the one that it ended in, if it had begun
        that."""
        words = f"(exit status {ended.status}) {ended.words}".strip() if ended.status is not None else ended.words
        if ended.status in (CANNOT, OTHER_BUILD):
            raise EvaluationError(ended.words or words)
        if ended.status == NO_SERVER:  # no fault of an episode
            self._bad_starts += 1
            if self._bad_starts > _STARTS * self.engine.capacity:
                raise EvaluationError(f"no worker finds its server: {words}")
            self.say(f"a worker found no server: {words}")
            return
        culprit = left[0]
        if not self.results.take_begun(culprit):
            self._bad_starts += 1
            if self._bad_starts > _LOST_STARTS * self.engine.capacity:
                raise EvaluationError(f"workers end before they begin an episode: {words}")
            self.say(f"a worker was lost before {self.results.plan.case(culprit)}: {words}; its episodes are run again")
            return
        self._attempts[culprit] = self._attempts.get(culprit, 0) + 1
        if self._attempts[culprit] < _ATTEMPTS:
            self.say(f"a worker was lost in {self.results.plan.case(culprit)}: {words}; its episodes are run again")
            return
        case = self.results.plan.case(culprit)
        reason = f"the worker ended {_ATTEMPTS} times in this episode: {words}"
        self.results.put(Result(case.index, case.scene, case.seed, ERROR, reason))
        self._done.add(culprit)


def evaluate(folder: Path, engine: Engine, **options: Any) -> Results:
    """Runs what is left of the evaluation in a folder (Plan.write). options: of Evaluation. Raises EvaluationError."""
    results = Results(folder)
    try:
        Evaluation(results, engine, **options).run()
        results.settle()
    finally:
        engine.close()
    return results
