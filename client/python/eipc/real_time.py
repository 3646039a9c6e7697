"""Stepping in time with the wall clock, for a person or a robot in the loop."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Callable, Optional, Protocol

from .observation import Observation, Observe
from .solver_report import StepLimit


class Steps(Protocol):
    """What is stepped: a Session or a StepStream."""

    def step(self, dt: float, **options: Any) -> Observation: ...


@dataclass
class Timing:
    """What became of the steps so far."""

    steps: int = 0  # taken
    requests: int = 0
    late_steps: int = 0  # complete after their time limit
    limited_requests: int = 0  # with a step whose solve was ended by its time limit
    caught_up_steps: int = 0  # taken in one request with another, because time had gone on
    skipped_s: float = 0.0  # simulated time that was given up, beyond `most_due` steps


class RealTimeLoop:
    """Keeps simulated time at wall-clock time: every call takes the steps that have become due, with the newest command.

    A call waits until a step is due. Where calls come late, because a step, the network or the caller took long, the steps that were
    missed are taken together in one request, so simulated time does not drift; commands that nobody gave in between are not queued.
    A request that fails (the call's exception) may have taken some of its steps; the next answer says how many, and they count.
    dt: s, of a step. time_limit: s of wall-clock time for a step, divided among those of one request; 0: none. most_due: steps that
    one call takes at most; time beyond them is given up and counted (a debugger, a suspended machine).
    """

    def __init__(self, session: Steps, dt: float, time_limit: float = 0.0, most_due: int = 10,
                 clock: Callable[[], float] = time.perf_counter, sleep: Callable[[float], None] = time.sleep) -> None:
        if not dt > 0:
            raise ValueError(f"dt must be > 0 s, got {dt}")
        if not time_limit >= 0:
            raise ValueError(f"time_limit must be >= 0 s (0: none), got {time_limit}")
        if most_due < 1:
            raise ValueError(f"most_due must be at least 1, got {most_due}")
        self._session, self._dt, self._time_limit, self._most_due = session, dt, time_limit, most_due
        self._clock, self._sleep = clock, sleep
        self._start = clock()
        self._world_step: Optional[int] = None  # where the last answer left the world
        self._uncertain = 0  # steps of requests since then that failed, of which some may have been taken
        self.timing = Timing()

    def __repr__(self) -> str:
        return f"RealTimeLoop(dt={self._dt:g} s, time_limit={self._time_limit:g} s, {self.timing})"

    def step(self, **options: Any) -> Observation:
        """Takes the steps that are due, at least one. options: of Session.step, the newest command. Returns what it returns, with
        the solver report, asked for or not."""
        options["observe"] = replace(options.get("observe") or Observe(), solver_report=True)
        due = self._due()
        if due < 1:
            self._sleep(self._start + (self.timing.steps + 1) * self._dt - self._clock())
            due = max(1, self._due())
        if due > self._most_due:
            self.timing.skipped_s += (due - self._most_due) * self._dt
            self._start += (due - self._most_due) * self._dt
            due = self._most_due
        self._uncertain += due
        observation = self._session.step(self._dt, substeps=due, time_limit=self._time_limit / due, **options)
        self._uncertain -= due
        self._count(due, observation)
        return observation

    def _due(self) -> int:
        # The turn of a step is its end; rounding does not delay it.
        return int((self._clock() - self._start) / self._dt + 1e-9) - self.timing.steps

    def _taken_before(self, steps: int, world_step: int) -> int:
        """How many steps requests have taken that failed since the last answer; 0 where the world was put elsewhere since then."""
        taken = world_step - steps - self._world_step if self._world_step is not None else 0
        taken = taken if 0 <= taken <= self._uncertain else 0
        self._world_step, self._uncertain = world_step, 0
        return taken

    def _count(self, steps: int, observation: Observation) -> None:
        timing = self.timing
        timing.steps += steps + self._taken_before(steps, observation.step)
        timing.requests += 1
        timing.caught_up_steps += steps - 1
        report = observation.solver_report
        if report is not None:
            timing.late_steps += report.late_steps
            timing.limited_requests += report.limited_by is StepLimit.TIME
