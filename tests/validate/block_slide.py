"""A block slides down a slope and stops: friction at the end of the step against friction lagged, over step sizes."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

import solids
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
DURATION_S = 17.0
# Friction that sets in all at once shears the block by 2 um, which swings at 2 mm/s for ever under the trapezoidal rule, and a foot that
# swings faster than the block slides is hardly braked. Damping in proportion to stiffness ends that; motion as a whole feels none of it.
DAMPING_S = 1e-3
START = 0.003  # m, of the middle of the block
METHODS = {
    "implicit": ("contact.friction_mode=IMPLICIT",),
    "lagged, 1": ("contact.friction_lag_iterations=1",),
    "lagged, 2": ("contact.friction_lag_iterations=2",),
    "lagged, 5": ("contact.friction_lag_iterations=5",),
    "lagged, converged": ("contact.friction_mode=LAGGED_UNTIL_CONVERGED",),
}
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


def _stop(times: np.ndarray, positions: np.ndarray, trapezoidal: bool) -> dict[str, Optional[float]]:
    """Time and distance to the first step whose velocity at its end is at most eps_v; None when there is none. Velocities are those of the
    integrator's state: (x' - x) / h, or by x' - x = h (v + v') / 2."""
    distance = np.concatenate([[0.0], positions[:, :8, 0].mean(axis=1) - START])
    mean = np.diff(distance) / times[0]
    velocity = [SPEED]
    for m in mean:
        velocity.append(2 * m - velocity[-1] if trapezoidal else m)
    slow = np.nonzero(np.array(velocity[1:]) <= SLIP)[0]
    if slow.size == 0:
        return {"time": None, "way": None}
    return {"time": float(times[slow[0]]), "way": float(distance[slow[0] + 1])}


def _stop_tr(times: np.ndarray, positions: np.ndarray) -> dict[str, Optional[float]]:
    return _stop(times, positions, True)


def _stop_be(times: np.ndarray, positions: np.ndarray) -> dict[str, Optional[float]]:
    return _stop(times, positions, False)


def run_block_slide(context: Context, page: Page) -> list[Record]:
    rest = run_scene(context, SceneRun("block at rest", scene(0.0508, slide=False), 0.01, 0.01))
    height = rest["bodies"]["block"]["position_m"][2]
    cases = [(method, integrator, step) for method in METHODS for integrator in INTEGRATORS for step in STEPS_S
             if integrator == "BE" or method in ("implicit", "lagged, 1")]
    runs = [SceneRun(f"block slide {method} {integrator} h={step:g}", scene(height, slide=True), step, DURATION_S,
                     (*METHODS[method], f"solver.integrator={INTEGRATORS[integrator]}"), f"stop {integrator}",
                     _stop_tr if integrator == "TR" else _stop_be)
            for method, integrator, step in cases]
    found = dict(zip(cases, run_scenes(context, runs)))
    records = [record for case, report in found.items() for record in _judge(case, report)]
    page.section("Block slide")
    page.text(f"""A stiff block (0.2 × 0.2 × 0.1 m, affine, 1e7 Pa) slides down 10° at {SPEED} m/s with μ = {MU}; it should stop after
        v₀/a = {TIME:.2f} s and v₀²/2a = {DISTANCE:.3f} m (Larionov et al. 2023, V-A1). It starts at the height where the barrier carries it,
        ε_v = {SLIP:g} m/s, no mass damping, β = {DAMPING_S:g} s (or the swing of its feet would not end); stopped is the first step that ends slower than ε_v; a dash: not within {DURATION_S:g} s. The trapezoidal
        rule does not damp: after that its block shivers, the velocity changing sign from step to step.""")
    for quantity, heading, unit, exact in (("time", "time", "s", TIME), ("way", "distance", "m", DISTANCE)):
        page.table([f"{heading} to stop ({unit}; exact {exact:.4g})", *(f"h = {h:g}" for h in STEPS_S)],
                   [[f"{method}, {integrator}", *(found[method, integrator, h]["measured"][quantity] for h in STEPS_S)]
                    for method in METHODS for integrator in INTEGRATORS if (method, integrator, STEPS_S[0]) in found])
    page.table(["Newton iterations per step", *(f"h = {h:g}" for h in STEPS_S)],
               [[f"{method}, BE", *(found[method, "BE", h]["newton_iterations"]["mean"] for h in STEPS_S)] for method in METHODS])
    return records


def _judge(case: tuple[str, str, float], report: dict[str, Any]) -> list[Record]:
    method, integrator, step = case
    name = f"block_slide.{method.replace(', ', '_')}.{integrator}.h={step:g}"
    time, distance = report["measured"]["time"], report["measured"]["way"]
    records = [reported(f"{name}.time", time, "s"), reported(f"{name}.distance", distance, "m")]
    if method != "implicit":
        return records
    if step > 0.05:
        return records
    records.append(at_most(f"{name}.fallbacks", report["friction"]["fallbacks"], 0))
    limit = 0.01 if integrator == "BE" else 0.02
    errors = (math.inf if time is None else abs(time / TIME - 1), math.inf if distance is None else abs(distance / DISTANCE - 1))
    return records + [at_most(f"{name}.time_error", errors[0], limit), at_most(f"{name}.distance_error", errors[1], limit)]
