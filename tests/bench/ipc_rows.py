"""What public scenes of the reference IPC code cost: those in `ipc_scenes` of the folder of real meshes, skipped where it is absent.

Each scene runs in the per-pair form, at the tolerance of the reference (its files end in `_ipctol`) and at our own. A row has the
processor seconds of whole runs, loading included, which a busy machine inflates less than time; iterations; the steps that did not
converge; the smallest gap; and the intersections that the audit finds in a run of its own.

With a peer, a program that takes a scene's name and a number of steps and simulates them, its processor seconds stand beside ours,
measured in turns with it, and their ratio. So the reference code needs a script of a few lines that finds its own scene by that name.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Sequence

from eipc_cli import EipcCli, RunError
from machine_probe import probe_ms
from targets import Target
from text_table import Table

PEER_LIMIT_S = 3600.0
MOST_ITERATIONS = 100
# Of the peer's time over ours: at its tolerance, at ours.
TARGET_MEAN = {True: 16.0, False: 8.0}
TARGET_LEAST = {True: 8.0, False: 4.0}


@dataclass(frozen=True)
class IpcCase:
    scene: str
    dt_s: float
    steps: int
    peer_tolerance: bool

    @property
    def name(self) -> str:
        return f"ipc-{self.scene}{'-tol' if self.peer_tolerance else ''}"

    @property
    def duration_s(self) -> float:
        return self.steps * self.dt_s

    def path(self, data: Path) -> Path:
        return data / "ipc_scenes" / f"{self.scene}_pp{'_ipctol' if self.peer_tolerance else ''}.textproto"


_SCENES = (("mat40x40Twist", 0.04, 60), ("rodsTwist", 0.025, 100), ("chain5", 0.04, 100), ("7_masonryArch", 0.01, 50), ("2_matKnives", 0.04, 60),
           ("12_matOnBoard", 0.025, 15), ("12_largeMassRatio", 0.025, 60), ("04_pointTriangle", 0.025, 200), ("10_tetSlots", 0.01, 100))


def ipc_cases(data: Optional[Path]) -> list[IpcCase]:
    """Those whose files are there."""
    cases = [IpcCase(scene, dt_s, steps, tolerance) for scene, dt_s, steps in _SCENES for tolerance in (True, False)]
    return [case for case in cases if data is not None and case.path(data).is_file()]


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peer_s(peer: Path, case: IpcCase) -> float:
    before = _children_s()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([str(peer), case.scene, str(case.steps)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=PEER_LIMIT_S, env=environment)
    if done.returncode != 0:
        raise RunError(f"{peer.name} {case.scene} {case.steps}: exit status {done.returncode}: {done.stderr.strip()[-300:]}")
    return _children_s() - before


def _row(cli: EipcCli, case: IpcCase, data: Path, runs: int, threads: int, peer: Optional[Path]) -> dict[str, Any]:
    scene, before = case.path(data), probe_ms()
    seconds, peers, reports = [], [], []
    for _ in range(runs):
        start = _children_s()
        reports.append(cli.run(scene, case.dt_s, duration_s=case.duration_s, threads=threads))
        seconds.append(_children_s() - start)
        if peer:
            peers.append(_peer_s(peer, case))
    audited = cli.run(scene, case.dt_s, duration_s=case.duration_s, threads=threads, audit=True)
    report = reports[0]
    return {"name": case.name, "scene": case.scene, "peer_tolerance": case.peer_tolerance, "steps": report["steps"], "threads": threads,
            "unknowns": report["unknowns"], "cpu_s": statistics.median(seconds), "cpu_range_s": [min(seconds), max(seconds)],
            "peer_cpu_s": statistics.median(peers) if peers else None,
            "newton_iterations": report["newton_iterations"], "steps_not_converged": report["steps_not_converged"],
            "min_distance_m": report["min_distance_m"], "intersections": audited["audit"]["intersections"],
            "same_digest": len({r["state_digest"] for r in [*reports, audited]}) == 1, "probe_ms": 0.5 * (before + probe_ms())}


def ipc_rows(cli: EipcCli, cases: Sequence[IpcCase], data: Optional[Path], runs: int, threads: int, peer: Optional[Path] = None) -> list[dict]:
    """RunError where a run gives no report, the peer's included."""
    rows = []
    for number, case in enumerate(cases, start=1):
        if data is None:
            break
        print(f"[{number}/{len(cases)}] {case.name} ...", file=sys.stderr, flush=True)
        rows.append(_row(cli, case, data, runs, threads, peer))
    return rows


def ratios(rows: Sequence[dict], peer_tolerance: bool) -> list[float]:
    """The peer's processor seconds over ours, of the rows that have both."""
    return [row["peer_cpu_s"] / row["cpu_s"] for row in rows if row["peer_tolerance"] == peer_tolerance and row["peer_cpu_s"]]


def ipc_targets(rows: Sequence[dict]) -> list[Target]:
    if not rows:
        return []
    targets = [Target("public IPC scenes, steps that did not converge", sum(row["steps_not_converged"] for row in rows), 0, "steps", at_most=True),
               Target("public IPC scenes, iterations of a step", max(row["newton_iterations"]["max"] for row in rows), MOST_ITERATIONS,
                      "at most", at_most=True),
               Target("public IPC scenes, intersections", sum(row["intersections"] for row in rows), 0, "", at_most=True)]
    for peer_tolerance, words in ((True, "its tolerance"), (False, "our tolerance")):
        found = ratios(rows, peer_tolerance)
        if found:
            mean = math.exp(sum(map(math.log, found)) / len(found))
            targets += [Target(f"peer's time over ours at {words}, geometric mean", mean, TARGET_MEAN[peer_tolerance], "x"),
                        Target(f"peer's time over ours at {words}, least", min(found), TARGET_LEAST[peer_tolerance], "x")]
    return targets


def ipc_table(rows: Sequence[dict]) -> Table:
    header = ["scene", "unknowns", "steps", "cpu s", "from", "to", "peer cpu s", "ratio", "Newton mean", "max", "not conv", "min dist um",
              "intersections", "same bits", "probe ms"]
    cells = [[row["name"], str(row["unknowns"]), str(row["steps"]), f"{row['cpu_s']:.2f}", *(f"{s:.2f}" for s in row["cpu_range_s"]),
              "-" if row["peer_cpu_s"] is None else f"{row['peer_cpu_s']:.1f}",
              "-" if row["peer_cpu_s"] is None else f"{row['peer_cpu_s'] / row['cpu_s']:.1f}",
              f"{row['newton_iterations']['mean']:.2f}", f"{row['newton_iterations']['max']:.0f}", str(row["steps_not_converged"]),
              "-" if row["min_distance_m"] is None else f"{1e6 * row['min_distance_m']:.2f}", str(row["intersections"]),
              "yes" if row["same_digest"] else "NO", f"{row['probe_ms']:.2f}"] for row in rows]
    return Table(header, cells)
