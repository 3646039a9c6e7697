"""Bodies with volume: a ball squished between plates, a tennis ball dropped and thrown at a wall (Larionov et al. 2023, V-B2, V-C1)."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import numpy as np

import solids
from page import Page
from scene_runs import SceneRun, run_scenes
from scene_text import SceneText
from validation import Context, Record, at_least, at_most, equal, reported

NAME = "volume"
DESCRIPTION = "Volume loss of a squished ball over compressibility; a tennis ball's bounce over pressure and integrator, and at 44.7 m/s"

ATMOSPHERE = 101325.0
GRAVITY = 9.81

# Ball squish: 960 tetrahedra, as many as the paper's coarsest; its sizes are not published.
SQUISH_RADIUS, SQUISH_WALL, SQUISH_GAP = 0.05, 0.005, 0.6  # m, m, distance of the plates over the diameter
COMPRESSIBILITIES = (None, 1.0, 0.3, 0.1, 0.01)  # 1/atm; None: empty

# Tennis ball of rubber: mass 58 g, wall 3.5 mm. The paper's nu = 0.4995 locks linear tetrahedra one element thick.
TENNIS_RADIUS, TENNIS_WALL = 0.0335, 0.0035
TENNIS = {"youngs_modulus_pa": 6e6, "density_kg_m3": 1290.0, "poissons_ratio": 0.45, "model": "STABLE_NEO_HOOKEAN"}
# Rubber loses a tenth to a fifth of the energy of a cycle: beta w = 0.16 at the w = pi / 4 ms of the bounce. It also ends the ringing
# with which a ball that is filled all at once begins, in the 20 ms before it hits.
RUBBER_BETA_S = 2e-4
DROP_M, FLIGHT_M = 2.54, 0.15
WALL_SPEED = 44.7
WALL_STEP, WALL_TIME, FRICTION = 5e-5, 0.009, 0.6
DROP_INTEGRATORS = ("BACKWARD_EULER", "BDF2", "SDIRK2", "TR_BDF2")
DROP_STEPS = (5e-4, 2.5e-4)  # s
COARSE = (2, 1)  # subdivisions of a sphere and layers of its wall: 960 tetrahedra


def filling(compressibility_per_atm: Optional[float] = None, overpressure_pa: float = 0.0) -> str:
    """enclosed_volumes of the cavity: second order at this compressibility, else gas at this overpressure."""
    if compressibility_per_atm is None:
        return f"enclosed_volumes {{ region: CAVITIES overpressure_pa: {overpressure_pa!r} }}"
    return f"enclosed_volumes {{ region: CAVITIES law: SECOND_ORDER compressibility_per_pa: {compressibility_per_atm / ATMOSPHERE!r} }}"


def tetrahedra(mesh: tuple[int, int]) -> int:
    level, layers = mesh
    return 20 * 4**level * 3 * layers


def hollow_ball(radius: float, wall: float, mesh: tuple[int, int]) -> solids.Mesh:
    level, layers = mesh
    return solids.layered_ball(level, (radius - wall * np.linspace(1, 0, layers + 1)).tolist())


def squish_scene(compressibility: Optional[float], youngs: float = 1e5, gap: float = SQUISH_GAP, mesh: tuple[int, int] = COARSE) -> SceneText:
    """mesh: as COARSE."""
    text = SceneText("squish")
    text.gravity = (0, 0, 0)
    # Empty: a filling with next to no stiffness (1e-9 of air's), which reports the volume.
    extra = filling(1e9 if compressibility is None else compressibility)
    text.moving("ball", "full_space", hollow_ball(SQUISH_RADIUS, SQUISH_WALL, mesh), youngs_modulus_pa=youngs, density_kg_m3=1000.0, poissons_ratio=0.3,
                model="STABLE_NEO_HOOKEAN", extra=extra)
    plate, half, start = solids.box(0.3, 0.3, 0.02), 0.01, SQUISH_RADIUS + 1.5e-3
    for sign, name in ((-1, "below"), (1, "above")):
        keys = [(0.0, (0.0031, 0.0017, sign * (start + half)), (0, 0, 0)),
                (1.0, (0.0031, 0.0017, sign * (gap * SQUISH_RADIUS + half)), (0, 0, 0))]
        text.kinematic(name, plate, keys)
    text.contact(0.3, dhat=1e-3)
    return text


def tennis_scene(overpressure_pa: float, speed: float, wall: bool, mesh: tuple[int, int] = COARSE) -> SceneText:
    """Towards -z; the surface that it hits is a floor or, without gravity, a wall. Starts FLIGHT_M off, so that it has found its shape."""
    text = SceneText("tennis")
    text.gravity = (0, 0, 0) if wall else (0, 0, -GRAVITY)
    text.moving("ball", "full_space", hollow_ball(TENNIS_RADIUS, TENNIS_WALL, mesh), (0.002, 0.001, TENNIS_RADIUS + FLIGHT_M), velocity=(0, 0, -speed),
                extra=filling(None, overpressure_pa), material=f"rayleigh_beta_s: {RUBBER_BETA_S!r}", **TENNIS)
    text.static("surface", solids.sheet(0.2, 4))
    text.contact(FRICTION, dhat=5e-4)
    return text


def squish(context: Context, page: Page) -> list[Record]:
    settings = ("solver.newton_tolerance_m_s=1e-4",)
    runs = [SceneRun(f"squish kv={kv}", squish_scene(kv), 0.02, 1.2, settings) for kv in COMPRESSIBILITIES]
    *results, stiff = run_scenes(context, [*runs, SceneRun("squish stiff", squish_scene(None, 1e6), 0.02, 1.2, settings)])
    volumes = [r["bodies"]["ball"]["volumes"][0]["volume_m3"] for r in results]
    vertices, triangles = solids.geodesic(2)
    corners = vertices[triangles] * (SQUISH_RADIUS - SQUISH_WALL)
    rest = float(np.einsum("ij,ij->", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]) / 6)
    loss = [1 - v / rest for v in volumes]
    # At a given squeeze the ball yields to the pressure inside: V = V_empty + C p, p = (V0 - V) / (V0 kv). C from kv = 1.
    compliance = (loss[0] - loss[1]) / loss[1]  # C / (V0 kv) at kv = 1 / atm
    predicted = [loss[0], loss[1]] + [loss[0] / (1 + compliance / kv) for kv in COMPRESSIBILITIES[2:]]
    rows, records = [], []
    for kv, found, expected, result in zip(COMPRESSIBILITIES, loss, predicted, results):
        label = "squish." + ("empty" if kv is None else f"kv={kv:g}")
        records.append(reported(f"{label}.loss", found))
        if kv is not None and kv < 1:
            records.append(at_most(f"{label}.error_of_prediction", abs(found / expected - 1), 0.05))
        rows.append(["empty" if kv is None else kv, 100 * found, 100 * expected, result["bodies"]["ball"]["volumes"][0]["overpressure_pa"],
                     result["newton_iterations"]["mean"], result["steps_not_converged"]])
    stiff_loss = 1 - stiff["bodies"]["ball"]["volumes"][0]["volume_m3"] / rest
    rows.append(["empty, E = 1e6", 100 * stiff_loss, None, None, stiff["newton_iterations"]["mean"], stiff["steps_not_converged"]])
    records.append(reported("squish.empty_stiff.loss", stiff_loss))
    # Table II: stiff and empty loses most, then air, then water.
    records.append(equal("squish.order_of_table_II", stiff_loss > loss[1] > loss[-1], True))
    falling = all(a > b for a, b in zip(loss, loss[1:]))
    records.append(equal("squish.loss_falls_with_kv", falling, True))
    records.append(at_most("squish.kv=0.01.loss_over_kv=1", loss[-1] / loss[1], 0.05))
    page.section("Ball squish")
    page.text(f"""A hollow ball (radius {SQUISH_RADIUS} m, wall {SQUISH_WALL} m, {tetrahedra(COARSE)} tetrahedra, E = 1e5 Pa, ν = 0.3, stable neo-Hookean) between two
        plates that end {SQUISH_GAP:g} diameters apart, h = 0.02 s, 1.2 s. The cavity holds a second-order filling. Prediction: at a given squeeze the
        cavity's volume is V_empty + C p with p = (V0 − V)/(V0 κv), so loss = loss_empty / (1 + C/(V0 κv)); C is taken from the row κv = 1.""")
    page.table(["κv (1/atm)", "volume loss (%)", "predicted (%)", "overpressure (Pa)", "Newton per step", "not converged"], rows)
    return records


