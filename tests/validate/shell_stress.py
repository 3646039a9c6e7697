"""Sheets that must never pass through anything, each step audited exactly; a sheet that slips over a bar; a drape on finer meshes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import sheets
import solids
from scene_runs import SceneRun
from scene_text import SceneText, held
from shell_statics import GRAVITY, gap_of, shell_fields
from validation import Record, at_least, at_most, equal, reported

STEPS_S = (0.02, 0.01, 0.0025)
THICKNESS = 1e-3
CLOTH = shell_fields(THICKNESS, 0.2, 300.0, 3e-6)
DAMPED = "poissons_ratio: 0.3 rayleigh_beta_s: 0.001"
TOLERANCE = 1e-3  # m/s
DRAPE_S = 2.0
POST_TOP_M = 0.05
POST_SIDES = 48
DRAPE_TURNS_RAD = tuple(2 * math.pi / POST_SIDES * k / 5 for k in range(5))
DRAPE_CELLS = (12, 18, 24, 30)  # the first has edges longer than the bending length (D / (rho_A g))^(1/3) = 11.5 mm of the cloth


def _finish(text: SceneText, friction: float, tolerance: float = TOLERANCE) -> None:
    text.contact(friction, dhat=1e-3, eps_v=1e-3)
    text.line(f"solver {{ newton_tolerance_m_s: {tolerance!r} max_newton_iterations: 200 }}")


def spinning_ball() -> tuple[SceneText, float]:
    """A square cloth falls on a ball that turns about the vertical twice a second."""
    text = SceneText("spinning_ball")
    vertices, triangles = solids.geodesic(2)
    keys = [(0.25 * k, (0.0, 0.0, 0.0), (0.0, 0.0, 0.5 * math.pi * k)) for k in range(9)]
    text.kinematic("ball", (0.05 * vertices, triangles), keys)
    text.static("floor", solids.sheet(0.4, 1), (0.013, 0.007, -0.08))
    text.shell("cloth", sheets.square(0.24, 18), (0, 0, 0.054), fields=CLOTH, material=DAMPED)
    _finish(text, 0.4)
    return text, 1.0


def spikes() -> tuple[SceneText, float]:
    """A cloth falls on 10 x 10 pointed cones."""
    text = SceneText("spikes")
    parts = []
    count = 0
    for i in range(10):
        for j in range(10):
            vertices, triangles = solids.lathe([(0.0, 0.0), (0.004, 0.0), (0.0, 0.03)], 5)
            parts.append((vertices + (0.02 * (i - 4.5), 0.02 * (j - 4.5), -0.03), triangles + count))
            count += len(vertices)
    text.static("spikes", (np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])))
    text.shell("cloth", sheets.square(0.22, 22), (0.003, 0.002, 0.003), fields=CLOTH, material=DAMPED)
    _finish(text, 0.3)
    return text, 0.6


def twisted_tube() -> tuple[SceneText, float]:
    """Both ends of an open tube are turned against each other, 72 degrees a second each, and brought a little together: three turns."""
    text = SceneText("twisted_tube")
    radius, length, seconds = 0.03, 0.2, 7.5
    mesh = sheets.tube(radius, length, 28)
    turns = [(seconds * k / 15, (0.0, 0.0, 0.03 * k / 15), (0.0, 0.0, math.radians(72) * seconds * k / 15)) for k in range(16)]
    back = [(t, (0.0, 0.0, -p[2]), (0.0, 0.0, -r[2])) for t, p, r in turns]
    ends = held("low", (-1, -1, -1), (1, 1, 1e-9), turns) + " " + held("high", (-1, -1, length - 1e-9), (1, 1, 1), back)
    fields = shell_fields(1.5e-3, 0.3, 1000.0, 1e-5)
    text.gravity = (0, 0, 0)
    text.shell("tube", mesh, fields=fields, material="poissons_ratio: 0.3 rayleigh_beta_s: 0.001", extra=ends)
    _finish(text, 0.2)
    return text, seconds


def layers(count: int = 40) -> tuple[SceneText, float]:
    """Forty small cloths, each turned a little, are dropped on each other."""
    text = SceneText("layers")
    for i in range(count):
        text.shell(f"cloth{i}", sheets.square(0.06, 5), (0, 0, 1e-3 + 2.2e-3 * i), (0, 0, 0.3 * i), fields=CLOTH, material=DAMPED)
    text.static("floor", solids.sheet(0.3, 1), (0.013, 0.007, 0))
    _finish(text, 0.3)
    return text, 0.4


def sheets_under_ball() -> tuple[SceneText, float]:
    """A heavy stiff ball is dropped on ten cloths on a floor."""
    text = SceneText("sheets_under_ball")
    for i in range(10):
        text.shell(f"cloth{i}", sheets.square(0.08, 8), (0, 0, 1.2e-3 + 2e-3 * i), (0, 0, 0.3 * i), fields=CLOTH, material=DAMPED)
    vertices, triangles = solids.geodesic(1)
    text.moving("ball", "affine", (0.02 * vertices, triangles), (0.004, 0.003, 0.06), youngs_modulus_pa=1e8, density_kg_m3=7800.0, velocity=(0, 0, -1.0))
    text.static("floor", solids.sheet(0.3, 1), (0.013, 0.007, 0))
    _finish(text, 0.3)
    return text, 0.4


SCENES = {"spinning_ball": spinning_ball, "spikes": spikes, "twisted_tube": twisted_tube, "layers": layers, "sheets_under_ball": sheets_under_ball}
# Parts of the study: a scene and its steps. The tube, whose layers lie on each other for seconds, takes longest: a part for each step size.
PARTS = {"spinning_ball": ("spinning_ball", STEPS_S), "spikes": ("spikes", STEPS_S),
         **{f"twisted_tube_{round(1e6 * step)}us": ("twisted_tube", (step,)) for step in STEPS_S},
         "layers": ("layers", STEPS_S), "sheets_under_ball": ("sheets_under_ball", STEPS_S)}


def stress_runs(part: str) -> list[tuple[str, SceneRun]]:
    """Those of one of PARTS."""
    name, steps = PARTS[part]
    runs = []
    for step in steps:
        text, seconds = SCENES[name]()
        runs.append((f"{name}.h={step:g}", SceneRun(f"{name} h={step:g}", text, step, seconds, audit=True)))
    return runs


def judge_stress(name: str, report: dict[str, Any]) -> list[Record]:
    """0 intersections, no pair nearer than its separation, at most 1 % of the steps not converged."""
    audit, steps = report["audit"], len(report["steps"]["outcome"])
    least = audit["least_relative_distance"]
    return [equal(f"{name}.intersections", audit["intersections"], 0), equal(f"{name}.states_checked", audit["states_checked"], steps),
            at_least(f"{name}.distance_over_separation", math.inf if least is None else least, 1.0),
            at_most(f"{name}.steps_not_converged", report["steps_not_converged"] / steps, 0.01),
            reported(f"{name}.newton_iterations", report["newton_iterations"]["mean"]), reported(f"{name}.contacts", report["contacts"]["mean"])]


def bar_slip(factor: float, step: float) -> SceneRun:
    """A limp strip over a bar of R = 20 mm: it slips iff the long side exceeds L1 = L2 e^(mu pi) + 2 mu R (1 + e^(mu pi)) / (1 + mu^2).

    Damping of its stretching lets the tension come up without overshoot; the strip starts where the barrier carries the tension of its ends.
    """
    mu, radius, short = 0.3, 0.02, 0.1
    thickness, mass, stiffness, dhat = 2e-4, 0.2, 2e5, 1e-3
    growth = math.exp(mu * math.pi)
    tension = mass * GRAVITY * short * (1 + growth) / 2
    out = radius + thickness / 2 + gap_of(tension / radius, stiffness, dhat)  # to the mid-surface
    limit = short * growth + 2 * mu * out * (1 + growth) / (1 + mu**2)
    long = factor * limit
    total = short + math.pi * out + long
    edge = 0.004
    vertices, triangles = sheets.right_grid(total, 0.02, round(total / edge), 4)
    text = SceneText("bar")
    along = vertices[:, 0]
    placed = np.zeros_like(vertices)
    angle = np.clip((along - short) / out, 0, math.pi)
    placed[:, 0] = -out * np.cos(angle)
    placed[:, 2] = out * np.sin(angle) - np.maximum(short - along, 0) - np.maximum(along - short - math.pi * out, 0)
    placed[:, 1] = vertices[:, 1]
    bar = solids.cylinder(radius, 0.1, 96)
    text.static("bar", bar, (0, 0, 0), (math.pi / 2, 0, 0))
    text.shell("strip", (placed, triangles), rest=(vertices, triangles), material="rayleigh_alpha_per_s: 2 rayleigh_beta_s: 0.01",
               fields=shell_fields(thickness, mass, 500.0, 1e-8, "flat_rest_angles: true"))
    text.contact(mu, dhat=dhat, eps_v=1e-4, more=f"friction_mode: IMPLICIT area_stiffness_n_m3: {stiffness!r} self_contact: true")
    text.line("solver { newton_tolerance_m_s: 1e-5 max_newton_iterations: 200 }")
    return SceneRun(f"bar slip {factor:g} h={step:g}", text, step, 1.0, (), "travel", _travel)


def _travel(times: np.ndarray, positions: np.ndarray) -> float:
    """How fast the end of the long side sinks in the last quarter, m/s."""
    quarter = max(1, len(times) // 4)
    return float((positions[-1 - quarter, -1, 2] - positions[-1, -1, 2]) / (times[-1] - times[-1 - quarter]))


def drape(cells: int, turn_rad: float) -> SceneRun:
    """A cloth over a post, which is turned about its axis: the height at which the cloth's centre of mass comes to rest.

    Its folds settle in one of several ways that rest at different heights, and which one hangs on how its mesh lies on the post.
    """
    text = SceneText("drape")
    mesh = sheets.square(0.2, cells)
    text.static("post", solids.cylinder(0.04, 2 * POST_TOP_M, POST_SIDES), (0, 0, 0), (0, 0, turn_rad))
    text.shell("cloth", mesh, (0, 0, 0.053), fields=CLOTH, material="poissons_ratio: 0.3 rayleigh_beta_s: 0.002 rayleigh_alpha_per_s: 3")
    _finish(text, 0.3)
    return SceneRun(f"drape {cells} turned by {turn_rad:.3f}", text, 0.02, DRAPE_S, (), "height of the cloth's mass", lambda times, positions: _heights_of_mass(positions, mesh), audit=True)


def _heights_of_mass(positions: np.ndarray, mesh: sheets.Mesh) -> list[float]:
    """Of the last body, at the end and a quarter of the time before it, by the areas of triangles at rest."""
    vertices, triangles = mesh
    edges = vertices[triangles[:, 1:]] - vertices[triangles[:, :1]]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    middles = positions[:, -len(vertices):, 2][:, triangles].mean(axis=2)
    heights = middles @ area / area.sum()
    return [float(heights[-1]), float(heights[-1 - len(heights) // 4])]
