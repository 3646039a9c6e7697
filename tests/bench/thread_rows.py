"""What a second thread brings inside a step: runs on one thread and on two in turns, with the same bits."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Sequence

import solids
from bin_scene import write_bin
from eipc_cli import SCENES, EipcCli
from machine_probe import probe_ms
from scene_text import SceneText
from targets import Target, refined_grasp
from text_table import Table

THREADS, STEP_S = 2, 0.02
LEAST_GAIN = 0.97  # no scene is to be slower with a second thread, but for what runs of the same program differ by


def _block(folder: Path) -> Path:
    """A solid block of 20,577 unknowns that drops on the ground."""
    text = SceneText("block")
    text.static("floor", solids.sheet(2.0, 1))
    text.moving("block", "full_space", solids.tet_grid(0.2, 0.2, 0.2, (18, 18, 18)), (0, 0, 0.1015), youngs_modulus_pa=2e4, density_kg_m3=1000.0,
                model="STABLE_NEO_HOOKEAN")
    text.contact(0.5)
    return text.write(folder / "block")


# Name, target, simulated seconds (None: the scene's own), and the scene.
CASES: tuple[tuple[str, float, Any, Callable[[Path], Path]], ...] = (
    ("low", LEAST_GAIN, None, lambda folder: SCENES / "bubble_teddy_low.textproto"),
    ("full", 1.3, None, lambda folder: SCENES / "bubble_teddy_full.textproto"),
    ("fine", 1.6, None, lambda folder: refined_grasp(folder, 3)),  # 43,648 triangles
    ("bin", 1.75, 1.0, lambda folder: write_bin(folder, 25).path),
    ("block", 1.7, 0.1, _block),
)


def name_of(case: str) -> str:
    return f"threads-{case}"


def _turn(cli: EipcCli, scene: Path, duration: Any, order: Sequence[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Reports on one thread and on more, which run in this order."""
    reports = {threads: cli.run(scene, STEP_S, duration_s=duration, threads=threads) for threads in order}
    return reports[1], reports[THREADS]


def thread_rows(cli: EipcCli, cases: Sequence[str], runs: int) -> list[dict[str, Any]]:
    """gain: median over the turns of the time on one thread over that on two; factor_share, factor_gain: of factorizations alone, where
    the solver makes some."""
    rows = []
    for name, target, duration, scene_of in CASES:
        if name not in cases:
            continue
        with tempfile.TemporaryDirectory(prefix="eipc-threads-") as folder:
            scene, probe = scene_of(Path(folder)), probe_ms()
            turns = [_turn(cli, scene, duration, ((1, THREADS), (THREADS, 1))[turn % 2]) for turn in range(runs)]
        gains = [one["wall_s"] / more["wall_s"] for one, more in turns]
        factors = [[report["stage_seconds"]["factorize"] for report in turn] for turn in turns]
        factorizes = turns[0][0]["linear_solver"]["kind"] == "cholesky" and all(min(of) > 0 for of in factors)
        rows.append({"name": name_of(name), "target": target, "unknowns": turns[0][0]["unknowns"], "solver": turns[0][0]["linear_solver"]["kind"],
                     "one_ms": statistics.median(1e3 * one["wall_s"] / one["steps"] for one, _ in turns), "gain": statistics.median(gains),
                     "least": min(gains), "most": max(gains),
                     "factor_share": statistics.median(of[0] / turn[0]["wall_s"] for of, turn in zip(factors, turns)) if factorizes else None,
                     "factor_gain": statistics.median(of[0] / of[1] for of in factors) if factorizes else None,
                     "same_bits": len({report["state_digest"] for turn in turns for report in turn}) == 1, "probe_ms": probe})
        print(f"{name_of(name)}: {rows[-1]['gain']:.2f}", file=sys.stderr)
    return rows


def thread_targets(rows: Sequence[dict[str, Any]]) -> list[Target]:
    """Of the gains, on a machine that has the cores, and of the bits, on any."""
    gains = [Target(f"{THREADS} threads, {row['name'].removeprefix('threads-')}", row["gain"], row["target"], "x the speed of one") for row in rows]
    bits = Target("rows whose bits a second thread leaves as they are", float(sum(row["same_bits"] for row in rows)), float(len(rows)), "rows")
    return [*(gains if len(os.sched_getaffinity(0)) >= THREADS else []), *([bits] if rows else [])]


def thread_table(rows: Sequence[dict[str, Any]]) -> Table:
    header = ["row", "unknowns", "solver", "ms/step on one", f"gain by {THREADS}", "least", "most", "% factorizing on one", "gain of that", "same bits", "probe ms"]
    return Table(header, [[row["name"], str(row["unknowns"]), row["solver"], f"{row['one_ms']:.2f}", f"{row['gain']:.2f}", f"{row['least']:.2f}",
                           f"{row['most']:.2f}", *(("-", "-") if row["factor_share"] is None else (f"{100 * row['factor_share']:.0f}", f"{row['factor_gain']:.2f}")), "yes" if row["same_bits"] else "no",
                           f"{row['probe_ms']:.2f}"] for row in rows])
