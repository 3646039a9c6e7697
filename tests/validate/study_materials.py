"""The grasp with every material of its soft bodies, in every space: the force that the pads press with, and the elements that invert."""

from __future__ import annotations

from eipc_cli import MATERIALS, GraspCase, grasp_cases, grasp_material
from page import RecordsTable
from validation import Context, Record, Run, equal, reported

NAME = "materials"
DESCRIPTION = "The grasp with every material, by cages and in full space: normal force of a pad, inverted elements, iterations"

STEP_S = 0.02
SPACE = "bodies[teddy].embedded.coarse_space="
PLAIN_ONLY = ("LINEAR_COROTATED", "LOG_BARRIER_NEO_HOOKEAN")  # not condensed unless a scene says so, or not at all

PAGE = RecordsTable(
    "Materials", """The grasp of models/scenes/bubble_teddy_*.textproto (E = 5e4 Pa, ν = 0.45; pads 1e4 Pa) at h = 0.02 s with one material for bear and
    pads. *Pad force*: the normal force of the left pad on the bear along y at the end of the run, N. *Inverted elements*: summed over all
    200 states, by the exact audit; *in one state*: the most, as every step reports them in floating point. *Iterations*: of Newton's
    method, a step. *Condensed*: the cage in the condensed coarse space, the default of 34 vertices with the materials that have such a row.""",
    {"pad_force": "pad force, N", "inversions": "inverted elements", "most_inverted": "in one state", "force_error": "force error",
     "newton_iterations": "iterations", "not_converged": "steps not converged"},
    case="material, space", hidden=frozenset({"intersections", "forbidden_inversions"}))


def _cases(context: Context) -> list[GraspCase]:
    return [case for case in grasp_cases(context.data) if case.dt_s == STEP_S]


def _runs(context: Context) -> list[tuple[str, Run]]:
    """By the name of material and space."""
    out = []
    for material in MATERIALS:
        for case in _cases(context):
            settings, meshes = grasp_material(material), " (real meshes)" if case.real else ""
            plain = () if case.model == "full" else (SPACE + "PLAIN",)
            out.append((f"{material}, {case.model}{meshes}", Run(case, audit=True, settings=(*settings, *plain))))
            if case.model == "low" and material not in PLAIN_ONLY:
                out.append((f"{material}, low, condensed{meshes}", Run(case, audit=True, settings=(*settings, SPACE + "CONDENSED"))))
    return out


def run(context: Context) -> list[Record]:
    runs = _runs(context)
    context.prepare(run for _, run in runs)
    return [record for name, run in runs for record in _records(context, name, run)]


def _records(context: Context, name: str, run: Run) -> list[Record]:
    report = context.run(run).report
    audit, holding = report["audit"], report["holding"]
    return [
        reported(f"{name}.pad_force", abs(report["contact_forces"]["teddy/bubble_left"]["normal_n"][1]), "N"),
        reported(f"{name}.inversions", audit["inversions"]),
        reported(f"{name}.most_inverted", report["inverted_elements"]["most"]),
        reported(f"{name}.force_error", abs(holding["mean_vertical_force_n"] / holding["weight_n"] - 1)),
        reported(f"{name}.newton_iterations", report["newton_iterations"]["mean"]),
        reported(f"{name}.not_converged", report["steps_not_converged"]),
        equal(f"{name}.intersections", audit["intersections"], 0),
        equal(f"{name}.forbidden_inversions", audit["forbidden_inversions"], 0),
    ]
