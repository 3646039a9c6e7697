"""A farm as a discrete-event simulation: servers with places, jobs made of parts, failures, drains and slow servers.

A job occupies one place of a server from its start to its end. It is lost with its server, and starts again elsewhere from the last part
that it had finished (a snapshot, or an episode of a worker), after a restart. Times in s.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Sequence


@dataclass(frozen=True)
class Disturbances:
    """Of each server on its own, exponential: mean times between failures and between drains (0: none). repair: until it is back after a
    failure; start: after a drain. grace: what jobs on a draining server may still take; those that need longer move like lost ones, but
    lose nothing. slow_share of the servers take slow_factor times as long."""

    mtbf: float = 0.0
    repair: float = 30.0
    between_drains: float = 0.0
    grace: float = 45.0
    start: float = 10.0
    slow_share: float = 0.0
    slow_factor: float = 1.0


@dataclass
class Job:
    """parts: their durations. restart: before each start, again after each loss. place: the last server."""

    arrived: float
    parts: Sequence[float]
    restart: float
    done_parts: int = 0
    losses: int = 0
    ended: float = 0.0


@dataclass
class _Server:
    places: int
    factor: float
    up: bool = True
    epoch: int = 0  # rises with each loss, so that events of the time before are known
    running: dict[int, tuple[Job, float]] = field(default_factory=dict)  # by number of the start: job, start


@dataclass
class Outcome:
    """busy: place-seconds used, of which lost were done again; capacity: place-seconds there were until the end. jobs: those that ended."""

    jobs: list[Job]
    busy: float
    lost: float
    capacity: float
    end: float
    failures: int
    drains: int

    @property
    def utilization(self) -> float:
        return self.busy / self.capacity if self.capacity else 0.0

    def latencies(self, after: float = 0.0) -> list[float]:
        """From arrival to end, sorted; of jobs that arrived after a time (so that an empty farm's are left out)."""
        return sorted(job.ended - job.arrived for job in self.jobs if job.arrived >= after)


def quantile(values: Sequence[float], share: float) -> float:
    """Of sorted values, the nearest rank."""
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


class Farm:
    """servers x places; kills: (time, choice in [0, 1)) of losses of a running job, as a test made them."""

    def __init__(self, servers: int, places: int, disturbances: Disturbances = Disturbances(), seed: int = 0) -> None:
        self._draw = random.Random(seed)
        self._disturbances = disturbances
        slow = round(disturbances.slow_share * servers)
        self._servers = [_Server(places, disturbances.slow_factor if k < slow else 1.0) for k in range(servers)]
        self._free: list[int] = [k for k in range(servers) for _ in range(places)]
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._waiting: deque[Job] = deque()
        self._number = 0
        self._now = self._busy = self._lost = 0.0
        self._ended: list[Job] = []
        self._failures = self._drains = self._left = 0
        self._supply: Optional[Callable[[], Optional[Job]]] = None

    def run(self, arrivals: Sequence[Job], kills: Sequence[tuple[float, float]] = (), supply: Optional[Callable[[], Optional[Job]]] = None,
            until: Optional[float] = None) -> Outcome:
        """Until every job has ended, or a time. supply: makes the next job for a free place, None when there is none left."""
        self._supply, self._left = supply, len(arrivals)
        for job in arrivals:
            self._at(job.arrived, lambda job=job: self._arrive(job))
        for time, choice in kills:
            self._at(time, lambda choice=choice: self._kill_one(choice))
        for k in range(len(self._servers)):
            self._plan(k)
        self._fill()
        while self._events and (self._left or self._waiting or any(s.running for s in self._servers)):
            time, _, act = heapq.heappop(self._events)
            if until is not None and time > until:
                self._now = until
                break
            self._now = time
            act()
        places = sum(server.places for server in self._servers)
        return Outcome(self._ended, self._busy, self._lost, places * self._now, self._now, self._failures, self._drains)

    def _at(self, time: float, act: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (time, self._number, act))

    def _plan(self, k: int) -> None:
        """The server's next failure and drain."""
        if self._disturbances.mtbf:
            self._at(self._now + self._draw.expovariate(1 / self._disturbances.mtbf), lambda: self._fail(k))
        if self._disturbances.between_drains:
            self._at(self._now + self._draw.expovariate(1 / self._disturbances.between_drains), lambda: self._drain(k))

    def _arrive(self, job: Job) -> None:
        self._left -= 1
        self._waiting.append(job)
        self._fill()

    def _fill(self) -> None:
        """Free places take the jobs that wait longest."""
        while self._free:
            job = self._waiting.popleft() if self._waiting else self._supply() if self._supply else None
            if job is None:
                return
            pick = self._draw.randrange(len(self._free))
            self._free[pick], self._free[-1] = self._free[-1], self._free[pick]
            self._start(job, self._free.pop())

    def _start(self, job: Job, k: int) -> None:
        server = self._servers[k]
        self._number += 1
        number, epoch = self._number, server.epoch
        server.running[number] = (job, self._now)
        duration = (job.restart + sum(job.parts[job.done_parts:])) * server.factor
        self._at(self._now + duration, lambda: self._end(k, number, epoch))

    def _end(self, k: int, number: int, epoch: int) -> None:
        server = self._servers[k]
        if server.epoch != epoch or number not in server.running:
            return
        job, start = server.running.pop(number)
        self._busy += self._now - start
        job.done_parts, job.ended = len(job.parts), self._now
        self._ended.append(job)
        if server.up:
            self._free.append(k)
        self._fill()

    def _lose(self, k: int, number: int, keeps_all: bool = False) -> None:
        """The job goes back to the front of the line; what it did since its last whole part is done again."""
        server = self._servers[k]
        job, start = server.running.pop(number)
        ran = self._now - start
        self._busy += ran
        left = ran / server.factor - job.restart
        while job.done_parts < len(job.parts) and left >= job.parts[job.done_parts]:
            left -= job.parts[job.done_parts]
            job.done_parts += 1
        if keeps_all and left > 0 and job.done_parts < len(job.parts):
            parts = list(job.parts)
            parts[job.done_parts] -= left
            job.parts = parts
        else:
            self._lost += (left if left > 0 else job.restart + left) * server.factor
        job.losses += 1
        self._waiting.appendleft(job)

    def _fail(self, k: int) -> None:
        server = self._servers[k]
        if not server.up:
            return
        self._failures += 1
        self._take_down(k)
        for number in list(server.running):
            self._lose(k, number)
        self._at(self._now + self._disturbances.repair, lambda: self._come_up(k))
        self._fill()

    def _drain(self, k: int) -> None:
        """It takes no new job; those that run may end within the grace."""
        server = self._servers[k]
        if not server.up:
            return
        self._drains += 1
        epoch = self._take_down(k, lose=False)

        def over() -> None:
            if server.epoch == epoch:
                server.epoch += 1
                for number in list(server.running):
                    self._lose(k, number, keeps_all=True)
                self._at(self._now + self._disturbances.start, lambda: self._come_up(k))
                self._fill()

        self._at(self._now + self._disturbances.grace, over)

    def _take_down(self, k: int, lose: bool = True) -> int:
        server = self._servers[k]
        server.up = False
        self._free = [free for free in self._free if free != k]
        if lose:
            server.epoch += 1
        return server.epoch

    def _come_up(self, k: int) -> None:
        server = self._servers[k]
        server.up = True
        self._free += [k] * (server.places - len(server.running))
        self._plan(k)
        self._fill()

    def _kill_one(self, choice: float) -> None:
        """A running job loses its worker; its place is free at once."""
        running = [(k, number) for k, server in enumerate(self._servers) for number in sorted(server.running)]
        if not running:
            return
        k, number = running[int(choice * len(running))]
        self._lose(k, number)
        self._free.append(k)
        self._fill()


def poisson(rate: float, until: float, make: Callable[[float], Job], seed: int) -> list[Job]:
    """Arrivals at a mean rate, 1/s."""
    draw, time, jobs = random.Random(seed), 0.0, []
    while (time := time + draw.expovariate(rate)) < until:
        jobs.append(make(time))
    return jobs


def batches(episodes: Sequence[float], workers: int, restart: float) -> Callable[[], Optional[Job]]:
    """The jobs that an evaluation hands out to workers that take no more later (Evaluation._part): a third of an even share each, 32
    episodes at most."""
    left: list[Any] = list(episodes)

    def take() -> Optional[Job]:
        if not left:
            return None
        size = max(1, min(32, len(left) // (3 * workers)))
        parts = [left.pop(0) for _ in range(size)]
        return Job(0.0, parts, restart)

    return take
