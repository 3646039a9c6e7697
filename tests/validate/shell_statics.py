"""Sheets against closed forms: membranes, strips, plates, swings, chains, stacks."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy as np

import sheets
import solids
from scene_runs import SceneRun
from scene_text import SceneText, held
from validation import Record, reported, within

GRAVITY = 9.81
LENGTH, BENDING = 0.1, 1e-5  # m, N m of strips
STRETCHING = 2000.0  # E t, N/m: strips hardly stretch
# (Gamma, drop / L) of a heavy elastica clamped level, Gamma = rho_A g L^3 / D: a shooting solution of the elastica's equation.
HEAVY = ((1.0, 0.1235), (5.0, 0.4959), (10.0, 0.7002), (50.0, 0.9079))
REACH_AT_10 = 0.6564
# (P L^2 / (D b), deflection / L): Bisshopp and Drucker 1945.
TIP = ((1.0, 0.3017), (5.0, 0.7138))
Judge = Callable[[dict[str, Any]], list[Record]]


def shell_fields(thickness: float, mass_per_area: float, youngs: float, bending: float, more: str = "") -> str:
    return (f"thickness_m: {thickness!r} mass_per_area_kg_m2: {mass_per_area!r} membrane_youngs_n_m: {youngs!r} "
            f"bending_stiffness_nm: {bending!r} {more}")


def _still(text: SceneText, tolerance: float = 1e-7) -> None:
    text.line(f"solver {{ newton_tolerance_m_s: {tolerance!r} max_newton_iterations: 200 linear_solver: CHOLESKY }}")
    text.line("contact { self_contact: false }")


def _ratio(name: str, value: float, expected: float, tolerance: float) -> list[Record]:
    return [reported(f"{name}.value", value), within(f"{name}.over_theory", value / expected, 1 - tolerance, 1 + tolerance)]


def _last(times: np.ndarray, positions: np.ndarray) -> Any:
    return positions[-1].tolist()


def strip(kind: str, cells: int) -> tuple[sheets.Mesh, float]:
    """A strip along x whose clamped columns end at x = 0, and the length that is free."""
    edge = LENGTH / cells
    make = sheets.right_grid if kind == "right" else sheets.equilateral
    vertices, triangles = make(LENGTH + 2 * edge, 0.1 * LENGTH, cells + 2, 4) if kind == "right" else make(LENGTH + 2 * edge, 0.1 * LENGTH, cells + 2)
    return (vertices - (2 * edge, 0, 0), triangles), LENGTH


def _tip(mesh: sheets.Mesh) -> np.ndarray:
    return np.nonzero(mesh[0][:, 0] > mesh[0][:, 0].max() - 1e-9)[0]


def heavy_strip(kind: str, form: str, gamma: float, cells: int = 40) -> tuple[SceneRun, np.ndarray]:
    mesh, length = strip(kind, cells)
    text = SceneText("strip")
    mass = gamma * BENDING / (GRAVITY * length**3)
    text.shell("strip", mesh, fields=shell_fields(1e-4, mass, STRETCHING, BENDING, f"bending_form: {form}"), extra=held("clamp", (-1, -1, -1), (1e-9, 1, 1)))
    _still(text)
    return SceneRun(f"heavy strip {kind} {form} {gamma:g}", text, 0.5, 20.0, (), "last", _last), _tip(mesh)


def tip_load(load: float) -> tuple[SceneRun, np.ndarray]:
    """Springs that are far longer than the strip pull at its end with a constant force."""
    mesh, length = strip("right", 40)
    tip, width, far = _tip(mesh), 0.1 * LENGTH, 1e4
    force = load * BENDING * width / length**2
    text = SceneText("tip")
    text.gravity = (0, 0, 0)
    text.shell("strip", mesh, fields=shell_fields(1e-4, 1e-6, STRETCHING, BENDING), extra=held("clamp", (-1, -1, -1), (1e-9, 1, 1)))
    for k, v in enumerate(tip):
        share = 0.5 if k in (0, len(tip) - 1) else 1.0
        x, y, z = map(float, mesh[0][v])
        text.line(f'joints {{ name: "pull{k}" body_a: "strip" spring {{ point_m {{ x: {x!r} y: {y!r} z: {z!r} }} point_b_m {{ x: {x!r} y: {y!r} z: {-far!r} }} '
                  f'spring_n_m: {share * force / (len(tip) - 1) / far!r} rest_length_m: 0 }} }}')
    _still(text)
    return SceneRun(f"tip load {load:g}", text, 0.5, 20.0, (), "last", _last), tip


def swing() -> tuple[SceneRun, np.ndarray, float, float]:
    """A cantilever let go under little gravity: it swings about its sag. Frequency 0.5596 sqrt(D / (rho_A L^4))."""
    mesh, length = strip("right", 40)
    mass = 0.1
    frequency = 0.5596 * math.sqrt(BENDING / (mass * length**4))
    text = SceneText("swing")
    text.gravity = (0, 0, -1e-3)
    text.shell("strip", mesh, fields=shell_fields(1e-4, mass, STRETCHING, BENDING), extra=held("clamp", (-1, -1, -1), (1e-9, 1, 1)))
    _still(text, 1e-9)
    text.line("")
    tip, sag = _tip(mesh), 1e-3 * mass * length**4 / (8 * BENDING)

    def crossings(times: np.ndarray, positions: np.ndarray) -> list[float]:
        z = positions[:, tip, 2].mean(axis=1) + sag
        at = np.nonzero((z[:-1] < 0) != (z[1:] < 0))[0]
        return [float(times[i] + (times[i + 1] - times[i]) * z[i] / (z[i] - z[i + 1])) for i in at]

    run = SceneRun("swing", text, 1 / frequency / 200, 3 / frequency, ("solver.integrator=TRAPEZOIDAL",), "crossings", crossings)
    return run, tip, frequency, sag


def plate(shape: str) -> tuple[SceneRun, int, float, float]:
    """A clamped disc, or a square whose border is held, under its weight: middle vertex, expected deflection, tolerance."""
    load, bending = 1e-3, 1.0  # N/m^2; deflections are a hundred-thousandth of the size, so that nothing stretches
    if shape == "disc":
        mesh = sheets.disc(1.0 + 1 / 16, 17)  # the last ring clamps the one inside it
        hold = [i for i, p in enumerate(mesh[0]) if math.hypot(p[0], p[1]) > 1.0 - 1e-9]
        middle, expected = 0, load / (64 * bending)
    else:
        cells = 64 if shape == "simple" else 34
        side = 1.0 if shape == "simple" else 1.0 + 2 / 32
        vertices, triangles = sheets.right_grid(side, side, cells, cells)
        mesh = (vertices - (side / 2, 0, 0), triangles)
        hold = [i for i, p in enumerate(mesh[0]) if max(abs(p[0]), abs(p[1])) > 0.5 - 1e-9]
        middle = int(np.argmin(np.linalg.norm(mesh[0], axis=1)))
        expected = (0.004062 if shape == "simple" else 0.001265) * load / bending
    text = SceneText("plate")
    text.gravity = (0, 0, -1.0)
    listed = " ".join(f"vertices: {v}" for v in hold)
    text.shell("plate", mesh, fields=shell_fields(1e-3, load, 1e3, bending), material="poissons_ratio: 0.3", extra=f'boundary_sets {{ name: "rim" {listed} }}')
    _still(text, 1e-10)
    return SceneRun(f"plate {shape}", text, 1.0, 5.0, (), "last", _last), middle, expected, 0.02


def hanging_sheet() -> tuple[SceneRun, sheets.Mesh]:
    """A sheet hung by its upper border stretches under its own weight: E t and nu from its middle."""
    vertices, triangles = sheets.equilateral(0.4, 0.2, 32)
    mesh = (np.stack([vertices[:, 1], 0 * vertices[:, 0], -vertices[:, 0]], axis=1), triangles)
    text = SceneText("hanging")
    text.shell("sheet", mesh, fields=shell_fields(1e-3, 0.2, 300.0, 1e-6), material="poissons_ratio: 0.3", extra=held("top", (-1, -1, -1e-9), (1, 1, 1)))
    _still(text)
    return SceneRun("hanging sheet", text, 0.5, 15.0, (), "last", _last), mesh


def judge_hanging(mesh: sheets.Mesh, positions: np.ndarray) -> list[Record]:
    """Of the strip between a quarter and three quarters, small strains: z strain = rho_A g (distance to the free end) / E t."""
    rest, now = mesh[0], np.asarray(positions)

    def row(z: float) -> np.ndarray:
        return np.nonzero(np.abs(rest[:, 2] - z) < 0.4 / 64 + 1e-9)[0]

    top, bottom = row(-0.2), row(-0.3)
    length = rest[top, 2].mean() - rest[bottom, 2].mean()
    strain = (now[top, 2].mean() - now[bottom, 2].mean()) / length - 1
    middle = np.nonzero(np.abs(rest[:, 2] + 0.25) < 0.4 / 64 + 1e-9)[0]
    wide = np.polyfit(rest[middle, 0], now[middle, 0], 1)[0] - 1
    expected = 0.2 * GRAVITY * 0.15 / 300.0
    return [*_ratio("patch.strain", strain, expected, 0.01), *_ratio("patch.contraction", -wide / strain, 0.3, 0.03)]


def catenary() -> tuple[SceneRun, sheets.Mesh]:
    """A limp strip of length 1.2 spans whose ends are brought together to one span."""
    length, width = 0.24, 0.02
    mesh = sheets.right_grid(length, width, 60, 5)
    span = length / 1.2
    text = SceneText("catenary")
    ends = held("left", (-1, -1, -1), (1e-9, 1, 1)) + " " + held(
        "right", (length - 1e-9, -1, -1), (2 * length, 1, 1), [(0.0, (0, 0, 0), (0, 0, 0)), (1.0, (span - length, 0, 0), (0, 0, 0))])
    text.shell("strip", mesh, fields=shell_fields(1e-4, 0.1, 500.0, 1e-9), material="rayleigh_alpha_per_s: 5", extra=ends)
    _still(text, 1e-6)
    return SceneRun("catenary", text, 0.05, 4.0, (), "last", _last), mesh


def balloon(overpressure: float, stretch: float) -> tuple[SceneRun, float]:
    """A sphere of R = 0.1 m with a nearly incompressible filling that rests near that stretch."""
    vertices, triangles = solids.geodesic(4)
    radius, compressibility = 0.1, 1e-3
    filling = (f"enclosed_volumes {{ law: NEARLY_INCOMPRESSIBLE compressibility_per_pa: {compressibility!r} "
               f"overpressure_pa: {overpressure + 3 * math.log(stretch) / compressibility!r} }}")
    text = SceneText("balloon")
    text.gravity = (0, 0, 0)
    text.shell("balloon", (radius * vertices, triangles), fields=shell_fields(1e-3, 0.1, 1000.0, 0.0), material="poissons_ratio: 0.3", extra=filling)
    _still(text)
    return SceneRun(f"balloon {stretch:g}", text, 0.5, 15.0, (), "last", _last), radius


def judge_balloon(report: dict[str, Any], radius: float, stretch: float) -> list[Record]:
    """At the stretch that was found, p = [2 mu (l - 1/l) + 4 lambda ln l / l] / (R l^2)."""
    points = np.asarray(report["measured"])
    found = float(np.linalg.norm(points - points.mean(axis=0), axis=1).mean()) / radius
    mu, lam = 1000 / 2.6, 1000 * 0.3 / 0.91
    expected = (2 * mu * (found - 1 / found) + 4 * lam * math.log(found) / found) / (radius * found**2)
    return _ratio(f"balloon.{stretch:g}.overpressure", report["bodies"]["balloon"]["volumes"][0]["overpressure_pa"], expected, 0.01)


def stack(pressures: Sequence[float], dhat: float = 1e-3, thickness: float = 1e-3) -> tuple[SceneRun, list[float]]:
    """Three sheets on a floor, friction so that they stay on each other; p / (k dhat) of the top gap is as given first."""
    weight, sheets_count = 0.2 * GRAVITY, 3
    stiffness = weight / (pressures[0] * dhat)
    text = SceneText("stack")
    expected, height = [], 0.0
    for i in range(sheets_count):
        expected.append(gap_of(weight * (sheets_count - i), stiffness, dhat))
        height += (0.5 if i == 0 else 1.0) * thickness + 1.01 * expected[-1]
        vertices, triangles = sheets.square(0.06, 10)
        text.shell(f"sheet{i}", (vertices + (1.3e-3 * i, 0.7e-3 * i, 0), triangles), (0, 0, height), fields=shell_fields(thickness, 0.2, 300.0, 1e-5))
    text.static("floor", solids.sheet(0.3, 1), (0.013, 0.007, 0))
    text.contact(0.5, dhat=dhat, more=f"area_stiffness_n_m3: {stiffness!r}")
    text.line("solver { newton_tolerance_m_s: 1e-6 }")
    return SceneRun(f"stack {pressures[0]:g}", text, 0.02, 1.0, (), "last", _last, audit=True), expected


def gap_of(pressure: float, stiffness: float, dhat: float) -> float:
    """The gap g at which k |b'(g)| = p."""
    low, high = 1e-9 * dhat, dhat
    for _ in range(200):
        g = 0.5 * (low + high)
        slope = (g - dhat) * (2 * math.log(g / dhat) + (g - dhat) / g)
        low, high = (g, high) if stiffness * slope > pressure else (low, g)
    return low


def judge_stack(report: dict[str, Any], expected: Sequence[float], pressure: float, thickness: float = 1e-3) -> list[Record]:
    count = sheets.square(0.06, 10)[0]
    middle = int(np.argmin(np.linalg.norm(count, axis=1)))
    heights = [report["measured"][i * len(count) + middle][2] for i in range(len(expected))]
    records = []
    for i, gap in enumerate(expected):
        below, offset = (0.0, 0.5 * thickness) if i == 0 else (heights[i - 1], thickness)
        records += _ratio(f"stack.{pressure:g}.gap_{len(expected) - i}_from_the_top", heights[i] - below - offset, gap, 0.05)
    return records
