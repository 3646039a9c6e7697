"""What a bin of household objects costs: a step while they fall and once they lie still, and an active contact."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional, Sequence

import numpy as np
from bin_scene import GRAVITY_M_S2, BinScene, write_bin, write_resting
from eipc_cli import EipcCli
from machine_probe import probe_ms
from step_log import read_steps
from targets import Target
from text_table import Table

COUNTS = (25, 100, 400)
STEP_S = 0.02
DURATION_S = 4.0
MANY = 400                  # objects, in copies of a smaller bin once everything in it lies still
RESTING_DURATION_S = 2.0
SLEEPING_DURATION_S = 4.0   # one that rocks keeps its pile awake for a while
AUDIT_EVERY = 10            # accepted steps; the time of an audit is not a step's
RESTING_SPEED_M_S = 2e-3    # root mean square over the mass; what friction lets creep does so at up to 1e-3 m/s
MAY_SLEEP = ", may sleep"    # of names of rows
SLEEP_AFTER_S = 0.5         # of calm, in the rows of bins at rest that may sleep
ASLEEP_SHARE = 0.9          # of the objects: from then on a bin counts as asleep
TARGET_MEDIAN_MS = 20.0     # h = 0.02 s in real time
TARGET_CONTACT_RATIO = 1.5


def settled_from(kinetic_j: np.ndarray, mass_kg: float) -> Optional[int]:
    """The first step from which on the speed stays below RESTING_SPEED_M_S; None when it never does."""
    moving = np.flatnonzero(np.sqrt(2 * kinetic_j / mass_kg) > RESTING_SPEED_M_S)
    first = 0 if len(moving) == 0 else int(moving[-1]) + 1
    return first if first < len(kinetic_j) else None


def asleep_from(sleeping: np.ndarray, objects: int) -> Optional[int]:
    """The first step from which on at least ASLEEP_SHARE of the objects sleep; None when they never do."""
    awake = np.flatnonzero(sleeping < ASLEEP_SHARE * objects)
    first = 0 if len(awake) == 0 else int(awake[-1]) + 1
    return first if first < len(sleeping) else None


def _is_bin(name: str) -> bool:
    return name.startswith("bin")


def _carried_n(report: dict) -> float:
    """Vertical force of the bins on all objects at the end."""
    return sum(force["normal_n"][2] + force["friction_n"][2] for pair, force in report["contact_forces"].items() if _is_bin(pair.split("/")[1]))


def row_of(scene: BinScene, reports: Sequence[dict], logs: Sequence[dict[str, np.ndarray]]) -> dict[str, Any]:
    """One row: a step's time is the median over the runs, whose steps are otherwise the same to the last bit."""
    report, log = reports[0], logs[0]
    mass = sum(body["mass_kg"] for name, body in report["bodies"].items() if not _is_bin(name))
    step_ms = 1e3 * np.median([log["wall_s"] for log in logs], axis=0)
    first = settled_from(log["kinetic_j"], mass)
    row: dict[str, Any] = {
        "objects": scene.objects, "triangles": scene.triangles, "unknowns": report["unknowns"], "steps": report["steps"],
        "runs": len(reports), "threads": report["threads"], "steps_not_converged": report["steps_not_converged"],
        "states_audited": report["audit"]["states_checked"], "intersections": report["audit"]["intersections"],
        "weight_n": mass * GRAVITY_M_S2, "carried_n": _carried_n(report),
        "resting_speed_m_s": float(np.sqrt(2 * log["kinetic_j"][-1] / mass)),
        "same_digest": len({r["state_digest"] for r in reports}) == 1, "state_digest": report["state_digest"],
        "settled_s": None if first is None else float(log["time_s"][first]), "max_rss_bytes": report["max_rss_bytes"],
        "stage_seconds": report["stage_seconds"], "wall_s": statistics.median(r["wall_s"] for r in reports),
    }
    end = len(step_ms) if first is None else first
    asleep = asleep_from(log["sleeping_bodies"], scene.objects) if "sleeping_bodies" in log else None
    still = len(step_ms) if asleep is None else max(end, asleep)
    row["wake_retries"] = report["sleep"]["wake_retries"]
    for phase, part in (("falling", slice(0, end)), ("settled", slice(end, still)), ("asleep", slice(still, None))):
        if len(step_ms[part]) == 0:
            continue
        contacts = float(np.median(log["contacts"][part]))
        row[phase] = {"median_ms": float(np.median(step_ms[part])), "p99_ms": float(np.percentile(step_ms[part], 99)),
                      "contacts": contacts, "newton": float(np.mean(log["newton_iterations"][part])),
                      "us_per_contact": 1e3 * float(np.median(step_ms[part])) / max(contacts, 1.0)}
    return row


def name_of(count: int) -> str:
    return f"bin-{count}"


