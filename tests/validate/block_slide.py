"""A block slides down a slope and stops: friction at the end of the step against friction lagged, over step sizes."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

import solids
from friction_modes import IMPLICIT, LAGGED, LAGGED_2, LAGGED_5, LAGGED_UNTIL_CONVERGED
from page import Page
from scene_runs import SceneRun, run_scene, run_scenes
from scene_text import SceneText
from validation import Context, Record, at_most, reported

ANGLE = math.radians(10)
MU, SPEED, GRAVITY, SLIP = 0.177, 0.1, 9.81, 1e-4
# a = g (mu cos - sin): v0 / a and v0^2 / 2a. Friction needs eps_v / a more seconds to be whole, which is below 1e-3 of either.
DECELERATION = GRAVITY * (MU * math.cos(ANGLE) - math.sin(ANGLE))
TIME, DISTANCE = SPEED / DECELERATION, SPEED**2 / (2 * DECELERATION)
STEPS_S = (0.2, 0.1, 0.05, 0.02, 0.01)
DURATION_S = 50.0  # as long as the paper looks
# Stopped: from then on it moves by no more than this in a second, 1 % of its speed at first. How the paper tells is not published. A block whose
# velocity changes sign from step to step is not slow because one of them is small.
STOPPED_M, STOPPED_S = 1e-3, 1.0
FLIES_M = 0.01  # above the start: it has left the slope
EARLY = math.sqrt(2 * STOPPED_M / DECELERATION)  # s before the end, less than STOPPED_S: what is left then is STOPPED_M
assert EARLY < STOPPED_S
STOP_TIME, STOP_DISTANCE = TIME - EARLY, DISTANCE - STOPPED_M
# Friction that sets in all at once shears the block by 2 um, which swings at 2 mm/s for ever under the trapezoidal rule, and a foot that
# swings faster than the block slides is hardly braked. Damping in proportion to stiffness ends that; motion as a whole feels none of it.
DAMPING_S = 1e-3
STOPPED = (f"Stopped: from then on it moves by less than {1e3 * STOPPED_M:g} mm in {STOPPED_S:g} s, which is so {EARLY:.2f} s and {1e3 * STOPPED_M:g} mm before the end of the exact motion; "
           "how the paper tells is not published.")
START = 0.003  # m, of the middle of the block
METHODS = {"implicit": IMPLICIT, "lagged, 1": LAGGED, "lagged, 2": LAGGED_2, "lagged, 5": LAGGED_5, "lagged, converged": LAGGED_UNTIL_CONVERGED}
INTEGRATORS = {"BE": "BACKWARD_EULER", "TR": "TRAPEZOIDAL"}


def scene(height: float, slide: bool) -> SceneText:
    """The slope is the ground and gravity leans. At rest first: the height at which the barrier carries the block."""
    text = SceneText("slide" if slide else "rest")
    text.gravity = (GRAVITY * math.sin(ANGLE) if slide else 0.0, 0.0, -GRAVITY * math.cos(ANGLE))
    text.moving("block", "affine", solids.box(0.2, 0.2, 0.1), (START, 0.002, height), youngs_modulus_pa=1e7, density_kg_m3=1000.0, material=f"rayleigh_beta_s: {DAMPING_S!r}",
                velocity=(SPEED if slide else 0.0, 0, 0))
    slope = (np.array([(-2.0, -2, 0), (3, -2, 0), (3, 2, 0), (-2, 2, 0)]), np.array([(0, 1, 2), (0, 2, 3)]))
    text.static("slope", slope)
    text.contact(MU if slide else 0.0, dhat=1e-3, eps_v=SLIP, more="area_stiffness_n_m3: 1e9")
    text.line("solver { newton_tolerance_m_s: 1e-7 }")
    text.line(f"start_in_equilibrium: {'false' if slide else 'true'}")
    return text


def _stop(times: np.ndarray, positions: np.ndarray) -> dict[str, Optional[float]]:
    """Time and distance to where it has stopped (STOPPED_M), None when there is none; and its mean speed in the last tenth of the run, which the
    smoothed law leaves it below eps_v."""
    distance = np.concatenate([[0.0], positions[:, :8, 0].mean(axis=1) - START])
    after, last = round(STOPPED_S / times[0]), len(times) // 10
    creep = float((distance[-1] - distance[-1 - last]) / (last * times[0]))
    rise = float((positions[:, :8, 2].mean(axis=1) - positions[0, :8, 2].mean()).max())
    slow = np.nonzero(np.abs(distance[after:] - distance[:-after]) <= STOPPED_M)[0]
    if slow.size == 0:
        return {"time": None, "way": None, "creep": creep, "rise": rise}
    return {"time": float(slow[0] * times[0]), "way": float(distance[slow[0]]), "creep": creep, "rise": rise}


def run_block_slide(context: Context, page: Page) -> list[Record]:
    rest = run_scene(context, SceneRun("block at rest", scene(0.0508, slide=False), 0.01, 0.01))
    height = rest["bodies"]["block"]["position_m"][2]
    cases = [(method, integrator, step) for method in METHODS for integrator in INTEGRATORS for step in STEPS_S
             if integrator == "BE" or method in ("implicit", "lagged, 1")]
    runs = [SceneRun(f"block slide {method} {integrator} h={step:g}", scene(height, slide=True), step, DURATION_S,
                     (*METHODS[method], f"solver.integrator={INTEGRATORS[integrator]}"), "stop", _stop)
            for method, integrator, step in cases]
    found = dict(zip(cases, run_scenes(context, runs)))
    records = [record for case, report in found.items() for record in _judge(case, report)]
    page.section("Block slide")
    page.text(f"""A stiff block (0.2 × 0.2 × 0.1 m, affine, 1e7 Pa) slides down 10° at {SPEED} m/s with μ = {MU}; it should stop after
        v₀/a = {TIME:.2f} s and v₀²/2a = {DISTANCE:.3f} m (Larionov et al. 2023, V-A1). It starts at the height where the barrier carries it,
        ε_v = {SLIP:g} m/s, no mass damping, β = {DAMPING_S:g} s (or the swing of its feet would not end). {STOPPED} A dash: not within {DURATION_S:g} s. The trapezoidal rule does not damp: its block shivers,
        the velocity changing sign from step to step, and creeps on faster than the smoothed law lets one that is still.""")
    for quantity, heading, unit, exact in (("time", "time", "s", STOP_TIME), ("way", "distance", "m", STOP_DISTANCE)):
        page.table([f"{heading} to stop ({unit}; exact {exact:.4g})", *(f"h = {h:g}" for h in STEPS_S)],
                   [[f"{method}, {integrator}", *(found[method, integrator, h]["measured"][quantity] for h in STEPS_S)]
                    for method in METHODS for integrator in INTEGRATORS if (method, integrator, STEPS_S[0]) in found])
    page.table(["creep in the last 5 s (mm/s)", *(f"h = {h:g}" for h in STEPS_S)],
               [[f"{method}, {integrator}", *(1e3 * found[method, integrator, h]["measured"]["creep"] for h in STEPS_S)]
                for method in METHODS for integrator in INTEGRATORS if (method, integrator, STEPS_S[0]) in found])
    page.table(["Newton iterations per step", *(f"h = {h:g}" for h in STEPS_S)],
               [[f"{method}, BE", *(found[method, "BE", h]["newton_iterations"]["mean"] for h in STEPS_S)] for method in METHODS])
    return records


def _judge(case: tuple[str, str, float], report: dict[str, Any]) -> list[Record]:
    method, integrator, step = case
    name = f"block_slide.{method.replace(', ', '_')}.{integrator}.h={step:g}"
    time, distance = report["measured"]["time"], report["measured"]["way"]
    creep = report["measured"]["creep"]
    records = [reported(f"{name}.time", time, "s"), reported(f"{name}.distance", distance, "m")]
    records.append(at_most(f"{name}.creep", creep, SLIP, "m/s") if (method, integrator) == ("implicit", "BE") else reported(f"{name}.creep", creep, "m/s"))
    if method != "implicit":
        return records
    if step > 0.05:
        return records
    records.append(at_most(f"{name}.fallbacks", report["friction"]["fallbacks"], 0))
    limit = 0.01 if integrator == "BE" else 0.02
    errors = (math.inf if time is None else abs(time / STOP_TIME - 1), math.inf if distance is None else abs(distance / STOP_DISTANCE - 1))
    return records + [at_most(f"{name}.time_error", errors[0], limit), at_most(f"{name}.distance_error", errors[1], limit)]
