"""The goals that a scene declares, as the server measures them, and over a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Optional

from .v1 import observation_pb2

# Times of steps are sums of step sizes: a step that should end at from_s may end this much earlier, s.
_TIME_SLACK_S = 1e-9


@dataclass(frozen=True)
class GoalReading:
    """A goal in one state. value: distance m, angle rad or speed m/s, as `unit` says. from_s: where it is not None, the worst value at
    the ends of steps from this time on counts, else the value at the end."""

    value: float
    tolerance: float
    unit: str
    from_s: Optional[float] = None

    @property
    def reached(self) -> bool:
        """In this state."""
        return self.value <= self.tolerance


def goals_from_messages(messages: Iterable[observation_pb2.GoalReading]) -> Mapping[str, GoalReading]:
    return {m.name: GoalReading(m.value, m.tolerance, m.unit, m.from_s if m.HasField("from_s") else None) for m in messages}


class GoalProgress:
    """The goals over a run, step by step, judged as `eipc run` judges them (sim/sensor/goals.cc)."""

    def __init__(self) -> None:
        self._worst: dict[str, float] = {}
        self._last: Mapping[str, GoalReading] = {}

    def __repr__(self) -> str:
        return f"GoalProgress({', '.join(self._last)})"

    def add(self, time_s: float, goals: Mapping[str, GoalReading]) -> None:
        """After each step."""
        self._last = goals
        for name, reading in goals.items():
            if reading.from_s is not None and time_s >= reading.from_s - _TIME_SLACK_S:
                self._worst[name] = max(reading.value, self._worst.get(name, reading.value))

    def results(self) -> dict[str, dict[str, Any]]:
        """By name: value (None where the run ended before from_s), tolerance, unit, reached."""
        return {name: self._result(name, reading) for name, reading in self._last.items()}

    @property
    def reached(self) -> bool:
        """Every goal, and there is one."""
        found = self.results()
        return bool(found) and all(result["reached"] for result in found.values())

    def _result(self, name: str, reading: GoalReading) -> dict[str, Any]:
        value = reading.value if reading.from_s is None else self._worst.get(name)
        return {"value": value, "tolerance": reading.tolerance, "unit": reading.unit,
                "reached": value is not None and value <= reading.tolerance}
