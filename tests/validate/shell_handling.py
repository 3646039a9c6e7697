"""Cloth that is handled: the scenes of models/scenes with shells, what they are to end as, and how fast a towel is folded."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Callable

import numpy as np

from eipc_cli import SCENES
from surface_positions import read_surface_positions
from validation import Context, Record, at_least, at_most, equal, reported, within

STEP_S = 0.02
BAR_X, BAR_Z, BAR_RADIUS = 0.26, 0.2, 0.02  # m, models/scenes/towel_bar.textproto
CAPSULE_RADIUS, CAPSULE_LENGTH = 0.035, 0.12  # m, models/sheets.h
BALL_RADIUS = 0.02
EDGE = 0.3 / 14  # of the towel's mesh
FOLDS = (("towel_fold", 263, 1.0), ("towel_fold_fine", 1037, 0.3))  # scene, vertices, least share of real time
GATHERED_S = 1.3  # models/scenes/towel_flatten.textproto: when it begins to be drawn flat
FINE_TOLERANCE = 1e-5  # m/s, of the run that errors are measured against
Judge = Callable[[str, dict[str, Any]], list[Record]]


def run_handling(context: Context, name: str, settings: tuple[str, ...] = (), audit: bool = True) -> dict[str, Any]:
    """The report of the scene of this name, on one thread, with "last": positions at the end."""
    scene = SCENES / f"{name}.textproto"

    def make() -> dict[str, Any]:
        path = context.scratch / f"{name}.positions"
        report = context.cli.run(scene, STEP_S, settings=settings, trajectory=path, audit=audit)
        report["last"] = np.asarray(read_surface_positions(path).positions[-1]).tolist()
        path.unlink()
        return report

    inputs: list[Path] = [scene, SCENES.parent / "manifest.json"]
    return context.kept.get(inputs, ["handling", STEP_S, settings, audit], make)


def _sound(name: str, report: dict[str, Any]) -> list[Record]:
    audit, steps = report["audit"], report["steps"]
    least = audit["least_relative_distance"]
    return [equal(f"{name}.intersections", audit["intersections"], 0), equal(f"{name}.states_checked", audit["states_checked"], steps),
            at_least(f"{name}.distance_over_separation", math.inf if least is None else least, 1.0),
            at_most(f"{name}.steps_not_converged", report["steps_not_converged"] / steps, 0.01),
            reported(f"{name}.newton_iterations", report["newton_iterations"]["mean"]), reported(f"{name}.contacts", report["contacts"]["mean"])]


def _over_the_bar(name: str, report: dict[str, Any]) -> list[Record]:
    """Both ends hang beside the bar, below it."""
    points = report["bodies"]["towel"]["shell"]["keypoints"]
    records = []
    for end, side in (("picked", 1.0), ("trailing", -1.0)):
        for hand in ("left", "right"):
            x, _, z = points[f"{end}_{hand}"]
            records += [at_most(f"{name}.{end}_{hand}.height", z, BAR_Z - BAR_RADIUS, "m"), at_least(f"{name}.{end}_{hand}.beside", side * (x - BAR_X), 0.0, "m")]
    return [*records, reported(f"{name}.coverage", report["bodies"]["towel"]["shell"]["coverage"])]


def _folded(name: str, report: dict[str, Any]) -> list[Record]:
    """Once over: half of the area covered, vertices within an edge of the coarse mesh of those that they are to lie on."""
    shell = report["bodies"]["towel"]["shell"]
    return [at_most(f"{name}.fold_error", shell["fold_error_m"], EDGE, "m"), within(f"{name}.coverage", shell["coverage"], 0.45, 0.6),
            within(f"{name}.mean_layers", shell["mean_layers"], 1.7, 2.2), reported(f"{name}.most_layers", shell["most_layers"])]


def _loaded(name: str, report: dict[str, Any]) -> list[Record]:
    """The ball hangs in the bag, whose mouth is open."""
    bag, ball = report["bodies"]["bag"], report["bodies"]["ball"]["position_m"]
    bottom = bag["shell"]["keypoints"]["bottom"]
    mouth = bag["shell"]["openings"]["mouth"]["area_m2"]
    weight = 9.81 * report["bodies"]["ball"]["mass_kg"]
    return [within(f"{name}.ball_above_the_bottom", ball[2] - bottom[2], 0.5 * BALL_RADIUS, 3 * BALL_RADIUS, "m"),
            at_least(f"{name}.bottom_above_the_ground", bottom[2], 0.01, "m"), at_least(f"{name}.mouth", mouth, math.pi * BALL_RADIUS**2, "m^2"),
            within(f"{name}.carried_over_weight", report["contact_forces"]["ball/bag"]["normal_n"][2] / weight
                   + report["contact_forces"]["ball/bag"]["friction_n"][2] / weight, 0.9, 1.1)]


def _pulled_over(name: str, report: dict[str, Any]) -> list[Record]:
    """Every vertex of the sleeve is outside the capsule, and its upper end below the capsule's."""
    points = np.asarray(report["last"])[:800]
    along = np.clip(points[:, 2], 0, CAPSULE_LENGTH)
    distance = np.linalg.norm(points - np.stack([0 * along, 0 * along, along], axis=1), axis=1)
    shell = report["bodies"]["sleeve"]["shell"]
    # Of the capsule's faces, which lie inside the round one by (1 - cos(pi / 32)) of its radius.
    return [at_least(f"{name}.outside", distance.min(), CAPSULE_RADIUS * math.cos(math.pi / 32)**2, "m"),
            at_most(f"{name}.upper_end", shell["keypoints"]["upper"][2], CAPSULE_LENGTH + CAPSULE_RADIUS, "m"),
            within(f"{name}.largest_stretch", shell["largest_stretch"], 1.0, 1.5),
            reported(f"{name}.upper_opening", shell["openings"]["upper"]["area_m2"], "m^2")]


