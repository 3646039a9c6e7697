"""Contact against theory: a ball pressed on a rigid plane (Hertz), on meshes that grow finer."""

from __future__ import annotations

from pathlib import Path

import solids
from page import RecordsTable
from scene_text import SceneText, held
from validation import Context, Record, at_most, reported, within

NAME = "physics"
DESCRIPTION = "Hertz contact within 5 % of the finite sphere's force, converging under refinement"

PAGE = RecordsTable(
    "Hertz contact", """A ball of R = 0.05 m, E = 1e5 Pa, ν = 0.4 is pressed on a rigid plane: its lower half, the equator driven, without friction.
    Linear tetrahedra on shells about the pole: a core of the contact's size, then layers as thick as their cells are wide. *Error*: the force
    over that of axisymmetric finite elements for the finite sphere (0.1455 N at 0.25 mm, 1.209 N at 1 mm; half space: 0.1403, 1.122), less 1;
    within 5 % on the finest mesh, falling under refinement. Forces are too large by what linear elements are too stiff.""",
    {"force": "force, N", "error": "error", "gap_over_approach": "gap over approach"}, case="approach and cells across the core")

RADIUS, YOUNGS, POISSON = 0.05, 1e5, 0.4
# Of the lower half, its equator driven, against a frictionless rigid plane: axisymmetric finite elements; half-space theory,
# 4/3 E* sqrt(R) d^1.5 with E* = E / (1 - nu^2), gives 0.1403 N and 1.122 N.
FINITE_SPHERE_N = {0.25e-3: 0.1455, 1e-3: 1.209}
CELLS = (6, 8, 10)  # across the core
CORE = 1.3  # of the radius of contact, sqrt(R d)


def press_scene(approach: float, cells: int) -> tuple[SceneText, float]:
    """The ball `approach` into the plane, less the gap; and where it starts above it. The gap stays below 1.5 % of the approach."""
    dhat = 0.015 * approach
    pressure = 2 / 3.1416 * YOUNGS / (1 - POISSON**2) * (approach / RADIUS) ** 0.5  # Hertz, in the middle
    text = SceneText("hertz")
    text.gravity = (0, 0, 0)
    place = (0.0, 0.0, RADIUS + dhat)
    drive = held("equator", (-1, -1, -1e-9), (1, 1, 1), [(0.0, place, (0, 0, 0)), (1.0, (0.0, 0.0, RADIUS - approach), (0, 0, 0))])
    text.static("plane", solids.sheet(0.1, 1), (0.013, 0.007, 0))
    ball = solids.half_ball(RADIUS, cells, CORE * (RADIUS * approach) ** 0.5)
    text.moving("ball", "full_space", ball, place, density_kg_m3=100.0, youngs_modulus_pa=YOUNGS, poissons_ratio=POISSON, extra=drive,
                model="LINEAR_COROTATED")  # as linear as the theory
    # Half of a surface's points act against a plane that has none of its own: that stiffness holds the pressure at half of dhat.
    text.contact(0.0, dhat=dhat, more=f"area_stiffness_n_m3: {2 * pressure / (1.19 * dhat)!r} self_contact: false")
    text.line("solver { newton_tolerance_m_s: 1e-8 max_newton_iterations: 300 }")
    return text, dhat


def press(context: Context, approach: float, cells: int, folder: Path) -> tuple[float, float, float]:
    """Force on the plane, N; the approach net of the gap, m; the gap, m. Steps of a quarter second are as good as at rest."""
    text, dhat = press_scene(approach, cells)
    path = text.write(folder / f"{approach:g}-{cells}")
    report = context.cli.run(path, 0.25, 2.0)
    gap = report["min_distance_m"]
    return report["contact_forces"]["ball/plane"]["normal_n"][2], approach + gap, gap


def run(context: Context) -> list[Record]:
    records = []
    for approach, expected in FINITE_SPHERE_N.items():
        errors = []
        for cells in CELLS:
            force, net, gap = press(context, approach, cells, context.scratch)
            # The drive stops `gap` deeper than it presses; Hertz's law carries the force over to the nominal approach.
            error = force * (approach / net) ** 1.5 / expected - 1
            errors.append(error)
            label = f"hertz-{approach * 1e3:g}mm-{cells}"
            records += [reported(f"{label}.force", force, "N"), reported(f"{label}.error", error),
                        at_most(f"{label}.gap_over_approach", gap / approach, 0.015)]
        records += [within(f"hertz-{approach * 1e3:g}mm.error", errors[-1], -0.05, 0.05),
                    at_most(f"hertz-{approach * 1e3:g}mm.error_over_coarser", abs(errors[-1]) / abs(errors[0]), 1.0)]
    return records
