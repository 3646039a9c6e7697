"""Disturbs the workers of an evaluation at random: kills, pauses and drains, each made good again after a while."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

# Polls of running jobs between two disturbances, and until one is made good.
_EVERY, _UNDO_AFTER = 100, 40


@dataclass(frozen=True)
class Disturbance:
    """do: begins it, given a drawing of random numbers, and returns how to make it good (None: nothing is left to do)."""

    name: str
    do: Callable[[Any, random.Random], Callable[[], None] | None]


@dataclass
class Disturbed:
    """An engine that is disturbed as its jobs are polled."""

    engine: Any
    disturbances: Sequence[Disturbance]
    seed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    polls: int = 0

    def __post_init__(self) -> None:
        self.name, self.capacity = self.engine.name, self.engine.capacity
        self.submit, self.cancel = self.engine.submit, self.engine.cancel
        for optional in ("submit_array", "feed"):
            if hasattr(self.engine, optional):
                setattr(self, optional, getattr(self.engine, optional))
        self._draw = random.Random(self.seed)
        self._undo: list[tuple[int, Callable[[], None]]] = []
        self.counts = {disturbance.name: 0 for disturbance in self.disturbances}

    def poll(self, job: Any) -> Any:
        ended = self.engine.poll(job)
        self.polls += 1
        if ended is None and self.polls % _EVERY == _EVERY // 2:
            self._disturb(job)
        self._make_good(self.polls)
        return ended

    def close(self) -> None:
        self._make_good(None)
        self.engine.close()

    def _disturb(self, job: Any) -> None:
        least = min(self.counts.values())
        chosen = next(d for d in self.disturbances if self.counts[d.name] == least)
        self.counts[chosen.name] += 1
        undo = chosen.do(job, self._draw)
        if undo is not None:
            self._undo.append((self.polls + _UNDO_AFTER, undo))

    def _make_good(self, until: int | None) -> None:
        due = [entry for entry in self._undo if until is None or entry[0] <= until]
        for entry in due:
            self._undo.remove(entry)
            entry[1]()
