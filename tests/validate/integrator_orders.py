"""Error over step size and over work, for every integrator, without contact and with contact that the steps resolve; momenta."""

from __future__ import annotations

from typing import Any

import numpy as np

import solids
from integrator_oracles import IMPLICIT, INTEGRATORS, MEANS
from page import Page
from paper_records import scheme_runs
from scene_runs import SceneRun, run_scene, run_scenes
from scene_text import SceneText
from validation import Context, Record, at_most, equal, reported, within

SOFT = {"density_kg_m3": 1000.0, "poissons_ratio": 0.3, "model": "STABLE_NEO_HOOKEAN"}
MOMENTUM_STEP_S, MOMENTUM_TIME_S = 0.01, 1.0
SPIN, VELOCITY = (1.0, 2.0, 6.0), (0.3, 0.1, -0.2)
FREE_BOX = (0.1, 0.1, 0.15)


def free_scene() -> SceneText:
    """A box that spins and wobbles; all its nodes lie on its surface."""
    text = SceneText("wobble")
    text.gravity = (0, 0, 0)
    text.moving("box", "full_space", solids.tet_grid(*FREE_BOX, (1, 1, 2)), youngs_modulus_pa=2e4, spin=SPIN, velocity=VELOCITY, **SOFT)
    text.contact(0.0, more="self_contact: false")
    text.line("solver { newton_tolerance_m_s: 1e-9 }")
    return text


def contact_scene() -> SceneText:
    """A block that slides on a soft barrier, from equilibrium, without stopping: motion, contact and friction are smooth."""
    text = SceneText("sliding")
    text.moving("block", "full_space", solids.tet_grid(0.1, 0.06, 0.04, (2, 1, 1)), (0.003, 0.002, 0.0206), youngs_modulus_pa=1e5,
                velocity=(0.8, 0.2, 0), **SOFT)
    text.static("floor", solids.sheet(0.5, 3))
    text.contact(0.3, dhat=4e-3, more="area_stiffness_n_m3: 2e7 friction_mode: IMPLICIT")
    text.line("solver { newton_tolerance_m_s: 1e-9 }")
    text.line("start_in_equilibrium: true")
    return text


# Orders where they are others with contact and friction: both wholly at the end of a step; friction by the velocities of the step
# before, whose error is less than the others until steps are finer.
ORDERS_IN_CONTACT = {"TR, contact unsplit": 1, "Verlet": 1}
FINER = {("contact", "Verlet"): (6400, 12800, 25600)}  # steps
PROBLEMS = {"free": (free_scene(), 0.12, (15, 30, 60, 120, 240, 480, 960, 1920), 15360), "contact": (contact_scene(), 0.02, (50, 100, 200, 400, 800), 6400)}


def _last(times: np.ndarray, positions: np.ndarray) -> list[list[float]]:
    return positions[-1].tolist()


def error(report: dict[str, Any], reference: dict[str, Any]) -> float:
    """RMS over surface vertices, m."""
    difference = np.array(report["measured"]) - np.array(reference["measured"])
    return float(np.sqrt((difference**2).sum(axis=1).mean()))


def case_run(problem: str, name: str, steps: int) -> SceneRun:
    scene, time, _, _ = PROBLEMS[problem]
    return SceneRun(f"{problem} {name} {steps} steps", scene, time / steps, time, (f"solver.integrator={INTEGRATORS[name][0]}",), "last", _last)


