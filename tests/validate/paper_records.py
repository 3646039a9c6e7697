"""Records of the papers' figures and tables, and the small equations that the product's table of schemes is run on for them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

from validation import Context, Record, Value

NOT_PUBLISHED, ABSENT = "not published", "absent"
# A record's source begins with one of these and a comma.
PAPERS = ("Ascher et al. 2022", "Kharevych et al. 2006", "Hauth 2003", "Larionov et al. 2023", "Du et al. 2025")


@dataclass(frozen=True)
class PaperRecord(Record):
    """A figure or table row of a paper.

    source: paper and figure; published: what it says, a number or words, or NOT_PUBLISHED where it gives neither; basis: where the
    target comes from, which is fixed before anything is measured; why: of a value that is not the published one, the reason.
    """

    source: str = ""
    published: Value = NOT_PUBLISHED
    basis: str = ""
    why: str = ""

    @property
    def verdict(self) -> str:
        """reproduced, different, not published, or absent (there is nothing of ours)."""
        if self.value is None:
            return ABSENT
        if self.published == NOT_PUBLISHED:
            return NOT_PUBLISHED if self.passed else "different"
        return "reproduced" if self.passed and not self.why else "different"

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), **{key: asdict(self)[key] for key in ("source", "published", "basis", "why")}, "verdict": self.verdict}


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
