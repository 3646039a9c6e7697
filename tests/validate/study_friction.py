"""A block slides down a slope and stops: friction at the end of the step against friction lagged, over step sizes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Optional

import numpy as np

from surface_positions import read_surface_positions
from validation import Context, Record, at_most, reported

NAME = "friction"
DESCRIPTION = "Block slide (Larionov et al. 2023, V-A1): stops after 0.769 m and 15.38 s, whatever the step size"

ANGLE = math.radians(10)
MU, SPEED, GRAVITY, SLIP = 0.177, 0.1, 9.81, 1e-4
# a = g (mu cos - sin): v0 / a and v0^2 / 2a. Friction needs eps_v / a more seconds to be whole, which is below 1e-3 of either.
DECELERATION = GRAVITY * (MU * math.cos(ANGLE) - math.sin(ANGLE))
TIME, DISTANCE = SPEED / DECELERATION, SPEED**2 / (2 * DECELERATION)
STEPS_S = (0.1, 0.05, 0.02)
METHODS = {
    "implicit": ("contact.friction_mode=IMPLICIT",),
    "lagged_1": ("contact.friction_lag_iterations=1",),
    "lagged_2": ("contact.friction_lag_iterations=2",),
    "lagged_5": ("contact.friction_lag_iterations=5",),
    "lagged_converged": ("contact.friction_mode=LAGGED_UNTIL_CONVERGED",),
}
INTEGRATORS = {"be": "BACKWARD_EULER", "tr": "TRAPEZOIDAL"}

SCENE = """
display_name: "block_slide"
gravity_m_s2 {{ x: {gx!r} y: 0 z: {gz!r} }}
bodies {{
  name: "block"
  affine {{ surface {{ file: "block.obj" }} }}
  pose {{ position_m {{ x: 0.003 y: 0.002 z: {height!r} }} }}
  material {{ model: ABD_ORTHOGONALITY density_kg_m3: 1000 youngs_modulus_pa: 1e7 }}
  linear_velocity_m_s {{ x: {speed!r} y: 0 z: 0 }}
}}
bodies {{ name: "slope" static_body {{ surface {{ file: "slope.obj" }} }} }}
contact {{ dhat_m: 1e-3 area_stiffness_n_m3: 1e9 friction_coefficient: {mu!r} friction_velocity_m_s: {slip!r} }}
solver {{ newton_tolerance_m_s: 1e-7 }}
start_in_equilibrium: {settle}
"""


def _write_meshes(folder: Path) -> None:
    half = (0.1, 0.1, 0.05)
    corners = [(x * half[0], y * half[1], z * half[2]) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = [tri for a, b, c, d in quads for tri in ((a, b, c), (a, c, d))]
    _write_obj(folder / "block.obj", corners, faces)
    _write_obj(folder / "slope.obj", [(-2, -2, 0), (3, -2, 0), (3, 2, 0), (-2, 2, 0)], [(0, 1, 2), (0, 2, 3)])


def _write_obj(path: Path, points: list, faces: list) -> None:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points] + ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")


def _scene(folder: Path, name: str, height: float, slide: bool) -> Path:
    path = folder / f"{name}.textproto"
    path.write_text(SCENE.format(gx=GRAVITY * math.sin(ANGLE) if slide else 0.0, gz=-GRAVITY * math.cos(ANGLE), height=height,
                                 speed=SPEED if slide else 0.0, mu=MU if slide else 0.0, slip=SLIP,
                                 settle="false" if slide else "true"))
    return path


def _stop(positions: Path) -> tuple[Optional[float], Optional[float]]:
    """Time and way to the first step that moved the block by no more than eps_v; None, None when there is none."""
    run = read_surface_positions(positions)
    x = run.positions[:, :8, 0].mean(axis=1)
    speed = np.diff(x) / np.diff(run.times)
    slow = np.nonzero(speed <= SLIP)[0]
    if slow.size == 0:
        return None, None
    return float(run.times[slow[0] + 1] - run.times[0]), float(x[slow[0] + 1] - x[0])


def run(context: Context) -> list[Record]:
    folder = context.scratch / "block_slide"
    folder.mkdir(exist_ok=True)
    _write_meshes(folder)
    rest = context.cli.run(_scene(folder, "rest", 0.0508, slide=False), 0.01, duration_s=0.01)
    height = rest["bodies"]["block"]["position_m"][2]
    slide = _scene(folder, "slide", height, slide=True)
    cases = [(method, integrator, step) for method in METHODS for integrator in INTEGRATORS for step in STEPS_S
             if integrator == "be" or method in ("implicit", "lagged_1")]

    def one(method: str, integrator: str, step: float) -> tuple[dict, Path]:
        positions = folder / f"{method}-{integrator}-{step}.positions"
        settings = (*METHODS[method], f"solver.integrator={INTEGRATORS[integrator]}")
        return context.cli.run(slide, step, duration_s=17.0, settings=settings, trajectory=positions), positions

    results = context.each([lambda case=case: one(*case) for case in cases], ["-".join(map(str, case)) for case in cases])
    records = []
    for (method, integrator, step), (report, positions) in zip(cases, results):
        name = f"block_slide.{method}.{integrator}.h={step:g}"
        time, way = _stop(positions)
        records += _judge(name, method, integrator, step, time, way)
        records.append(reported(f"{name}.newton_iterations", report["newton_iterations"]["mean"]))
        if method == "implicit":
            records.append(at_most(f"{name}.fallbacks", report["friction"]["fallbacks"], 0))
    return records


def _judge(name: str, method: str, integrator: str, step: float, time: Optional[float], way: Optional[float]) -> list[Record]:
    if method != "implicit" or step > 0.05:
        return [reported(f"{name}.time", time, "s"), reported(f"{name}.distance", way, "m")]
    limit = 0.01 if integrator == "be" else 0.02
    errors = (math.inf if time is None else abs(time / TIME - 1), math.inf if way is None else abs(way / DISTANCE - 1))
    return [reported(f"{name}.time", time, "s"), reported(f"{name}.distance", way, "m"),
            at_most(f"{name}.time_error", errors[0], limit), at_most(f"{name}.distance_error", errors[1], limit)]