def bin_rows(cli: EipcCli, counts: Sequence[int], runs: int, threads: int, duration_s: float = DURATION_S,
             many: int = MANY) -> list[dict[str, Any]]:
    """A row for each bin, one for the bin at rest, and one for as many copies of that as have `many` objects: what a contact costs
    among that many bodies, without the hours that these take to fall; then both at rest where bodies may sleep. Raises RunError, and ValueError where the meshes have not been generated."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="eipc-bin-") as name:
        folder = Path(name)
        for count in counts:
            row, report = _measure(cli, name_of(count), write_bin(folder, count), runs, threads, duration_s)
            rows.append(row)
            if "settled" not in row:
                continue
            for copies in sorted({1, many // count} - {0}):
                resting = write_resting(folder, count, report["bodies"], copies)
                name = f"{copies} x {name_of(count)}"
                rows.append(_measure(cli, name, resting, runs, threads, RESTING_DURATION_S)[0])
                rows.append(_measure(cli, f"{name}{MAY_SLEEP}", resting, runs, threads, SLEEPING_DURATION_S,
                                     [f"solver.sleep.after_s={SLEEP_AFTER_S}"])[0])
    return rows


def _measure(cli: EipcCli, name: str, scene: BinScene, runs: int, threads: int, duration_s: float,
             settings: Sequence[str] = ()) -> tuple[dict[str, Any], dict]:
    """The row, and the last report."""
    steps = scene.path.with_suffix(".tsv")
    reports, logs = [], []
    before = probe_ms()
    for run in range(runs):
        print(f"{name}, run {run + 1} of {runs} ...", file=sys.stderr, flush=True)
        reports.append(cli.run(scene.path, STEP_S, duration_s=duration_s, threads=threads, steps=steps,
                               settings=[f"solver.audit_every_n_steps={AUDIT_EVERY}", *settings]))
        logs.append(read_steps(steps))
    return {**row_of(scene, reports, logs), "name": name, "probe_ms": 0.5 * (before + probe_ms())}, reports[-1]


def bin_targets(rows: Sequence[dict]) -> list[Target]:
    """Those of rows that were measured and have come to rest, with everything awake and with what may sleep."""
    targets = []
    for phase, addition in (("settled", ""), ("asleep", ", may sleep")):
        at_rest: dict[int, dict] = {}
        for row in rows:
            if phase not in row or row["name"].endswith(MAY_SLEEP) != (phase == "asleep"):
                continue
            one = f"1 x {name_of(row['objects'])}{addition}"  # before copies, and before one that has only just come to rest
            if row["objects"] not in at_rest or row["name"] == one:
                at_rest[row["objects"]] = row[phase]
        if 100 in at_rest:
            targets.append(Target(f"100 objects in a bin{addition}, median step once settled", at_rest[100]["median_ms"], TARGET_MEDIAN_MS,
                                  "ms", at_most=True))
        if 25 in at_rest and 400 in at_rest:
            targets.append(Target(f"an active contact, 400 objects{addition}", at_rest[400]["us_per_contact"] / at_rest[25]["us_per_contact"],
                                  TARGET_CONTACT_RATIO, "x the time with 25", at_most=True))
    return targets


def speed_table(rows: Sequence[dict]) -> Table:
    header = ["bin", "phase", "ms/step median", "p99", "contacts", "Newton mean", "us/contact", f"x {rows[0]['name']}", "probe ms"]
    cells = []
    for row in rows:
        for phase in ("falling", "settled", "asleep"):
            if phase not in row:
                continue
            part = row[phase]
            ratio = f"{part['us_per_contact'] / rows[0][phase]['us_per_contact']:.2f}" if phase in rows[0] else "-"
            cells.append([row["name"], phase, f"{part['median_ms']:.2f}", f"{part['p99_ms']:.1f}", f"{part['contacts']:.0f}",
                          f"{part['newton']:.2f}", f"{part['us_per_contact']:.2f}", ratio, f"{row['probe_ms']:.2f}"])
    return Table(header, cells, left_columns=2)


def error_table(rows: Sequence[dict]) -> Table:
    """Of the same runs."""
    header = ["bin", "settled from s", "states audited", "intersections", "not conv", "carried / weight", "speed mm/s", "wakes", "same bits", "MiB"]
    return Table(header, [[
        row["name"], "never" if row["settled_s"] is None else f"{row['settled_s']:.2f}", str(row["states_audited"]),
        str(row["intersections"]), str(row["steps_not_converged"]), f"{row['carried_n'] / row['weight_n']:.5f}",
        f"{1e3 * row['resting_speed_m_s']:.3f}", str(row["wake_retries"]), "yes" if row["same_digest"] else "NO", f"{row['max_rss_bytes'] / 2**20:.0f}"]
        for row in rows])
