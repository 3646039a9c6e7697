"""FinRay fingers set a plate into a dish rack (Du et al. 2025, IV-B): goals, audit, bending, and rigid fingers beside them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from eipc_cli import REPOSITORY, SCENES
from solids import prism, write_mesh
from surface_positions import read_surface_positions
from validation import Context, Record, at_least, at_most, equal, reported
from page import RecordsTable

NAME = "finray"
DESCRIPTION = "A plate set into a dish rack by soft and by rigid fingers, two trajectories, two steps; force over deflection of a finger"

PAGE = RecordsTable(
    "A plate set into a dish rack", """`models/scenes/finray_plate*.textproto`, every state audited. *Deflection*: the largest distance of a vertex of the left finger from where
    its base would have carried it rigidly. *Force error*: the mean vertical contact force on the plate while it is lifted and carried, over its weight, less 1. *Pinch*: the
    largest force of a finger on the plate at the end of the pinch. The rigid fingers cannot yield: they stop at the plate, blocked, and their contact forces grow until it
    springs out. *Times real time*: one thread, beside the study's other runs. Rows `press`: a rod presses a finger at its middle; *stiffness*: force over deflection. The scenes' finger has 392 vertices and its material times 0.476; the fine
    one is a full-space mesh of the same solid with the material itself.""",
    {"goals_reached": "goals reached", "in_slot": "from its slot, m", "standing": "tilt, rad", "at_rest": "speed, m/s", "states_audited": "states audited",
     "intersections": "intersections", "converged": "converged", "min_distance": "least distance, m", "deflection": "deflection, m",
     "force_error": "force error", "pinch": "pinch, N", "missed_targets": "steps with a blocked drive", "force": "force, N",
     "stiffness": "stiffness, N/m", "real_time_factor": "times real time"})

STEPS_S = (0.02, 0.005)
PINCHED_S = 1.2          # the pinch is closed
PRESS_M = (0.004, 0.008, 0.012)
PRESS_GAP_M = 1.0e-3     # of the rod from the strip, at the start
PRESS_AT_M = 0.05        # from the base
ROD_RADIUS_M = 0.01
FRONT_AT_PRESS_M = -0.006  # of the strip there
MODULUS_PA, CALIBRATION = 1.2e7, 0.476
FINGER = REPOSITORY / "models" / "generated" / "finray_finger.vtk"
FINE_FINGER = REPOSITORY / "models" / "generated" / "finray_finger_fine.vtk"


def run(context: Context) -> list[Record]:
    cases = [(name, step) for name in ("finray_plate", "finray_plate_2") for step in STEPS_S] + [("finray_plate_rigid", STEPS_S[0])]
    runs = context.each([lambda case=case: place(context, *case) for case in cases], [f"{name} h={step:g}" for name, step in cases])
    records = [record for (name, step), one in zip(cases, runs) for record in _placing_records(f"{name}-{step:g}", step, one, "rigid" not in name)]
    curves = press_curves(context)
    for mesh, curve in curves.items():
        for depth, force in zip(PRESS_M, curve):
            records += [reported(f"press {mesh.stem} {depth:g}.force", force, "N"),
                        reported(f"press {mesh.stem} {depth:g}.stiffness", force / depth, "N/m")]
    records.append(at_most("finger_stiffness_error", stiffness_error(curves), 0.05))
    return records


def press_curves(context: Context) -> dict[Path, list[float]]:
    """Mesh of a finger -> forces at PRESS_M, N: of the scenes' finger and of the fine one."""
    presses = [(mesh, depth) for mesh in (FINGER, FINE_FINGER) for depth in PRESS_M]
    forces = context.each([lambda press=press: press_force(context, *press) for press in presses],
                          [f"{mesh.stem} pressed by {depth:g} m" for mesh, depth in presses])
    return {mesh: forces[i * len(PRESS_M):(i + 1) * len(PRESS_M)] for i, mesh in enumerate((FINGER, FINE_FINGER))}


def stiffness_error(curves: dict[Path, list[float]]) -> float:
    """Of the scenes' finger, largest over the depths."""
    return max(abs(a / b - 1) for a, b in zip(curves[FINGER], curves[FINE_FINGER]))


def place(context: Context, name: str, step_s: float) -> dict[str, Any]:
    """The report, with "deflection" of the left finger (m), the "pinch" force (N) and "missed" steps."""
    scene = SCENES / f"{name}.textproto"
    inputs = [scene, *sorted((REPOSITORY / "models" / "generated").glob("*"))]
    return context.kept.get(inputs, ["place", step_s], lambda: _place(context, scene, step_s))


def _place(context: Context, scene: Path, step_s: float) -> dict[str, Any]:
    positions = context.scratch / f"{scene.stem}-{step_s:g}.positions"
    steps = positions.with_suffix(".steps")
    report = context.cli.run(scene, step_s, audit=True, trajectory=positions, steps=steps)
    held = context.cli.run(scene, step_s, duration_s=PINCHED_S)
    forces = [math.hypot(*np.add(f["normal_n"], f["friction_n"])) for pair, f in held["contact_forces"].items() if pair.startswith("plate/finger")]
    head, *lines = steps.read_text().splitlines()
    missed = head.split("\t").index("missed_targets")
    return {**report, "deflection": _deflection(np.asarray(read_surface_positions(positions).positions)), "pinch": max(forces, default=0.0),
            "missed": sum(int(line.split("\t")[missed]) > 0 for line in lines)}


