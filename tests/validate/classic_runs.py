"""Runs classic scenes through `eipc run --audit` and reads what they did."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Sequence

import numpy as np

from classic_scenes import ALWAYS, ClassicScene, Outcome
from eipc_cli import EipcCli
from step_log import read_steps

CLASSES_FILE = Path(__file__).with_name("classic_scenes.tsv")
CLASSES = ("passes", "slow", "fault")


def run_scene(cli: EipcCli, scene: ClassicScene, dt_s: float, folder: Path, settings: Sequence[str] = ()) -> Outcome:
    """One audited run. Raises RunError when there is no report."""
    own = folder / f"{scene.name}-{dt_s:g}-{len(settings)}"
    path = scene.build(scene.name).write(own)
    steps = own / "steps.tsv"
    report = cli.run(path, dt_s, scene.duration_s, audit=True, settings=settings, steps=steps)
    return Outcome(report, read_steps(steps))


def energy_rise(outcome: Outcome, still: tuple[float, float] = ALWAYS) -> float:
    """Largest rise of the total energy above its lowest value so far, from when to when (s), over the larger of its range in the whole run and the
    kinetic energy.

    Barrier energy is part of the total, less what an adaptive stiffness adds to it between steps.
    """
    steps = outcome.steps
    total = steps["kinetic_j"] + steps["elastic_j"] + steps["gravity_j"] + steps["barrier_j"]
    # What raising the stiffness adds is not the motion's doing. A step is solved with `solved`, from contacts that were counted with
    # the `after` of the line before; its own line counts them with its `after`.
    solved, after, barrier = steps["barrier_stiffness"], steps["next_barrier_stiffness"], steps["barrier_j"]
    raised = (1 - solved / after) * barrier
    raised[1:] += (solved[1:] / after[:-1] - 1) * barrier[:-1]
    total = total - np.cumsum(raised)
    span = max(total.max() - total.min(), steps["kinetic_j"].max())
    time = steps["time_s"]
    judged = total[(time > still[0] - 1e-9) & (time < still[1] + 1e-9)]
    return float((judged - np.minimum.accumulate(judged)).max() / span) if span > 0 else 0.0


def read_classes() -> dict[str, tuple[str, str]]:
    """Scene -> (class, reason), from the table beside this file. Raises ValueError for a class that does not exist."""
    classes = {}
    with CLASSES_FILE.open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["class"] not in CLASSES or (row["class"] != "passes") != bool(row["reason"]):
                raise ValueError(f"{CLASSES_FILE.name}: {row['scene']}: a class of {CLASSES}, and a reason unless it passes")
            classes[row["scene"]] = (row["class"], row["reason"])
    return classes
