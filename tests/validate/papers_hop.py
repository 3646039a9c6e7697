"""Kharevych et al. 2006, Fig. 4 and section 5.4: a body that hops, and minimization beside root finding."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import solids
from eipc_cli import REPOSITORY
from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord
from refined_meshes import boundary, read_tets, refined
from scene_runs import SceneRun, energies, run_scenes
from scene_text import SceneText
from validation import Context

HOP, COST = "Kharevych et al. 2006, Fig. 4", "Kharevych et al. 2006, Section 5.4"
BEAR = REPOSITORY / "models" / "generated" / "teddy_full.vtk"
HEIGHT_M, SPEED_M_S, SPIN_RAD_S = 0.1, 0.2, 1.0  # of the fall, of the drift, of the turn about the vertical
YOUNGS_PA, DENSITY, DAMPING_S, DHAT_M, PENALTY_N_M3 = 2e4, 100.0, 1e-3, 1e-2, 1e6
MOVED = "the paper moves every vertex; here a coarse mesh carries a fine surface, as the product does"
STEPS_S, HOP_S, GRAVITY = (0.00125, 0.0025, 0.005), 1.5, 9.81
FLIGHT_S = 0.05  # shorter times without contact are no flights
CUT = ("its landing crosses most of the contact's range in one step: contact would have made more than a tenth of the energy that moves in {parts} of {steps} "
       "steps, and such a step is taken in halves (docs/decisions/0045-contact-makes-no-energy.md)")
ROCKS = "after its first flight the bear rocks from foot to foot, and what it flies then is near {shortest} s, the least that counts: here {longest:.3g} s at most"

# (cells of the bar, speed-up that the paper gives for about as many vertices)
BARS = (((20, 3, 3), 1.2), ((40, 6, 6), 2.6), ((60, 7, 7), 3.0))
BAR_YOUNGS_PA, BAR_STEP_S, BAR_S = 2.3e4, 0.01, 0.2
SOLVER = ("it is a comparison of linear solvers: the general LU analyses its matrix anew in every iteration, beside the Cholesky factor of the symmetric part, and a root finder "
          "that takes that factor for a preconditioner is faster than the minimization")
SOLVERS = {"minimization": (), "root finding": ("contact.friction_mode=IMPLICIT",),
           "root finding, general matrices": ("contact.friction_mode=IMPLICIT", "solver.direct_root_solver=true")}


def hop_scene() -> tuple[SceneText, int, int]:
    """The bear over a floor without friction, the number of its surface vertices, and of those that move it."""
    tets = read_tets(BEAR)
    surface = boundary(refined(tets, 3))
    text = SceneText("hop")
    text.static("floor", solids.sheet(5.0, 1), (0.03, 0.02, 0))
    text.moving("bear", "embedded", surface, (0, 0, HEIGHT_M - float(tets[0][:, 2].min())), youngs_modulus_pa=YOUNGS_PA, density_kg_m3=DENSITY,
                model="STABLE_NEO_HOOKEAN", velocity=(SPEED_M_S, 0, 0), spin=(0, 0, SPIN_RAD_S), cage=tets, coarse="coarse_space: PLAIN",
                material=f"strain_damping_s: {DAMPING_S}")
    text.contact(0.0, dhat=DHAT_M, more=f"self_contact: false area_stiffness_n_m3: {PENALTY_N_M3}")
    text.line("solver { integrator: VARIATIONAL }")
    return text, len(surface[0]), len(tets[0])


def periods(flying: np.ndarray) -> list[tuple[int, int]]:
    """First step, and the step after the last one, of every time without contact."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], flying.astype(int), [0]])))
    return list(zip(ends[::2], ends[1::2]))


def flights(flying: np.ndarray, h: float) -> list[tuple[int, int]]:
    """Those of FLIGHT_S and more."""
    return [(a, b) for a, b in periods(flying) if (b - a) * h >= FLIGHT_S - 1e-9]


def tops(heights: np.ndarray) -> np.ndarray:
    """Of a curve: its maxima after the start."""
    return heights[1:-1][(heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:])]