def _deflection(positions: np.ndarray) -> float:
    """Largest distance of a vertex of the first body from where the first frame's motion of its driven end takes it, m."""
    count = len(_vertices(FINGER))
    rest = positions[0, :count]
    base = rest[:, 2] > rest[:, 2].max() - 1e-4
    largest = 0.0
    for x in positions[:, :count]:
        a, b = rest[base] - rest[base].mean(axis=0), x[base] - x[base].mean(axis=0)
        u, _, v = np.linalg.svd(a.T @ b)
        turn = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
        largest = max(largest, float(np.linalg.norm(x - ((rest - rest[base].mean(axis=0)) @ turn + x[base].mean(axis=0)), axis=1).max()))
    return largest


def _vertices(path: Path) -> np.ndarray:
    words = path.read_text().split()
    at = words.index("POINTS")
    return np.array(words[at + 3:at + 3 + 3 * int(words[at + 1])], float).reshape(-1, 3)


def _placing_records(name: str, step_s: float, report: dict[str, Any], soft: bool) -> list[Record]:
    goals, audit, holding = report["goals"], report["audit"], report["holding"]
    reached = sum(goal["reached"] for goal in goals.values())
    force_error = abs(holding["mean_vertical_force_n"] / holding["weight_n"] - 1)
    records = [equal(f"{name}.intersections", audit["intersections"], 0),
               at_least(f"{name}.states_audited", audit["states_checked"], report["steps"]),
               reported(f"{name}.min_distance", report["min_distance_m"], "m"), reported(f"{name}.pinch", report["pinch"], "N"),
               reported(f"{name}.missed_targets", report["missed"]),
               *(reported(f"{name}.{goal}", goals[goal]["value"], goals[goal]["unit"]) for goal in ("in_slot", "standing", "at_rest"))]
    converged = 1 - report["steps_not_converged"] / report["steps"]
    times = report["real_time_factor"]
    records.append(at_least(f"{name}.real_time_factor", times, 1) if soft and step_s == STEPS_S[0] else reported(f"{name}.real_time_factor", times))
    if not soft:
        return records + [reported(f"{name}.goals_reached", reached), reported(f"{name}.converged", converged)]
    return records + [equal(f"{name}.goals_reached", reached, 3), at_least(f"{name}.converged", converged, 0.99),
                      at_most(f"{name}.force_error", force_error, 0.02), at_least(f"{name}.deflection", report["deflection"], 0.003, "m")]


def press_force(context: Context, mesh: Path, depth_m: float) -> float:
    """Force with which a rod that has moved into the strip by depth_m is pressed back, N; the base is held."""
    return context.kept.get([mesh], ["press", depth_m, PRESS_AT_M, ROD_RADIUS_M, MODULUS_PA, CALIBRATION], lambda: _press(context, mesh, depth_m))


def _press(context: Context, mesh: Path, depth_m: float) -> float:
    folder = context.scratch / f"press-{mesh.stem}-{depth_m:g}"
    folder.mkdir(parents=True)
    (folder / "finger.vtk").write_bytes(mesh.read_bytes())
    angles = 2 * np.pi * np.arange(24) / 24
    write_mesh(folder / "rod.obj", prism([(ROD_RADIUS_M * math.cos(a), ROD_RADIUS_M * math.sin(a)) for a in angles], 0.06))
    start = FRONT_AT_PRESS_M + ROD_RADIUS_M + PRESS_GAP_M
    kind = (f'embedded {{ surface {{ file: "finger.vtk" }} cage_mesh {{ file: "finger.vtk" }} calibration {{ youngs_scale: {CALIBRATION} }} }}'
            if mesh == FINGER else 'full_space { mesh { file: "finger.vtk" } }')
    (folder / "press.textproto").write_text(f"""
gravity_m_s2 {{ x: 0 y: 0 z: 0 }}
bodies {{
  name: "finger" {kind}
  material {{ model: LINEAR_COROTATED density_kg_m3: 1200 youngs_modulus_pa: {MODULUS_PA} poissons_ratio: 0.45 rayleigh_alpha_per_s: 20 }}
  boundary_sets {{ name: "base" box {{ min_m {{ x: -0.06 y: -0.02 z: -0.0001 }} max_m {{ x: 0 y: 0.02 z: 0.0001 }} }} }}
}}
bodies {{
  name: "rod" kinematic {{ surface {{ file: "rod.obj" }} trajectory {{
    keyframes {{ time_s: 0 pose {{ position_m {{ x: {start} z: {-PRESS_AT_M} }} }} }}
    keyframes {{ time_s: 0.4 pose {{ position_m {{ x: {start - PRESS_GAP_M - depth_m} z: {-PRESS_AT_M} }} }} }} }} }}
  pose {{ position_m {{ x: {start} z: {-PRESS_AT_M} }} }}
}}
""")
    report = context.cli.run(folder / "press.textproto", 0.04, duration_s=0.8)
    return abs(report["contact_forces"]["finger/rod"]["normal_n"][0])
