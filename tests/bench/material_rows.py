"""Speed of the grasp with each material of its soft bodies, against linear corotated, and the elements that invert; and of the condensed
coarse space, against the plain one."""

from __future__ import annotations

import statistics
from typing import Any, Sequence

from eipc_cli import MATERIALS, EipcCli, GraspCase, grasp_material
from targets import Target
from text_table import Table

REFERENCE = MATERIALS[0]
DEFAULT = "STABLE_NEO_HOOKEAN"
STEP_S = 0.02
# Of the default material: time over that of linear corotated, and times real time.
LIMITS = {"low": (1.3, 10.0), "medium": (1.9, 5.0), "full": (1.9, 3.0)}
# Of the default material in the condensed coarse space, the default of small cages: time over that of the plain one, and times real time.
CONDENSED = "condensed"
CONDENSED_LIMITS = {"low": (1.25, 10.0)}


def _settings(model: str, material: str) -> tuple[str, ...]:
    """material: of MATERIALS, in the plain coarse space, or CONDENSED."""
    space = "CONDENSED" if material == CONDENSED else "PLAIN"
    cage = () if model == "full" else (f"bodies[teddy].embedded.coarse_space={space}",)
    return (*grasp_material(DEFAULT if material == CONDENSED else material), *cage)


def _variants(model: str) -> tuple[str, ...]:
    return (*MATERIALS, CONDENSED) if model in CONDENSED_LIMITS else MATERIALS


def name_of(model: str) -> str:
    return f"material-{model}"


def material_rows(cli: EipcCli, models: Sequence[str], runs: int, threads: int) -> list[dict[str, Any]]:
    """A row for each material and model; runs of the materials take turns, and ratios are medians over the turns."""
    rows = []
    for model in models:
        scene = GraspCase(model, False, STEP_S).scene
        turns = [{material: cli.run(scene, STEP_S, threads=threads, settings=_settings(model, material)) for material in _variants(model)}
                 for _ in range(runs)]
        for material in _variants(model):
            reports = [turn[material] for turn in turns]
            reference = DEFAULT if material == CONDENSED else REFERENCE
            rows.append({
                "name": name_of(model), "model": model, "material": material,
                "real_time_factor": statistics.median(report["real_time_factor"] for report in reports),
                "time_ratio": statistics.median(turn[material]["wall_s"] / turn[reference]["wall_s"] for turn in turns),
                "reference": reference,
                "elasticity_share": statistics.median(report["stage_seconds"]["elasticity"] / report["wall_s"] for report in reports),
                "newton_mean": reports[0]["newton_iterations"]["mean"],
                "pad_force_n": abs(reports[0]["contact_forces"]["teddy/bubble_left"]["normal_n"][1]),
                "inverted_elements": reports[0]["inverted_elements"]})
    return rows


def material_targets(rows: Sequence[dict[str, Any]]) -> list[Target]:
    targets = []
    for row in rows:
        limits = {DEFAULT: LIMITS, CONDENSED: CONDENSED_LIMITS}.get(row["material"], {})
        if row["model"] in limits:
            ratio, factor = limits[row["model"]]
            targets += [Target(f"{row['model']}, {row['material']}", row["time_ratio"], ratio, f"x the time with {row['reference']}",
                               at_most=True),
                        Target(f"{row['model']}, {row['material']}", row["real_time_factor"], factor, "x real time")]
    return targets


def material_table(rows: Sequence[dict[str, Any]]) -> Table:
    header = ["grasp", "material", "x real time", f"x time of {REFERENCE} ({CONDENSED}: of {DEFAULT})", "% in elasticity", "Newton mean", "pad force N",
              "inverted elements, most in a state", "states with some"]
    return Table(header, [
        [row["name"], row["material"], f"{row['real_time_factor']:.2f}", f"{row['time_ratio']:.2f}", f"{100 * row['elasticity_share']:.1f}",
         f"{row['newton_mean']:.2f}", f"{row['pad_force_n']:.1f}", str(row["inverted_elements"]["most"]),
         str(row["inverted_elements"]["steps"])] for row in rows])
