"""The default stopping rule against a tight one: how much of forces and positions is the solver's tolerance?"""

from __future__ import annotations

import numpy as np

from eipc_cli import GraspCase, grasp_cases
from grasp_client import held_body
from page import RecordsTable
from solution_error import TIGHT, holding_force_difference, pair_force_difference
from surface_positions import differences, read_surface_positions
from validation import Context, Record, Run, at_most, reported

NAME = "accuracy"
DESCRIPTION = "Default Newton tolerance against 1e-7 m/s: forces within 1 %, positions within 0.1 mm"

PAGE = RecordsTable(
    "Accuracy of the stopping rule", """The grasp with the default Newton tolerance against one of 1e-7 m/s, at the same step size: the difference of the force
    while holding and of each pair's force, the largest distance of a surface vertex at any step, and its root mean square.""",
    {"holding_force_difference": "holding force", "pair_force_difference": "forces of pairs", "position_difference": "position, m",
     "position_difference_rms": "rms, m", "newton_iterations": "Newton iterations per step", "newton_iterations_tight": "with 1e-7 m/s"},
    hidden=frozenset({"tight_steps_not_converged"}))


def run(context: Context) -> list[Record]:
    cases = grasp_cases(context.data)
    context.prepare(Run(case, settings=settings, trajectory=True) for case in cases for settings in ((), TIGHT))
    records = []
    for case in cases:
        records += _compare(context, case)
    return records


def _compare(context: Context, case: GraspCase) -> list[Record]:
    usual, tight = (context.run(Run(case, settings=settings, trajectory=True)) for settings in ((), TIGHT))
    _, vertices = held_body(context, case)
    apart = np.linalg.norm(differences(read_surface_positions(usual.trajectory), read_surface_positions(tight.trajectory),
                                       vertices), axis=2)
    return [
        at_most(f"{case.name}.holding_force_difference", holding_force_difference(usual.report, tight.report), 0.01),
        at_most(f"{case.name}.pair_force_difference", pair_force_difference(usual.report, tight.report), 0.01),
        at_most(f"{case.name}.position_difference", float(apart.max()), 1e-4, "m"),
        reported(f"{case.name}.position_difference_rms", float(np.sqrt(np.mean(apart**2))), "m"),
        reported(f"{case.name}.newton_iterations", usual.report["newton_iterations"]["mean"]),
        reported(f"{case.name}.newton_iterations_tight", tight.report["newton_iterations"]["mean"]),
        reported(f"{case.name}.tight_steps_not_converged", tight.report["steps_not_converged"]),
    ]