def run_orders(context: Context, page: Page) -> list[Record]:
    page.section("Order in h and work")
    page.text("""RMS error of the surface at the end against RK4 with many more steps. Free: a stable neo-Hookean box that spins and wobbles, 0.12 s.
        Contact: a soft block sliding on a barrier of d̂ = 4 mm with implicit friction, from equilibrium, 0.02 s. Order: least squares over the three
        finest steps. Work is linear solves, which the load of the machine does not change; explicit ones have none. Steps beyond the limit of an explicit one
        are taken in smaller ones. In contact "TR, contact unsplit" is of first order, and so in the limit is Verlet, whose friction is that of the velocities
        of the step before: its order is that of 6,400 to 25,600 steps.""")
    table, = scheme_runs(context, [{"problem": {"kind": "table"}}])
    served = sorted(name for name, row in table.items() if not row["reference_only"])
    records: list[Record] = [equal("order.are_all_of_the_table", sorted(kind for kind, _ in INTEGRATORS.values()) == served, True)]
    for problem, (scene, time, counts, fine) in PROBLEMS.items():
        reference = run_scene(context, SceneRun(f"{problem} reference", scene, time / fine, time, ("solver.integrator=RUNGE_KUTTA_4",), "last", _last))
        cases = [(name, n) for name in INTEGRATORS for n in counts]
        found = dict(zip(cases, run_scenes(context, [case_run(problem, name, n) for name, n in cases])))
        errors = {name: np.array([error(found[name, n], reference) for n in counts]) for name in INTEGRATORS}
        work = {name: np.array([found[name, n]["newton_iterations"]["total"] for n in counts]) for name in INTEGRATORS}
        rows = []
        for name, (_, order) in INTEGRATORS.items():
            finest, of_finest = counts[-3:], errors[name][-3:]
            if (problem, name) in FINER:
                finest = FINER[problem, name]
                of_finest = np.array([error(r, reference) for r in run_scenes(context, [case_run(problem, name, n) for n in finest])])
            slope = float(-np.polyfit(np.log(finest), np.log(of_finest), 1)[0])
            expected = ORDERS_IN_CONTACT.get(name, order) if problem == "contact" else order
            records.append(within(f"order.{problem}.{name}", slope, expected - 0.1, expected + 0.1))
            rows.append([name, slope, *errors[name].tolist()])
        page.table([f"{problem}: error (m)", "order", *(f"{n} steps" for n in counts)], rows)
        from study_plots import plot_lines

        steps = time / np.array(counts)
        plot_lines(context.figures / f"order_{problem}.png", {n: (steps, e) for n, e in errors.items()}, "step h (s)", "error (m)", log=True)
        plot_lines(context.figures / f"work_{problem}.png", {n: (work[n], errors[n]) for n in IMPLICIT}, "linear solves", "error (m)", log=True)
        page.figure(f"order_{problem}.png", f"{problem}: error over step size")
        page.figure(f"work_{problem}.png", f"{problem}: error over work")
    return records


def _masses() -> np.ndarray:
    """Consistent mass matrix of the free box, node by node, kg."""
    vertices, tets = solids.tet_grid(*FREE_BOX, (1, 1, 2))
    mass = np.zeros((len(vertices), len(vertices)))
    for tet in tets:
        a, b, c, d = vertices[tet]
        mass[np.ix_(tet, tet)] += SOFT["density_kg_m3"] * abs(np.dot(np.cross(b - a, c - a), d - a)) / 6 / 20 * (np.ones((4, 4)) + np.eye(4))
    return mass


def _momenta(times: np.ndarray, positions: np.ndarray) -> dict[str, float]:
    """Drift of the centre of mass from its straight line over the path length, and of angular momentum where the rule for positions gives the
    velocities, q' - q = h (v + v') / 2 (MEANS): relative."""
    mass, h = _masses(), float(times[0])
    times, positions = np.array([0.0, *times]), np.concatenate([solids.tet_grid(*FREE_BOX, (1, 1, 2))[0][None], positions])
    total = mass.sum()
    centre = np.einsum("ij,tjk->tk", mass, positions) / total
    line = np.outer(times - times[0], VELOCITY) + centre[0]
    v = np.array(VELOCITY) + np.cross(SPIN, positions[0] - centre[0])
    angular = []
    for n in range(len(times)):
        if n > 0:
            v = 2 * (positions[n] - positions[n - 1]) / h - v
        angular.append(np.einsum("ij,ijk->k", mass, np.cross(positions[n][:, None], v[None, :])))
    angular = np.array(angular)
    return {"linear": float(np.abs(centre - line).max() / np.linalg.norm(line[-1] - line[0])),
            "angular": float(np.abs(angular - angular[0]).max() / np.linalg.norm(angular[0]))}


def run_momentum(context: Context, page: Page) -> list[Record]:
    runs = [SceneRun(f"momentum {name}", free_scene(), MOMENTUM_STEP_S, MOMENTUM_TIME_S, (f"solver.integrator={kind}",), "momenta", _momenta)
            for name, (kind, _) in INTEGRATORS.items()]
    records, rows = [], []
    for name, report in zip(INTEGRATORS, run_scenes(context, runs)):
        linear = report["measured"]["linear"]
        angular = report["measured"]["angular"] if name in MEANS else None
        records.append(at_most(f"momentum.{name}.linear_drift", linear, 1e-10))
        if name in ("midpoint", "variational, α = 1/2"):
            records.append(at_most(f"momentum.{name}.angular_drift", angular, 1e-7))
        elif angular is not None:
            records.append(reported(f"momentum.{name}.angular_drift", angular))
        rows.append([name, linear, angular])
    page.section("Momentum")
    page.text(f"""The free box above at h = {MOMENTUM_STEP_S:g} s for {MOMENTUM_TIME_S:g} s: how far the centre of mass leaves its straight line, over the distance that it moves; and the
        change of angular momentum over it, where positions alone give velocities. The midpoint rule and, with α = 1/2, the variational scheme keep quadratic invariants, the others do not promise to;
        tests/sim/dynamics/integrators_test.cc has all of them from the states themselves.""")
    page.table(["", "linear", "angular"], rows)
    return records