def _apex(times: np.ndarray, positions: np.ndarray) -> dict[str, Any]:
    """Where the middle of the ball is and how fast, from the parabola through the last quarter of the run; how far it was squeezed."""
    ball = positions[:, :-25]  # the sheet has 25 vertices
    z = ball[:, :, 2].mean(axis=1)
    late = slice(3 * len(times) // 4, None)
    speed, height = np.polyfit(times[late], z[late] + 0.5 * GRAVITY * times[late] ** 2, 1)
    return {"height_m": float(height + speed**2 / (2 * GRAVITY)), "speed_m_s": float(speed),
            "least_width_m": float(np.ptp(ball[:, :, 2], axis=1).min())}


WALL_TEXT = f"The same ball, TR-BDF2, h = {WALL_STEP:g} s, {1e3 * WALL_TIME:g} ms, friction {FRICTION:g}, every state checked exactly for intersections."
Heights = dict[tuple[float, str, float], float]  # overpressure (Pa), integrator, step (s) -> height of the bounce (m)


def drop_heights(context: Context, mesh: tuple[int, int] = COARSE, steps: Sequence[float] = DROP_STEPS) -> Heights:
    speed = math.sqrt(2 * GRAVITY * (DROP_M - FLIGHT_M))
    cases = [(over, integrator, dt) for dt in steps for over in (0.0, ATMOSPHERE) for integrator in DROP_INTEGRATORS]
    runs = [SceneRun(f"drop {mesh[0]} {mesh[1]} {integrator} p={over:g} h={dt:g}", tennis_scene(over, speed, False, mesh), dt, 0.05,
                     (f"solver.integrator={integrator}", "contact.friction_mode=LAGGED"), "apex", _apex)
            for over, integrator, dt in cases]
    return {case: r["measured"]["height_m"] for case, r in zip(cases, run_scenes(context, runs))}


def gain_by_pressure(height: Heights, integrator: str, dt: float) -> float:
    return height[ATMOSPHERE, integrator, dt] - height[0.0, integrator, dt]


def heights_table(page: Page, height: Heights) -> None:
    steps = dict.fromkeys(dt for _, _, dt in height)
    page.table(["h (s)", "pressure", *DROP_INTEGRATORS],
               [[dt, "1 atm over" if over else "none", *(height[over, i, dt] for i in DROP_INTEGRATORS)] for dt in steps for over in (0.0, ATMOSPHERE)])


def drop(context: Context, page: Page) -> list[Record]:
    height = drop_heights(context)
    records = []
    for dt in DROP_STEPS:
        for integrator in DROP_INTEGRATORS:
            gain = gain_by_pressure(height, integrator, dt)
            records.append(reported(f"drop.{integrator}.h={dt:g}.bounce", height[0.0, integrator, dt], "m"))
            # Backward Euler at the coarse step takes half of the energy, more of it from the ball that is stiffer.
            judged = integrator != "BACKWARD_EULER" or dt == DROP_STEPS[-1]
            name = f"drop.{integrator}.h={dt:g}.gain_by_pressure"
            records.append(at_least(name, gain, 0.0, "m") if judged else reported(name, gain, "m"))
        for over in (0.0, ATMOSPHERE):
            for damping in ("BACKWARD_EULER", "BDF2"):
                records.append(at_least(f"drop.SDIRK2_over_{damping}.p={over:g}.h={dt:g}",
                                        height[over, "SDIRK2", dt] - height[over, damping, dt], 0.0, "m"))
    coarse, fine = (abs(gain_by_pressure(height, "BACKWARD_EULER", dt) - gain_by_pressure(height, "SDIRK2", DROP_STEPS[-1])) for dt in DROP_STEPS)
    records.append(at_most("drop.BACKWARD_EULER.error_of_gain_by_pressure_at_half_the_step", fine / coarse, 1.0))
    page.section("Tennis ball drop")
    page.text(f"""{tetrahedra(COARSE)} tetrahedra, radius {TENNIS_RADIUS} m, wall {TENNIS_WALL} m, E = 6 MPa, ν = 0.45 (the paper's 0.4995 locks linear tetrahedra),
        ρ = 1290 kg/m³, damping β = {RUBBER_BETA_S:g} s; it starts {FLIGHT_M} m above the floor at the speed of a fall from {DROP_M} m. Height of the bounce, m, from its flight after it.""")
    heights_table(page, height)
    return records


def wall_runs(context: Context, mesh: tuple[int, int] = COARSE) -> dict[float, dict[str, Any]]:
    """Reports by overpressure, Pa; "measured" as _apex has it."""
    pressures = (0.0, ATMOSPHERE)
    runs = [SceneRun(f"wall {mesh[0]} {mesh[1]} p={over:g}", tennis_scene(over, WALL_SPEED, True, mesh), WALL_STEP, WALL_TIME,
                     ("solver.integrator=TR_BDF2",), "apex", _apex, audit=True) for over in pressures]
    return dict(zip(pressures, run_scenes(context, runs)))


def wall_table(page: Page, reports: dict[float, dict[str, Any]]) -> None:
    page.table(["pressure", "least width (m)", "rebound (m/s)", "states checked", "intersections", "not converged"],
               [["1 atm over" if over else "none", r["measured"]["least_width_m"], r["measured"]["speed_m_s"], r["audit"]["states_checked"],
                 r["audit"]["intersections"], r["steps_not_converged"]] for over, r in reports.items()])


def wall(context: Context, page: Page) -> list[Record]:
    records, reports = [], wall_runs(context)
    for over, r in reports.items():
        name = f"wall.p={over:g}"
        records += [equal(f"{name}.intersections", r["audit"]["intersections"], 0), equal(f"{name}.rebounds", r["measured"]["speed_m_s"] > 0, True),
                    reported(f"{name}.rebound_speed", r["measured"]["speed_m_s"], "m/s"),
                    reported(f"{name}.least_width", r["measured"]["least_width_m"], "m"),
                    reported(f"{name}.steps_not_converged", r["steps_not_converged"])]
    page.section("At 44.7 m/s against a wall")
    page.text(WALL_TEXT)
    wall_table(page, reports)
    return records


def run(context: Context) -> list[Record]:
    page = Page("Bodies with volume", "./dev validate volume")
    records = []
    for part in (squish, drop, wall):
        records += part(context, page)
    page.write(context.figures / "volume.md")
    return records
