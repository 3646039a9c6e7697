"""Linear solvers of Newton's systems: time, iterations and motion over the number of unknowns; simplified Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import solids
from eipc_cli import SCENES
from page import Page
from scene_text import SceneText, held
from surface_positions import read_surface_positions
from validation import Context, Record, at_least, at_most, equal, reported

NAME = "solvers"
DESCRIPTION = "Cholesky and preconditioned conjugate gradients over the number of unknowns, and simplified Newton"

SOLVERS = ("CHOLESKY", "PCG_DIAGONAL", "PCG_BLOCK", "PCG_IC0")
BEARS = ("low", "medium", "full")  # the bubbles take hold of the bear
BEAR_STEP, BEAR_DURATION = 0.02, 0.8
STEP = 0.01
# Solid and slender bodies: a factor of the first fills most, conjugate gradients take most iterations on the second.
BLOCKS = {7: 0.12, 12: 0.12, 18: 0.02}  # cells an edge: duration
FINGERS = {(5, 5, 40): 0.12, (9, 9, 64): 0.06}
TIGHT = "solver.newton_tolerance_m_s=1e-7"


def block_scene(cells: int) -> SceneText:
    """A cube of 0.1 m that falls on a floor and is squeezed by its own inertia."""
    text = SceneText("block")
    mesh = solids.tet_grid(0.1, 0.1, 0.1, (cells, cells, cells))
    text.moving("block", "full_space", mesh, (0.0013, 0.0007, 0.0512), youngs_modulus_pa=1e5, density_kg_m3=1000.0,
                model="STABLE_NEO_HOOKEAN", velocity=(0.2, 0, -1.0))
    text.static("floor", solids.sheet(0.2, 4))
    text.contact(0.3, dhat=1e-3)
    return text


def finger_scene(cells: tuple[int, int, int]) -> SceneText:
    """A finger of 0.02 x 0.02 x 0.12 m, held at its root, whose tip hits a wall."""
    text = SceneText("finger")
    mesh = solids.tet_grid(0.02, 0.02, 0.12, cells)
    keys = [(0.0, (0, 0, 0), (0, 0, 0)), (0.12, (0.012, 0, 0), (0, 0.1, 0))]
    text.moving("finger", "full_space", mesh, youngs_modulus_pa=1e6, density_kg_m3=1000.0, poissons_ratio=0.4,
                model="STABLE_NEO_HOOKEAN", extra=held("root", (-1, -1, 0.0599), (1, 1, 1), keys))
    text.static("wall", solids.box(0.02, 0.1, 0.1), (0.0212, 0.0013, -0.06))
    text.contact(0.3, dhat=5e-4)
    return text


@dataclass(frozen=True)
class Case:
    """One scene under every solver."""

    name: str
    scene: Any  # SceneText, or a path
    dt_s: float
    duration_s: float


def cases() -> list[Case]:
    bears = [Case(f"bear {model}", SCENES / f"bubble_teddy_{model}.textproto", BEAR_STEP, BEAR_DURATION) for model in BEARS]
    blocks = [Case(f"block {n}³", block_scene(n), STEP, duration) for n, duration in BLOCKS.items()]
    fingers = [Case("finger " + "×".join(map(str, n)), finger_scene(n), STEP, duration) for n, duration in FINGERS.items()]
    return bears + blocks + fingers


def solve(context: Context, case: Case, settings: tuple[str, ...]) -> dict[str, Any]:
    """The report with the last frame of the surface. One run at a time: times are compared."""
    scene = case.scene
    if isinstance(scene, SceneText):
        scene = scene.write(context.scratch / "scenes" / case.name)
    inputs = [path for path in sorted(scene.parent.iterdir()) if path.is_file()]

    def make() -> dict[str, Any]:
        positions = context.scratch / "solvers.positions"
        report = context.cli.run(scene, case.dt_s, case.duration_s, settings=settings, trajectory=positions)
        report["last_frame"] = np.asarray(read_surface_positions(positions).positions)[-1].ravel().tolist()
        positions.unlink()
        return report

    context.say(f"{case.name} {' '.join(settings)}")
    return context.kept.get(inputs, [str(scene.name), case.dt_s, case.duration_s, settings], make)


def away(a: dict[str, Any], b: dict[str, Any]) -> float:
    """Largest difference of a coordinate at the end, m."""
    return float(np.abs(np.subtract(a["last_frame"], b["last_frame"])).max())


def linear_ms(report: dict[str, Any]) -> float:
    """Milliseconds in the linear system of a Newton iteration: factor or preconditioner, and solution."""
    stages = report["stage_seconds"]
    return 1e3 * (stages["factorize"] + stages["solve"]) / report["newton_iterations"]["total"]


def krylov_per_newton(report: dict[str, Any]) -> float:
    return report["linear_solver"]["krylov_iterations"] / report["newton_iterations"]["total"]


def by_size(context: Context, page: Page) -> list[Record]:
    rows, records, ratio = [], [], {}
    for case in cases():
        reports = {s: solve(context, case, (f"solver.linear_solver={s}",)) for s in SOLVERS}
        exact, ic0 = reports["CHOLESKY"], reports["PCG_IC0"]
        chosen = solve(context, case, ())["linear_solver"]["kind"].upper()
        ratio[case.name] = linear_ms(exact) / linear_ms(ic0)
        rows.append([case.name, exact["unknowns"], *(linear_ms(r) for r in reports.values()),
                     *(krylov_per_newton(r) for r in list(reports.values())[1:]),
                     " / ".join(f"{r['newton_iterations']['mean']:.1f}" for r in reports.values()), chosen])
        records += [equal(f"{case.name}.{s}.steps_not_converged", r["steps_not_converged"], 0) for s, r in reports.items()]
        records += [reported(f"{case.name}.{s}.linear_ms", linear_ms(r), "ms") for s, r in reports.items()]
        records += [reported(f"{case.name}.{s}.direct_solves", r["linear_solver"]["direct_solves"]) for s, r in reports.items()]
    # What AUTO stands on, with room for a busy machine.
    records += [at_most("bear low.cholesky_over_ic0", ratio["bear low"], 1.0),
                at_least("block 12³.cholesky_over_ic0", ratio["block 12³"], 3.0),
                at_least("block 18³.cholesky_over_ic0", ratio["block 18³"], 10.0)]
    page.section("Time over size")
    page.text("""Bear: the bubbles take hold of it, linear corotated, h = 0.02 s, 0.8 s. Block: a cube of n³ cells falls on a floor at
        1 m/s; finger: held at its root, its tip pressed against a wall; both stable neo-Hookean, h = 0.01 s. Milliseconds in the linear
        system of one Newton iteration (factor or preconditioner, and solution) on one thread, iterations of conjugate gradients a
        Newton iteration, Newton iterations per step, and what AUTO stands for. Cholesky reuses what did not change since the last factor.""")
    page.table(["scene", "unknowns", "Cholesky (ms)", "diagonal (ms)", "block (ms)", "IC(0) (ms)", "iterations, diagonal", "block",
                "IC(0)", "Newton per step", "AUTO"], rows)
    return records


def same_motion(context: Context, page: Page) -> list[Record]:
    case = Case("finger same motion", finger_scene((4, 4, 24)), STEP, 0.12)
    settings = [(s, ()) for s in SOLVERS] + [(s, ("solver.simplified_newton=true",)) for s in ("CHOLESKY", "PCG_IC0")]
    rows, records = [], []
    exact = solve(context, case, (TIGHT, "solver.linear_solver=CHOLESKY"))
    for solver, more in settings:
        report = solve(context, case, (TIGHT, f"solver.linear_solver={solver}", *more))
        name = f"same_motion.{solver}" + (".simplified" if more else "")
        records += [at_most(f"{name}.away", away(report, exact), 1e-7, "m"),
                    equal(f"{name}.direct_solves", report["linear_solver"]["direct_solves"], 0)]
        rows.append([solver + (", simplified" if more else ""), away(report, exact), report["newton_iterations"]["mean"],
                     report["linear_solver"]["krylov_iterations"], report["linear_solver"]["kept_matrices"]])
    page.section("The same motion")
    page.text(f"""A finger (4 × 4 × 24 cells, {exact['unknowns']} unknowns) with a Newton tolerance of 1e-7 m/s for 0.12 s: how far its
        surface ends from where it ends with Cholesky.""")
    page.table(["solver", "away (m)", "Newton per step", "conjugate gradient iterations", "matrices kept"], rows)
    return records


def simplified(context: Context, page: Page) -> list[Record]:
    rows, records = [], []
    for case in [c for c in cases() if c.name in ("bear low", "bear full", "block 7³")]:
        whole, kept = (solve(context, case, ("solver.linear_solver=CHOLESKY", *more))
                       for more in ((), ("solver.simplified_newton=true",)))
        records += [equal(f"simplified.{case.name}.steps_not_converged", kept["steps_not_converged"], 0),
                    at_least(f"simplified.{case.name}.kept", kept["linear_solver"]["kept_matrices"], 1),
                    reported(f"simplified.{case.name}.wall_over_newton", kept["wall_s"] / whole["wall_s"])]
        rows.append([case.name, whole["newton_iterations"]["mean"], kept["newton_iterations"]["mean"],
                     kept["linear_solver"]["kept_matrices"] / kept["newton_iterations"]["total"], kept["wall_s"] / whole["wall_s"]])
    page.section("Simplified Newton")
    page.text("The matrix and its factor kept while updates shrink to 0.3 or less, Cholesky, default tolerance.")
    page.table(["scene", "Newton per step", "simplified", "share of matrices kept", "time over Newton's"], rows)
    return records


def run(context: Context) -> list[Record]:
    page = Page("Linear solvers", "./dev validate solvers")
    records = []
    for part in (by_size, same_motion, simplified):
        records += part(context, page)
    page.write(context.figures / "solvers.md")
    return records
