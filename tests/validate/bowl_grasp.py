"""Three soft pads lift an upside-down bowl with little more than Coulomb's minimum (Larionov et al. 2023, V-A2)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable

import numpy as np

import solids
from friction_modes import IMPLICIT, LAGGED, LAGGED_UNTIL_CONVERGED
from page import Page
from scene_runs import SceneRun, run_scene, run_scenes
from scene_text import SceneText, held
from validation import Context, Record, at_most, equal, reported

# Sizes and the force of the pads are not published. The bowl's wall is upright, so that its weight asks W / (3 mu) of each pad.
OUTER, WALL, HEIGHT, SIDES = 0.06, 0.02, 0.06, 12
PAD = (0.03, 0.024, 0.024)  # along its axis, across, up
MU, MARGIN, SLIP, GRAVITY, DENSITY = 0.65, 1.03, 1e-4, 9.81, 400.0
SQUEEZE_S, LIFT_S, SHAKE_S, HOLD_S, LIFT_M = 0.4, 1.0, 1.5, 0.3, 0.02
DURATION_S = SQUEEZE_S + LIFT_S + SHAKE_S + HOLD_S
# Shaken up and down while the grip follows the load, as hands do it: 0.3 g at 2 Hz.
SHAKE_HZ, SHAKE_M = 2.0, 0.3 * GRAVITY / (2 * math.pi * 2.0) ** 2
STEPS_S = (0.02, 0.01, 0.005, 0.0025, 0.00125)
METHODS = {"implicit": IMPLICIT, "lagged": LAGGED, "converged lag": LAGGED_UNTIL_CONVERGED}
DAMPING_S = 1e-3  # of the pads, stiffness-proportional
DHAT, CONTACT = 1e-4, 1e7  # m, N/m^3: the pads yield more than the gap
GAP = 1.1e-4  # between pads and bowl, and bowl and ground, at the start
BOWL_VERTICES = 4 * SIDES + 2


def bowl() -> solids.Mesh:
    """Upside down: open below, its rim at z = 0; one of its sides faces +x."""
    turn = math.pi / SIDES
    around = OUTER / math.cos(turn)  # corners; the sides are OUTER from the axis
    inner, top = around - WALL, HEIGHT - WALL
    # lathe() wants both ends on the axis: the cavity's ceiling, down its wall, over the rim, up the outside, to the top.
    vertices, triangles = solids.lathe([(0, top), (inner, top), (inner, 0), (around, 0), (around, HEIGHT), (0, HEIGHT)], SIDES, turn)
    return vertices, triangles


def _smooth(t: float) -> float:
    t = min(max(t, 0.0), 1.0)
    return (1 - math.cos(math.pi * t)) / 2


def lift(t: float) -> float:
    """Height of the pads, m: a half cosine up, then shaken between soft ends."""
    shaken = t - SQUEEZE_S - LIFT_S
    window = _smooth(shaken / 0.4) * _smooth((SHAKE_S - shaken) / 0.4)
    return LIFT_M * _smooth((t - SQUEEZE_S) / LIFT_S) + SHAKE_M * window * (1 - math.cos(2 * math.pi * SHAKE_HZ * shaken))


def load(t: float, dt: float) -> float:
    """What the pads carry in the step that ends at t over the weight at rest: 1 + a / g, a the acceleration of that step."""
    return 1 + (lift(t) - 2 * lift(t - dt) + lift(t - 2 * dt)) / dt**2 / GRAVITY


@dataclasses.dataclass(frozen=True)
class Grip:
    """Depth of the pads, m, over the force of one in units of Coulomb's minimum at rest; increasing."""

    forces: tuple[float, ...]
    depths: tuple[float, ...]

    def depth(self, force: float) -> float:
        return float(np.interp(force, self.forces, self.depths))


def _pad(text: SceneText, k: int, dt: float, duration: float, lifts: bool, depth: Callable[[float], float]) -> None:
    angle = 2 * math.pi * k / 3
    start, high = OUTER + GAP + PAD[0] / 2, GAP + HEIGHT / 2

    def place(t: float) -> tuple[float, tuple[float, float, float], tuple[float, float, float]]:
        r = start - (GAP + depth(t)) * _smooth(t / SQUEEZE_S)
        return t, (r * math.cos(angle), r * math.sin(angle), high + (lift(t) if lifts else 0.0)), (0, 0, angle)

    back = held("back", (PAD[0] / 2 - 1e-6, -1, -1), (1, 1, 1), [place(n * dt) for n in range(round(duration / dt) + 1)])
    _, position, rpy = place(0.0)
    text.moving(f"pad{k}", "full_space", solids.tet_grid(*PAD, (2, 2, 2)), position, rpy, youngs_modulus_pa=6e5, density_kg_m3=1000.0,
                poissons_ratio=0.49, model="STABLE_NEO_HOOKEAN", extra=back, material=f"rayleigh_beta_s: {DAMPING_S!r}")


def scene(dt: float, duration: float, lifts: bool, depth: Callable[[float], float]) -> SceneText:
    text = SceneText("bowl")
    text.moving("bowl", "affine", bowl(), (0, 0, GAP), youngs_modulus_pa=1.1e7, density_kg_m3=DENSITY)
    for k in range(3):
        _pad(text, k, dt, duration, lifts, depth)
    text.static("ground", solids.sheet(0.3, 1), (0.003, 0.005, 0))
    text.contact(MU, dhat=DHAT, eps_v=SLIP, more=f"area_stiffness_n_m3: {CONTACT!r}")
    text.line("solver { newton_tolerance_m_s: 1e-6 }")
    return text