def run_hop(context: Context, page: Page) -> list[PaperRecord]:
    """Figure 4: the implicit scheme with dissipation, a penalty for contact, a body of as many vertices; nothing else is published."""
    from study_plots import plot_lines

    scene, vertices, moved = hop_scene()
    reports = run_scenes(context, [SceneRun(f"hop h={h:g}", scene, h, HOP_S, audit=True) for h in STEPS_S])
    records = [Claim(HOP, "12.6K vertices", "the paper", MOVED).reported("hop.moved_vertices", moved)]
    rows, lines, heights_of_tops = [], {}, []
    for h, report in zip(STEPS_S, reports):
        steps = {name: np.array(values, float) for name, values in report["steps"].items() if name not in ("outcome", "limited_by")}
        weight = report["bodies"]["bear"]["mass_kg"] * GRAVITY
        height, flying = steps["gravity_j"] / weight, steps["contacts"] == 0
        energy = energies(report)
        flown = flights(flying, h)
        heights_of_tops.append(np.append(tops(height), [0, 0])[:2] - (height[0] - HEIGHT_M))  # above the mass centre's height where the undeformed body touches
        free = flying[2:] & flying[1:-1] & flying[:-2]
        bend = np.abs(np.diff(height, 2) + GRAVITY * h * h)[free].max() / (GRAVITY * h * h) if free.any() else np.inf
        gains = np.diff([energy[a:b].mean() for a, b in flown])
        breaks = sum(report["structure_breaks"].values())
        cut = CUT.format(parts=report["structure_breaks"]["contact_energy"], steps=len(height)) if breaks else ""
        later = [(b - a) * h for a, b in periods(flying)[2:]]
        rocks = ROCKS.format(shortest=FLIGHT_S, longest=max(later, default=0.0)) if len(flown) < 3 else ""
        key = f"hop.h={h:g}"
        records += [Claim(HOP, NOT_PUBLISHED, "the guarantee").equal(f"{key}.intersections", report["audit"]["intersections"], 0),
                    Claim(HOP, NOT_PUBLISHED, "every state is audited").at_least(f"{key}.states_audited", report["audit"]["states_checked"], len(height)),
                    Claim(HOP, NOT_PUBLISHED, "no step may be cut or fall back", cut).equal(f"{key}.structure_breaks", breaks, 0),
                    Claim(HOP, "a bunny hops", "two flights and more after the fall", rocks).at_least(f"{key}.flights", len(flown) - 1, 2),
                    Claim(HOP, "momenta are exactly preserved", "in flight the mass centre falls by g h^2 from step to step, to the digits of its potential energy")
                    .at_most(f"{key}.flight_off_parabola", float(bend), 1e-6),
                    Claim(HOP, "correct energy behaviour with dissipation", "from the fall to the first flight and on to the next nothing is gained")
                    .at_most(f"{key}.gain_between_flights", float(gains.max() / energy[0]) if len(gains) else np.inf, 0.0)]
        lines[f"h = {h:g} s"] = (steps["time_s"], height)
        rows.append([h, len(flown) - 1, *(float(x) for x in heights_of_tops[-1]), float(energy[0]), float(energy[-1]), report["newton_iterations"]["mean"]])
    for which, name in enumerate(("first", "second")):
        risen = [of[which] for of in heights_of_tops]
        records.append(Claim(HOP, "behaviour is consistent throughout a wide range of time step sizes",
                             f"how far the mass centre's {name} top after the fall lies above where the undeformed body touches, within 10 % over steps of {STEPS_S[0]:g} to {STEPS_S[-1]:g} s")
                       .at_most(f"hop.{name}_top_spread", max(risen) / min(risen) - 1 if min(risen) > 0 else np.inf, 0.1))
    page.section("Kharevych et al. 2006: a body that hops (Fig. 4)")
    page.text(f"""The generated bear in place of a bunny, {moved} vertices of a coarse mesh move a surface that is cut to {vertices:,} for contact, stable neo-Hookean, E = {YOUNGS_PA:g} Pa, ρ = {DENSITY:g} kg/m³, damping of the rate of
        strain {DAMPING_S:g} s, dropped by {HEIGHT_M} m with a drift of {SPEED_M_S} m/s and a spin of {SPIN_RAD_S:g} rad/s onto a floor without friction; a barrier of {DHAT_M} m and {PENALTY_N_M3:g} N/m³ in
        place of the penalty; α = 1/2. The mass centre's first and second top after the fall,
        above its height where the undeformed body touches the floor.""")
    page.table(["h (s)", "flights", "first top (m)", "second top (m)", "energy at the start (J)", "at the end (J)", "Newton per step"], rows)
    plot_lines(context.figures / "papers_hop.png", lines, "time (s)", "height of the mass centre (m)")
    page.figure("papers_hop.png", "Height of the mass centre")
    return records


