"""Records of the papers' figures and tables, and the small equations that the product's table of schemes is run on for them."""

from __future__ import annotations

import json
import math
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

from validation import Context, Record, Value

NOT_PUBLISHED, ABSENT, NO_EXPERIMENT = "not published", "absent", "no experiment"
# Share of the steps of the longest runs: of the ball in its box and of the rod.
SCALE = float(os.environ.get("EIPC_PAPERS_SCALE", "1"))


@dataclass(frozen=True)
class PaperRecord(Record):
    """A figure or table row of a paper.

    source: paper and figure, as papers_index.py takes them apart; published: what it says, a number or words, or NOT_PUBLISHED where it
    gives neither; basis: where the target comes from, which is fixed before anything is measured, or NO_EXPERIMENT; why: of a value that
    is not the published one, the reason.
    """

    source: str = ""
    published: Value = NOT_PUBLISHED
    basis: str = ""
    why: str = ""

    @property
    def verdict(self) -> str:
        """reproduced, different, not published, absent (there is nothing of ours), or no experiment."""
        if self.value is None:
            return NO_EXPERIMENT if self.basis == NO_EXPERIMENT else ABSENT
        if self.published == NOT_PUBLISHED:
            return NOT_PUBLISHED if self.passed else "different"
        return "reproduced" if self.passed and not self.why else "different"

    def to_json(self) -> dict[str, Any]:
        """A number that JSON cannot hold is a word."""
        value = str(self.value) if isinstance(self.value, float) and not math.isfinite(self.value) else self.value
        return {**super().to_json(), "value": value, **{key: asdict(self)[key] for key in ("source", "published", "basis", "why")}, "verdict": self.verdict}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "PaperRecord":
        return cls(**{key: kept[key] for key in ("name", "value", "unit", "target", "source", "published", "basis", "why")}, passed=kept["pass"])


@dataclass(frozen=True)
class Claim:
    """What a record is compared with; see PaperRecord."""

    source: str
    published: Value
    basis: str
    why: str = ""

    def _record(self, name: str, value: Value, unit: str, target: str, passed: bool) -> PaperRecord:
        return PaperRecord(name, value, unit, target, passed, self.source, self.published, self.basis, self.why)

    def near(self, name: str, value: float, expected: float, tolerance: float, unit: str = "") -> PaperRecord:
        return self._record(name, value, unit, f"{expected:.6g} +- {tolerance:.2g}", bool(abs(value - expected) <= tolerance))

    def within(self, name: str, value: float, low: float, high: float, unit: str = "") -> PaperRecord:
        return self._record(name, value, unit, f"{low:.6g} to {high:.6g}", bool(low <= value <= high))

    def at_most(self, name: str, value: float, limit: float, unit: str = "") -> PaperRecord:
        return self._record(name, value, unit, f"<= {limit:.6g}", bool(value <= limit))

    def at_least(self, name: str, value: float, limit: float, unit: str = "") -> PaperRecord:
        return self._record(name, value, unit, f">= {limit:.6g}", bool(value >= limit))

    def equal(self, name: str, value: Value, expected: Value, unit: str = "") -> PaperRecord:
        return self._record(name, value, unit, f"== {expected}", value == expected)

    def reported(self, name: str, value: Value, unit: str = "") -> PaperRecord:
        """A value without a target: of what depends on a machine, or is not in the product."""
        return self._record(name, value, unit, "reported", True)


def scheme_runs(context: Context, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Results of small equations or of the rod (tests/validate/scheme_runs.cc), kept between calls."""
    program = Path(context.cli.binary).parents[1] / "tests" / "scheme_runs"
    if not program.is_file():
        raise RuntimeError(f"{program} is not built: ./dev build release scheme_runs")

    def run() -> list[dict[str, Any]]:
        done = subprocess.run([program], input=json.dumps(list(requests)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return list(json.loads(done.stdout))

    return list(context.kept.get([program], ["scheme_runs", json.dumps(list(requests))], run))