def _heights(times: np.ndarray, positions: np.ndarray) -> list[list[float]]:
    """Of the bowl over where it would be if it stuck, by time, m."""
    z = positions[:, :BOWL_VERTICES, 2].mean(axis=1)
    pads = positions[:, BOWL_VERTICES:-4, 2].mean(axis=1)
    return [times.tolist(), (z - z[0]).tolist(), (pads - pads[0]).tolist()]


def _grip(report: dict[str, Any]) -> float:
    """Mean normal force of the pads at the end, N."""
    return float(np.mean([np.linalg.norm(report["contact_forces"][f"bowl/pad{k}"]["normal_n"]) for k in range(3)]))


def _calibrate(context: Context, least: float) -> Grip:
    """By pressing the bowl where it stands, corrected by what the pads press with once it is lifted."""
    duration = SQUEEZE_S + 0.2
    depths = np.linspace(-45e-6, 15e-6, 9).tolist()
    runs = [SceneRun(f"bowl pressed {d * 1e6:.1f} um", scene(0.01, duration, False, lambda t, d=d: d), 0.01, duration, METHODS["implicit"])
            for d in depths]
    pressed = Grip(tuple(_grip(report) / least for report in run_scenes(context, runs)), tuple(depths))
    duration = SQUEEZE_S + LIFT_S  # lifted, not yet shaken, with some to spare
    lifted = run_scene(context, SceneRun("bowl lifted", scene(0.01, duration, True, lambda t: pressed.depth(1.1)), 0.01, duration,
                                         METHODS["implicit"]))
    correction = _grip(lifted) / least / 1.1
    return Grip(tuple(f * correction for f in pressed.forces), pressed.depths)


def run_bowl_grasp(context: Context, page: Page) -> list[Record]:
    vertices, triangles = bowl()
    corners = vertices[triangles]
    weight = DENSITY * float(np.einsum("ij,ij->", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]) / 6) * GRAVITY
    least = weight / (3 * MU)
    grip = _calibrate(context, least)
    cases = [(method, dt) for method in METHODS for dt in STEPS_S]
    runs = [SceneRun(f"bowl {method} h={dt:g}", scene(dt, DURATION_S, True, lambda t, dt=dt: grip.depth(MARGIN * load(max(t, SQUEEZE_S), dt))),
                     dt, DURATION_S, METHODS[method], "heights", _heights) for method, dt in cases]
    # At a load of 1 / MARGIN of what friction holds, its smoothed law slips at this speed; from the end of the lift on that is
    creep = (1 - math.sqrt(1 - 1 / MARGIN)) * SLIP * (SHAKE_S + HOLD_S)
    records, rows, curves, slips = [], [], {}, {}
    for (method, dt), report in zip(cases, run_scenes(context, runs)):
        times, height, pads = (np.array(column) for column in report["measured"])
        below = pads - height
        lost = float(below[-1] - below[np.searchsorted(times, SQUEEZE_S + LIFT_S - 1e-9)])
        slips[method, dt] = lost > 2 * creep
        name = f"bowl.{method}.h={dt:g}"
        if method == "implicit":
            records += [at_most(f"{name}.lost_over_creep", lost / creep, 1.5), equal(f"{name}.fallbacks", report["friction"]["fallbacks"], 0)]
        else:
            records.append(reported(f"{name}.lost_over_creep", lost / creep))
        records.append(reported(f"{name}.grip_over_minimum", _grip(report) / least))
        rows.append([method, dt, lost, lost / creep, "slips" if slips[method, dt] else "sticks", _grip(report) / least,
                     report["newton_iterations"]["mean"], report["friction"]["fallbacks"], report["steps_not_converged"]])
        curves[f"{method}, h = {dt:g} s"] = (times, -1e3 * below)
    records.append(equal("bowl.lagged.slips_at_some_step", any(slipped for (method, _), slipped in slips.items() if method == "lagged"), True))
    _write(context, page, rows, curves, weight, least, creep)
    return records


def _write(context: Context, page: Page, rows: list, curves: dict, weight: float, least: float, creep: float) -> None:
    page.section("Bowl grasp")
    page.text(f"""A bowl (affine, 1.1e7 Pa, ρ = {DENSITY:g}, upright wall of radius {OUTER} m, {weight:.3f} N) between three pads ({PAD[0]} × {PAD[1]} × {PAD[2]} m,
        E = 6e5 Pa, ν = 0.49, ρ = 1000, β = {DAMPING_S:g} s), backs driven: squeezed for {SQUEEZE_S} s, lifted {LIFT_M} m in {LIFT_S} s, shaken up and down with 0.3 g at
        {SHAKE_HZ:g} Hz for {SHAKE_S} s, held for {HOLD_S} s. μ = {MU}: Coulomb's minimum is {least:.4f} N a pad at rest and (1 + a/g) times that in motion; the pads press
        with {MARGIN} times it throughout (depths from a calibration by presses before the lift; creep adds a few per cent until the end). At that load the smoothed law creeps: {creep:.3g} m from the end of the
        lift on (ε_v = {SLIP:g} m/s). "Lost" is how far the bowl sinks against the pads in that time; more than twice the creep is called slipping. Backward
        Euler.""")
    page.text("Lagged friction holds with the normal force of one step before: where the grip grows by more than its margin in a step, the bowl slips.")
    page.table(["friction", "h (s)", "lost (m)", "over creep", "", "grip over minimum at the end", "Newton per step", "fallbacks", "not converged"], rows)
    from study_plots import plot_lines

    plot_lines(context.figures / "bowl.png", curves, "time (s)", "height of the bowl over the pads' (mm)")
    page.figure("bowl.png", "Height of the bowl over that of the pads")
