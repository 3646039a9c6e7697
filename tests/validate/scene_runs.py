"""Runs of scenes that a study writes itself: what is measured in them, kept between calls (kept.py)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np

from scene_text import SceneText
from surface_positions import read_surface_positions
from validation import Context

# times [T], surface positions [T,N,3] -> JSON; the first frame is that after the first step.
Measure = Callable[[np.ndarray, np.ndarray], Any]


@dataclass(frozen=True)
class SceneRun:
    """One `eipc run`. measure: named, because its result is kept under that name."""

    name: str
    scene: SceneText
    dt_s: float
    duration_s: float
    settings: tuple[str, ...] = ()
    measure_name: str = "nothing"
    measure: Measure = lambda times, positions: None
    audit: bool = False


def run_scene(context: Context, run: SceneRun) -> dict[str, Any]:
    """The run's report with "measured" and, by column, "steps"."""
    path = run.scene.write(context.scratch / "scenes" / run.name)
    inputs = sorted(path.parent.iterdir())
    words = [run.dt_s, run.duration_s, run.settings, run.measure_name, run.audit]
    return context.kept.get(inputs, words, lambda: _make(context, run, path))


def run_scenes(context: Context, runs: Sequence[SceneRun]) -> list[dict[str, Any]]:
    """Several at a time, saying which are done."""
    return context.each([lambda run=run: run_scene(context, run) for run in runs], [run.name for run in runs])


def _make(context: Context, run: SceneRun, scene: Path) -> dict[str, Any]:
    positions, steps = scene.with_suffix(".positions"), scene.with_suffix(".steps")
    report = context.cli.run(scene, run.dt_s, run.duration_s, settings=run.settings, trajectory=positions, steps=steps,
                             audit=run.audit)
    trajectory = read_surface_positions(positions)
    report["measured"] = run.measure(trajectory.times, np.asarray(trajectory.positions))
    report["steps"] = columns(steps)
    positions.unlink()
    steps.unlink()
    return report


def energies(report: dict[str, Any]) -> np.ndarray:
    """[T]: kinetic, stored, of gravity and of contact together, J, after every step."""
    return np.asarray(np.sum([report["steps"][part] for part in ("kinetic_j", "elastic_j", "gravity_j", "barrier_j")], axis=0))


def columns(path: Path) -> dict[str, list[Any]]:
    head, *lines = path.read_text().splitlines()
    columns = list(zip(*(line.split("\t") for line in lines)))
    words = ("outcome", "limited_by")
    return {name: list(column) if name in words else [float(v) for v in column] for name, column in zip(head.split("\t"), columns)}
