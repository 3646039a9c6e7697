"""Contact against theory: a ball pressed on a rigid plane (Hertz), on meshes that grow finer."""

from __future__ import annotations

import math

import solids
from hertz_reference import Ball, converged
from page import RecordsTable
from scene_text import SceneText, held
from validation import Context, Record, at_most, reported, within

NAME = "physics"
DESCRIPTION = "Hertz contact within 5 % of the force on a half ball, converging under refinement"

BALL = Ball(radius=0.05, youngs=1e5, poisson=0.4)
RADIUS, YOUNGS, POISSON = BALL.radius, BALL.youngs, BALL.poisson
APPROACHES = (0.25e-3, 1e-3)  # m
CELLS = (6, 8, 10, 12)  # across the core
CORE = 1.3  # of the radius of contact, sqrt(R d)
SMALL_APPROACH = 2e-5  # m

PAGE = RecordsTable(
    "Hertz contact", """A ball of R = 0.05 m, E = 1e5 Pa, ν = 0.4 is pressed on a rigid plane: its lower half, the equator driven, without friction.
    Linear tetrahedra on shells about the pole: a core of the contact's size, then layers as thick as their cells are wide. *Error*: the force
    over that of axisymmetric finite elements for the same half ball (`tests/validate/hertz_reference.py`), less 1; within 5 % on the finest
    mesh, falling under refinement. That reference converges by itself, and goes to the theory of the half space as the approach becomes
    small. The stiffness of contact leaves a gap, which the approach is counted without; the gap lies between its least value and d̂
    everywhere, so doubling the stiffness may change the force by at most 3/2 of that range over the approach.""",
    {"force": "force, N", "error": "error", "gap_over_approach": "gap over approach"}, case="approach and cells across the core")


def press_scene(approach: float, cells: int, stiffer: float) -> tuple[SceneText, float]:
    """The ball `approach` into the plane, less the gap; and where it starts above it. The gap stays below 1.5 % of the approach. stiffer: of contact."""
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
    text.contact(0.0, dhat=dhat, more=f"area_stiffness_n_m3: {stiffer * 2 * pressure / (1.19 * dhat)!r} self_contact: false")
    text.line("solver { newton_tolerance_m_s: 1e-8 max_newton_iterations: 300 }")
    return text, dhat


def press(context: Context, approach: float, cells: int, stiffer: float = 1.0) -> tuple[float, float]:
    """Force on the plane, N, at the nominal approach: the drive stops a gap deeper than it presses, and Hertz's law carries the force over; and the gap, m.
    Steps of a quarter second are as good as at rest."""
    text, _ = press_scene(approach, cells, stiffer)
    path = text.write(context.scratch / f"{approach:g}-{cells}-{stiffer:g}")
    report = context.cli.run(path, 0.25, 2.0)
    gap = report["min_distance_m"]
    return report["contact_forces"]["ball/plane"]["normal_n"][2] * (approach / (approach + gap)) ** 1.5, gap


def reference() -> tuple[dict[float, float], list[Record]]:
    """Forces by approach, N, and what must hold of them."""
    forces, records = {}, []
    for approach in APPROACHES:
        forces[approach], away = converged(BALL, approach)
        records += [reported(f"reference-{approach * 1e3:g}mm", forces[approach], "N"),
                    at_most(f"reference-{approach * 1e3:g}mm.mesh", away, 0.005)]
    # The equator holds what lies beyond it. In a half space, a force F moves what lies R below it by F (1 + nu) (3 - 2 nu) / (2 pi E R) (Boussinesq), so
    # much the contact gains in depth at most, because a ball yields more than a half space; the force grows with the depth to the power of 3/2.
    most = 1.5 * BALL.half_space(SMALL_APPROACH) * (1 + POISSON) * (3 - 2 * POISSON) / (2 * math.pi * YOUNGS * RADIUS * SMALL_APPROACH)
    small = converged(BALL, SMALL_APPROACH)[0] / BALL.half_space(SMALL_APPROACH)
    return forces, records + [within("reference.over_half_space", small, 1.0, 1 + most)]


def run(context: Context) -> list[Record]:
    expected, records = reference()
    for approach, force_of in expected.items():
        label, errors = f"hertz-{approach * 1e3:g}mm", []
        for cells in CELLS:
            force, gap = press(context, approach, cells)
            errors.append(force / force_of - 1)
            context.say(f"{label}, {cells} cells: {errors[-1]:+.4f}")
            records += [reported(f"{label}-{cells}.force", force, "N"), reported(f"{label}-{cells}.error", errors[-1]),
                        at_most(f"{label}-{cells}.gap_over_approach", gap / approach, 0.015)]
            if cells == CELLS[0]:
                other, less = press(context, approach, cells, 2.0)
                records.append(at_most(f"{label}.change_with_stiffness", abs(other / force - 1), 1.5 * (0.015 - less / approach)))
        records += [within(f"{label}.error", errors[-1], -0.05, 0.05),
                    at_most(f"{label}.error_over_coarser", abs(errors[-1]) / abs(errors[0]), 1.0)]
    return records
