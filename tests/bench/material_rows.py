"""Speed of the grasp with each material of its soft bodies, against linear corotated, and the elements that invert."""

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


def name_of(model: str) -> str:
    return f"material-{model}"


def material_rows(cli: EipcCli, models: Sequence[str], runs: int, threads: int) -> list[dict[str, Any]]:
    """A row for each material and model; runs of the materials take turns, and ratios are medians over the turns."""
    rows = []
    for model in models:
        scene = GraspCase(model, False, STEP_S).scene
        turns = [{material: cli.run(scene, STEP_S, threads=threads, settings=grasp_material(material)) for material in MATERIALS}
                 for _ in range(runs)]
        for material in MATERIALS:
            reports = [turn[material] for turn in turns]
            rows.append({
                "name": name_of(model), "model": model, "material": material,
                "real_time_factor": statistics.median(report["real_time_factor"] for report in reports),
                "time_ratio": statistics.median(turn[material]["wall_s"] / turn[REFERENCE]["wall_s"] for turn in turns),
                "elasticity_share": statistics.median(report["stage_seconds"]["elasticity"] / report["wall_s"] for report in reports),
                "newton_mean": reports[0]["newton_iterations"]["mean"],
                "pad_force_n": abs(reports[0]["contact_forces"]["teddy/bubble_left"]["normal_n"][1]),
                "inverted_elements": reports[0]["inverted_elements"]})
    return rows


def material_targets(rows: Sequence[dict[str, Any]]) -> list[Target]:
    targets = []
    for row in rows:
        if row["material"] == DEFAULT:
            ratio, factor = LIMITS[row["model"]]
            targets += [Target(f"{row['model']}, {DEFAULT}", row["time_ratio"], ratio, f"x the time with {REFERENCE}", at_most=True),
                        Target(f"{row['model']}, {DEFAULT}", row["real_time_factor"], factor, "x real time")]
    return targets


def material_table(rows: Sequence[dict[str, Any]]) -> Table:
    header = ["grasp", "material", "x real time", f"x time of {REFERENCE}", "% in elasticity", "Newton mean", "pad force N",
              "inverted elements, most in a state", "states with some"]
    return Table(header, [
        [row["name"], row["material"], f"{row['real_time_factor']:.2f}", f"{row['time_ratio']:.2f}", f"{100 * row['elasticity_share']:.1f}",
         f"{row['newton_mean']:.2f}", f"{row['pad_force_n']:.1f}", str(row["inverted_elements"]["most"]),
         str(row["inverted_elements"]["steps"])] for row in rows])