def _flattened(name: str, report: dict[str, Any]) -> list[Record]:
    """One layer that covers its area at rest."""
    shell = report["bodies"]["towel"]["shell"]
    return [within(f"{name}.coverage", shell["coverage"], 0.95, 1.02), within(f"{name}.mean_layers", shell["mean_layers"], 1.0, 1.02)]


SCENES_OF_CLOTH: dict[str, Judge] = {"towel_bar": _over_the_bar, "towel_fold": _folded, "towel_flatten": _flattened, "bag_load": _loaded, "sleeve_capsule": _pulled_over}


def judge_handling(context: Context) -> list[Record]:
    records = []
    for name, judge in SCENES_OF_CLOTH.items():
        context.say(name)
        report = run_handling(context, name)
        records += [*_sound(name, report), *judge(name, report)]
    gathered = run_handling(context, "towel_flatten", (f"schedule.duration_s={GATHERED_S}",), audit=False)
    return [*records, at_most("towel_flatten.coverage_of_the_gathered_towel", gathered["bodies"]["towel"]["shell"]["coverage"], 0.7)]


def judge_speed(context: Context) -> list[Record]:
    """A towel folded at the tolerance of the scene, on one thread; beside it the error against a tolerance of 1e-5 m/s, after three seconds."""
    records = []
    for name, vertices, share in FOLDS:
        context.say(name)
        report = run_handling(context, name, audit=False)
        exact = run_handling(context, name, (f"solver.newton_tolerance_m_s={FINE_TOLERANCE}",), audit=False)
        off = np.linalg.norm(np.asarray(report["last"])[:vertices] - np.asarray(exact["last"])[:vertices], axis=1)
        records += [at_least(f"{name}.real_time_factor", report["real_time_factor"], share), reported(f"{name}.newton_iterations", report["newton_iterations"]["mean"]),
                    reported(f"{name}.contacts", report["contacts"]["mean"]), reported(f"{name}.mean_error", float(off.mean()), "m"),
                    at_most(f"{name}.steps_not_converged", report["steps_not_converged"] / report["steps"], 0.01),
                    reported(f"{name}.real_time_factor_at_1e-5", exact["real_time_factor"])]
    return records
