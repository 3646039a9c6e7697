"""Degenerate and classic contact scenes: no intersection in any accepted state, and the motion that each must show."""

from __future__ import annotations

from classic_runs import energy_rise, read_classes, run_scene
from classic_scenes import ALWAYS, SCENES, ClassicScene, Outcome
from page import RecordsTable
from validation import Context, Record, at_least, at_most, equal, reported

NAME = "guarantee"
DESCRIPTION = "Classic contact scenes at h = 0.02, 0.01, 0.0025 s: 0 intersections, their motion, >= 99 % of steps converged"

STEPS_S = (0.02, 0.01, 0.0025)
SLOW_STEPS_S = (0.02,)  # of scenes classified `slow`
# Most that the energy may rise, as a share of its range, per second of step size (the text of the page derives that it is of first order).
RISE_PER_S = 1.0
# Scenes that bodies cross when nothing stops them.
WITHOUT_CCD_SETTINGS = ("solver.unsafe_disable_ccd=true",)
PAGE = RecordsTable(
    "The guarantee in scenes", """Degenerate and classic contact scenes (`tests/validate/classic_scenes.py` writes them), audited in every state.
    Required of each: no intersection, no inversion where the material forbids it. Required unless `tests/validate/classic_scenes.tsv` calls
    a scene a known fault: the motion that it must show, 99 % of steps converged (where a drive is commanded to go where it cannot: or the
    target reported as not reached), and, where and while nothing but gravity does work (in scenes with drives: while they stand), a total
    energy that never rises above its lowest value so far by more than a share of its range that is proportional to the step: 2 % at h = 0.02 s,
    1 % at 0.01, 0.25 % at 0.0025. Of `crushed_block`, whose plate never stands, it is only reported. A step of backward
    Euler changes the energy by -½|Δv|²_M - ½Δxᵀ H Δx, H being the mean Hessian of the potential along Δx. Where contact makes H
    indefinite, as a body that slides along a curved one does, the second term is an energy gained. It is of the order of h² in a step and
    of h in a motion, whatever the Newton tolerance. What an adaptive barrier stiffness adds between steps is left out of that sum.
    *Inversions* are those of materials that permit them. The scenes named `without_ccd` have collision detection and exact check switched off, and the audit must
    notice.""",
    {"converged": "converged", "newton_iterations": "Newton iterations per step", "intersections": "intersections",
     "inversions": "inversions", "min_distance": "least distance, m", "energy_rise": "energy rise", "moves_as_it_must": "moves as it must",
     "known_fault": "known fault"},
    case="scene and h, s", hidden=frozenset({"forbidden_inversions", "states_audited", "exit_status", "limited_by", "unclassified_scenes",
                                                   "classified_without_a_scene"}))
WITHOUT_CCD = ("spike_spike", "spike_wedge", "cubes_edge_to_edge", "trash_compactor")


def run(context: Context) -> list[Record]:
    classes = read_classes()
    names = {scene.name for scene in SCENES}
    records = [equal("unclassified_scenes", ", ".join(sorted(names - set(classes))), ""),
               equal("classified_without_a_scene", ", ".join(sorted(set(classes) - names)), "")]
    cases = [(scene, dt) for scene in SCENES
             for dt in (SLOW_STEPS_S if classes.get(scene.name, ("",))[0] == "slow" else STEPS_S)]
    outcomes = context.each([lambda s=s, dt=dt: run_scene(context.cli, s, dt, context.scratch) for s, dt in cases],
                            [f"{s.name} h={dt:g}" for s, dt in cases])
    for (scene, dt), outcome in zip(cases, outcomes):
        records += scene_records(scene, dt, outcome, classes.get(scene.name, ("passes", "")))
    return records + _without_ccd(context)


def scene_records(scene: ClassicScene, dt: float, outcome: Outcome, known: tuple[str, str]) -> list[Record]:
    """What holds for every scene; a known fault still may not intersect, invert where that is forbidden, or crash."""
    report, audit = outcome.report, outcome.report["audit"]
    label = f"{scene.name}-{dt:g}"
    hard = [
        equal(f"{label}.intersections", audit["intersections"], 0),
        equal(f"{label}.forbidden_inversions", audit["forbidden_inversions"], 0),
        equal(f"{label}.states_audited", audit["states_checked"], report["steps"]),
        equal(f"{label}.exit_status", report["exit_status"], 0),
    ]
    converged = float((outcome.steps["outcome"] == "converged").mean())
    rise = energy_rise(outcome, scene.still or ALWAYS)
    facts = [reported(f"{label}.inversions", audit["inversions"]), reported(f"{label}.min_distance", report["min_distance_m"], "m"),
             reported(f"{label}.newton_iterations", report["newton_iterations"]["mean"]),
             reported(f"{label}.limited_by", ", ".join(f"{k}: {v}" for k, v in report["limited_by"].items()))]
    if known[0] == "fault":
        return hard + facts + [reported(f"{label}.converged", converged), reported(f"{label}.moves_as_it_must", scene.met(outcome)),
                               reported(f"{label}.energy_rise", rise), reported(f"{label}.known_fault", known[1])]
    soft = [at_least(f"{label}.converged", converged, 0.99), equal(f"{label}.moves_as_it_must", bool(scene.met(outcome)), True)]
    energy = at_most(f"{label}.energy_rise", rise, RISE_PER_S * dt) if scene.still else reported(f"{label}.energy_rise", rise)
    return hard + soft + [energy] + facts


def _without_ccd(context: Context) -> list[Record]:
    """The referee must notice when collision detection is switched off."""
    records = []
    for scene in SCENES:
        if scene.name not in WITHOUT_CCD:
            continue
        outcome = run_scene(context.cli, scene, STEPS_S[0], context.scratch, WITHOUT_CCD_SETTINGS)
        records += [at_least(f"without_ccd.{scene.name}.intersections", outcome.report["audit"]["intersections"], 1),
                    equal(f"without_ccd.{scene.name}.exit_status", outcome.report["exit_status"], 1)]
    return records
