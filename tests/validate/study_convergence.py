"""Backward Euler is first order: the grasp's error against its own fine run falls in proportion to the step."""

from __future__ import annotations

import numpy as np

from eipc_cli import GRASP_MODELS, GRASP_STEPS_S, GraspCase
from grasp_client import held_body
from surface_positions import read_surface_positions, rms_error
from validation import Context, Record, Run, reported, within

NAME = "convergence"
DESCRIPTION = "Error of the held body's surface against the run at h = 5e-4 s, and its order in h"

REFERENCE_STEP_S = 5e-4


def fitted_slope(steps: np.ndarray, errors: np.ndarray) -> float:
    """Slope of log(error) over log(step), least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def run(context: Context) -> list[Record]:
    families = [(model, real) for real in ([False, True] if context.data else [False]) for model in GRASP_MODELS]

    def runs_of(model: str, real: bool) -> list[Run]:
        fine = Run(GraspCase(model, real, GRASP_STEPS_S[0]), dt_s=REFERENCE_STEP_S, trajectory=True)
        return [fine] + [Run(GraspCase(model, real, dt), trajectory=True) for dt in GRASP_STEPS_S]

    # The long runs first, so that they do not wait for each other at the end.
    context.prepare(sorted((r for family in families for r in runs_of(*family)), key=lambda r: r.dt_s is None))
    records, errors = [], {}
    for model, real in families:
        name = f"{model}{'_real' if real else ''}"
        fine, *coarse = (read_surface_positions(context.run(r).trajectory) for r in runs_of(model, real))
        _, vertices = held_body(context, GraspCase(model, real, GRASP_STEPS_S[0]))
        errors[name] = np.array([rms_error(one, fine, vertices) for one in coarse])
        records += [reported(f"{name}.error_h_{dt:g}", float(error), "m") for dt, error in zip(GRASP_STEPS_S, errors[name])]
        records.append(within(f"{name}.slope", fitted_slope(np.array(GRASP_STEPS_S), errors[name]), 0.8, 1.2))
    from study_plots import plot_convergence  # matplotlib only where pictures are made

    plot_convergence(context.figures / "convergence.png", np.array(GRASP_STEPS_S), errors)
    return records
