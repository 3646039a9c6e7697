"""A sheared block on a slowly moving belt with Stribeck friction: its sawtooth against the spring–mass model."""

from __future__ import annotations

import math

import numpy as np

import solids
from page import Page
from scene_runs import SceneRun, run_scenes
from scene_text import SceneText, held
from validation import Context, Record, equal, reported, within

# A brick in a cage of one tetrahedron whose upper face is held: all it can do is to shear (and to stretch) along z, so its foot moves as
# one and it is a spring k = G V / L^2 with mass m = rho A (L^3 - d^3) / (3 L^2), L = H + d, d that face's height over the brick; nu = 0.
SIDE, HEIGHT, ABOVE, YOUNGS, DENSITY = 0.1, 0.05, 1e-4, 1e5, 6000.0
LENGTH = HEIGHT + ABOVE
STIFFNESS = 0.5 * YOUNGS * SIDE**2 * HEIGHT / LENGTH**2
MASS = DENSITY * SIDE**2 * (LENGTH**3 - ABOVE**3) / (3 * LENGTH**2)
MU_STATIC, MU_DYNAMIC, SLIP, STRIBECK, PRESS = 0.1, 0.05, 4e-6, 1e-3, 1e-3  # eps_v, v_s m/s; depth of the press, m
BELT_SPEEDS = (2e-4, 4e-4)
# Friction that falls by dF over v_s has a single root in a step where m / h is more than its slope, 1.5 dF / v_s: h below 5e-4 s.
DURATION_S, STEP_S = 6.5, 2e-4
DAMPING_S = 1e-4  # half a per cent of the critical in shear; ends the ringing of the press
START_S = 0.5  # the top goes down until then


def peak_coefficient() -> float:
    """Largest of (mu_d + (mu_s - mu_d) g(v / v_s)) s(v / eps_v): what smoothing leaves of the static coefficient."""
    v = np.linspace(0, 2, 200001)
    u = v * SLIP / STRIBECK
    g = (2 * u + 1) * (u - 1) ** 2
    s = np.where(v < 1, 2 * v - v**2, 1.0)
    return float(np.max((MU_DYNAMIC + (MU_STATIC - MU_DYNAMIC) * g) * s))


def period(normal_n: float, speed: float) -> float:
    """T = 2 dF / (k V) + (2 / w) (pi - atan(dF w / (k V))), w = sqrt(k / m): sticking until the spring has grown by 2 dF / k, then
    slipping against F_d from x = F_s / k, x' = V until x' = V again (Stribeck's v_s small against the slip speed dF / sqrt(k m))."""
    jump = (peak_coefficient() - MU_DYNAMIC) * normal_n
    omega = math.sqrt(STIFFNESS / MASS)
    return 2 * jump / (STIFFNESS * speed) + 2 / omega * (math.pi - math.atan(jump * omega / (STIFFNESS * speed)))


def _cage() -> solids.Mesh:
    top = HEIGHT / 2 + ABOVE
    corners = np.array([(0.6 * math.cos(a), 0.6 * math.sin(a), top) for a in (0.1, 2.2, 4.3)] + [(0.0, 0.0, -0.6)])
    return corners, np.array([[0, 2, 1, 3]])


def scene(speed: float) -> SceneText:
    text = SceneText("stick_slip")
    text.gravity = (0, 0, 0)
    high = HEIGHT / 2 + 1e-3  # as near as nothing is felt
    keys = [(t, (0.0, 0.0, high - PRESS * (1 - math.cos(math.pi * t / START_S)) / 2), (0, 0, 0)) for t in np.linspace(0, START_S, 101).tolist()]
    drive = held("top", (-9, -9, HEIGHT / 2), (9, 9, 9), keys)
    text.moving("block", "embedded", solids.box(SIDE, SIDE, HEIGHT), (0, 0, high), youngs_modulus_pa=YOUNGS, density_kg_m3=DENSITY,
                poissons_ratio=0.0, extra=drive, material=f"rayleigh_beta_s: {DAMPING_S!r}", cage=_cage(),
                coarse="coarse_space: PLAIN")  # whose stiffness is the one of the theory
    belt, start = solids.box(0.3, 0.3, 0.02), (0.013, 0.007, -0.01)
    text.kinematic("belt", belt, [(START_S, start, (0, 0, 0)), (START_S + 100, (start[0] + 100 * speed, *start[1:]), (0, 0, 0))])
    text.contact(MU_DYNAMIC, dhat=1e-3, eps_v=SLIP, more=f"static_friction_coefficient: {MU_STATIC!r} stribeck_velocity_m_s: {STRIBECK!r} area_stiffness_n_m3: 1e9 "
                 "friction_mode: IMPLICIT")
    text.line("solver { newton_tolerance_m_s: 1e-8 integrator: BDF2 }")
    return text


def _bottom(times: np.ndarray, positions: np.ndarray) -> list[list[float]]:
    return [times.tolist(), positions[:, :4, 0].mean(axis=1).tolist()]


def slips(times: np.ndarray, x: np.ndarray, speed: float) -> np.ndarray:
    """Times at which the block lets go: where it begins to move against the belt."""
    back = np.diff(x) < -10 * speed * np.diff(times)
    starts = np.flatnonzero(back[1:] & ~back[:-1]) + 1
    return times[starts]


def run_stick_slip(context: Context, page: Page) -> list[Record]:
    runs = [SceneRun(f"stick-slip V={v:g}", scene(v), STEP_S, DURATION_S, (), "bottom", _bottom) for v in BELT_SPEEDS]
    records, rows, curves = [], [], {}
    for speed, report in zip(BELT_SPEEDS, run_scenes(context, runs)):
        times, x = (np.array(column) for column in report["measured"])
        normal = report["contact_forces"]["block/belt"]["normal_n"][2]
        let_go = slips(times, x, speed)
        found = float(np.diff(let_go).mean()) if len(let_go) > 2 else math.nan
        expected = period(normal, speed)
        name = f"stick_slip.V={speed:g}"
        records += [reported(f"{name}.slips", len(let_go)), reported(f"{name}.period", found, "s"),
                    within(f"{name}.period_over_theory", found / expected, 0.95, 1.05),
                    equal(f"{name}.fallbacks", report["friction"]["fallbacks"], 0)]
        rows.append([speed, normal, len(let_go), found, expected, report["newton_iterations"]["mean"], report["friction"]["fallbacks"]])
        curves[f"V = {speed:g} m/s"] = (times, x)
    page.section("Stick–slip")
    page.text(f"""A brick {SIDE} × {SIDE} × {HEIGHT} m (E = {YOUNGS:g} Pa, ν = 0, ρ = {DENSITY:g}) held at its top and pressed on a belt that moves at V; embedded
        in a cage of one tetrahedron it shears as one: k = {STIFFNESS:.0f} N/m, m = {MASS:.4f} kg. μ_s = {MU_STATIC}, μ_d = {MU_DYNAMIC}, ε_v = {SLIP:g} m/s, v_s = {STRIBECK:g} m/s, so the largest
        coefficient that smoothing leaves is {peak_coefficient():.4f}. Period 2 ΔF/(k V) + (2/ω)(π − atan(ΔF ω/(k V))), ΔF the fall from that to sliding.
        Implicit friction, BDF2, h = {STEP_S:g} s.""")
    page.table(["V (m/s)", "normal force (N)", "slips", "period (s)", "theory (s)", "Newton per step", "fallbacks"], rows)
    from study_plots import plot_lines

    plot_lines(context.figures / "stick_slip.png", curves, "time (s)", "bottom of the block (m)")
    page.figure("stick_slip.png", "Where the bottom of the block is")
    return records
