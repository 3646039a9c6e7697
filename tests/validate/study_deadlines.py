"""Steps that end in time: how many are late, what they cost in accuracy, and that no state has an intersection."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import numpy as np

from eipc_cli import SCENES
from page import RecordsTable
from surface_positions import differences, read_surface_positions
from validation import Context, Record, at_most, equal, reported

NAME = "deadlines"
DESCRIPTION = "Wall-clock limits of 20 ms on the plate and of 12 ms on the grasp, beside a busy process: late steps, error, audit"

PAGE = RecordsTable(
    "Steps that end in time", """`eipc run --step-limit` beside a process that keeps one processor busy, every state audited. A solve that is out of time ends with the best point
    that it has. *Late*: steps that were complete after the limit, as a share of all; *cut*: those whose solves the limit ended. *Error*: the distance of a surface vertex from
    where the run without a limit has it at that time, largest over vertices and steps, and largest in the last state. *Force*: the largest difference of a pair's contact
    force in the last state, over the largest such force. Shorter limits are there to show what they cost.""",
    {"late": "late", "cut": "cut", "error": "error, m", "end_error": "error at the end, m", "force_error": "force", "intersections": "intersections",
     "states_audited": "states audited", "iterations": "iterations a step", "free_iterations": "without the limit"})

LATE_SHARE = 0.01


@dataclass(frozen=True)
class Case:
    """A scene, its step and the limit of each step. judged: the share of late steps has a target."""

    scene: str
    dt_s: float
    limit_s: float
    judged: bool

    @property
    def name(self) -> str:
        return f"{self.scene} {1e3 * self.limit_s:g} ms"


CASES = (Case("finray_plate", 0.02, 0.020, True), Case("finray_plate_2", 0.02, 0.020, True), Case("bubble_teddy_low", 0.02, 0.012, True),
         Case("bubble_teddy_low_sound", 0.02, 0.012, True), Case("finray_plate", 0.02, 0.008, False),
         Case("bubble_teddy_low_sound", 0.02, 0.002, False))


def run(context: Context) -> list[Record]:
    full = {(case.scene, case.dt_s): _run(context, case, 0.0) for case in CASES}
    records: list[Record] = []
    with busy_process():
        for case in CASES:
            limited = _run(context, case, case.limit_s)
            records += _records(case, limited, full[case.scene, case.dt_s])
            context.say(f"{case.name} done")
    return records


@contextmanager
def busy_process() -> Iterator[None]:
    """One that takes all of a processor that it is given."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _run(context: Context, case: Case, limit_s: float) -> tuple[dict[str, Any], Path]:
    path = context.scratch / f"{case.scene}-{case.dt_s:g}-{limit_s:g}.positions"
    report = context.cli.run(SCENES / f"{case.scene}.textproto", case.dt_s, audit=True, trajectory=path, step_limit_s=limit_s)
    return report, path


def _records(case: Case, limited: tuple[dict[str, Any], Path], full: tuple[dict[str, Any], Path]) -> list[Record]:
    (report, path), (reference, reference_path) = limited, full
    apart = np.linalg.norm(differences(read_surface_positions(path), read_surface_positions(reference_path), slice(None)), axis=2)
    steps = report["steps"]
    late, name = report["time_limit"]["late_steps"] / steps, case.name
    return [at_most(f"{name}.late", late, LATE_SHARE) if case.judged else reported(f"{name}.late", late),
            reported(f"{name}.cut", report["limited_by"].get("time", 0) / steps),
            reported(f"{name}.error", float(apart.max()), "m"),
            reported(f"{name}.end_error", float(apart[-1].max()), "m"),
            reported(f"{name}.force_error", _force_difference(report, reference)),
            equal(f"{name}.intersections", report["audit"]["intersections"], 0),
            equal(f"{name}.states_audited", report["audit"]["states_checked"], steps),
            reported(f"{name}.iterations", report["newton_iterations"]["mean"]),
            reported(f"{name}.free_iterations", reference["newton_iterations"]["mean"])]


def _force_difference(report: dict[str, Any], reference: dict[str, Any]) -> float:
    def forces(document: dict[str, Any]) -> dict[str, np.ndarray]:
        return {pair: np.add(force["normal_n"], force["friction_n"]) for pair, force in document["contact_forces"].items()}
    ours, theirs = forces(report), forces(reference)
    zero = np.zeros(3)
    largest = max((float(np.linalg.norm(force)) for force in theirs.values()), default=0.0)
    difference = max((float(np.linalg.norm(ours.get(pair, zero) - theirs.get(pair, zero))) for pair in {*ours, *theirs}), default=0.0)
    return difference / largest if largest > 0 else difference