def bar_run(context: Context, cells: tuple[int, int, int], name: str) -> dict[str, Any]:
    """Newton iterations and seconds of a free bar that turns, its processes one after the other: the seconds are compared."""
    text = SceneText("bar")
    text.gravity = (0, 0, 0)
    mesh = solids.tet_grid(0.8, 0.2, 0.2, cells)
    text.moving("bar", "full_space", mesh, youngs_modulus_pa=BAR_YOUNGS_PA, density_kg_m3=1000.0, model="STABLE_NEO_HOOKEAN", spin=(0, 2, 3))
    text.contact(0.5)
    text.line("solver { integrator: VARIATIONAL }")
    path = text.write(context.scratch / "bars" / f"{cells[0]}-{len(SOLVERS[name])}")

    def run() -> dict[str, Any]:
        report = context.cli.run(path, BAR_STEP_S, BAR_S, settings=SOLVERS[name])
        return {"vertices": len(mesh[0]), "tets": len(mesh[1]), "iterations": report["newton_iterations"]["total"], "seconds": report["wall_s"],
                "unconverged": report["steps_not_converged"]}

    return dict(context.kept.get(sorted(path.parent.iterdir()), ["bar", BAR_STEP_S, BAR_S, SOLVERS[name]], run))


def run_minimization(context: Context, page: Page) -> list[PaperRecord]:
    """Section 5.4: the same steps solved by minimization and by finding the root of the balance of forces."""
    records, rows, gains = [], [], []
    for cells, published in BARS:
        began = time.monotonic()
        found = {name: bar_run(context, cells, name) for name in SOLVERS}
        vertices, seconds = found["minimization"]["vertices"], {name: run["seconds"] for name, run in found.items()}
        context.say(f"bar of {vertices} vertices: {time.monotonic() - began:.0f} s")
        key = f"minimization.{vertices}"
        general = Claim(COST, f"{published} times faster than root finding", "the paper's speed-up, over Newton's method with LU of a general matrix", SOLVER)
        records += [general.at_least(f"{key}.over_general_root_finding", seconds["root finding, general matrices"] / seconds["minimization"], published),
                    Claim(COST, NOT_PUBLISHED, "every step converged").equal(f"{key}.unconverged", sum(run["unconverged"] for run in found.values()), 0),
                    Claim(COST, NOT_PUBLISHED, "a root finder that is preconditioned by the factor of the symmetric part; below 1 it is faster than minimization").reported(
                        f"{key}.over_preconditioned_root_finding", seconds["root finding"] / seconds["minimization"])]
        rows += [[vertices, found[name]["tets"], name, found[name]["iterations"], seconds[name], seconds[name] / seconds["minimization"]] for name in SOLVERS]
        gains.append(seconds["root finding, general matrices"] / seconds["minimization"])
    grows = all(a < b for a, b in zip(gains, gains[1:]))
    trend = Claim(COST, "the gain grows with the size: 1.2, 2.6, 3.0", "each larger than the one before (added later)", "" if grows else
                  "ours does not: analysis and factorization of the general matrix are most of root finding at all three sizes")
    records.append(trend.equal("minimization.gain_grows_with_size", grows, True))
    page.section("Kharevych et al. 2006: minimization and root finding (5.4)")
    page.text(f"""A free bar that turns, E = {BAR_YOUNGS_PA:g} Pa, α = 1/2, h = {BAR_STEP_S} s, {BAR_S / BAR_STEP_S:.0f} steps, one thread, one run after the other; about as many vertices as
        the paper's bars of 330, 2,000 and 3,784. Both end at the same tolerance of an update. *General matrices*: LU, analysed and
        factorized anew in every iteration, beside the Cholesky factor that the line search needs. *Root finding*: that factor is the preconditioner, as for implicit friction. The minimization also extrapolates steps
        and turns its trial points, which root finding does not.""")
    page.table(["vertices", "tetrahedra", "solver", "Newton iterations", "seconds", "over minimization"], rows)
    return records
