"""Ascher et al. 2022: damping curves of all methods against closed forms."""

from __future__ import annotations

import numpy as np

from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord
from step_factors import METHODS
from validation import Context

FIGURE = "Ascher et al. 2022, Fig. 3"
DRAWN = ("BE", "BDF2", "TR-BDF2", "SDIRK2")
AMPLIFYING = ("BDF2", "BDF3", "BDF4", "BDF5", "BDF6", "RK4", "explicit Euler", "explicit midpoint")
SHOWN = (0.1, 1.0, 10.0)


def damping(factor: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """d / ω = -ln |det T| / θ."""
    return np.asarray(-2 * np.log(factor) / angles)


def accuracy(context: Context, page: Page) -> tuple[list[PaperRecord], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Every method against its stability function at up to 60 values of hω, those below its limit where it has one."""
    angles = np.geomspace(0.05, 60, 60)
    curves, records, rows = {}, [], []
    for name, method in METHODS.items():
        at = angles[angles < method.limit] if method.limit > 0 else angles[angles < 10]
        factors = method.measured(context, at)
        curves[name] = (at, damping(factors, at))
        basis = "closed form of a step from general states" if method.step is not None else "determinant and trace of a step's matrix"
        worst = method.error(context, at)
        records += [Claim(FIGURE, NOT_PUBLISHED, basis).at_most(f"damping.{name}.error", worst, 1e-10),
                    Claim(FIGURE, NOT_PUBLISHED, "greatest root of the closed form").at_most(
                        f"damping.{name}.factor_error", float(np.abs(factors - [method.closed(float(t)) for t in at]).max()), 1e-10)]
        few = np.array([t for t in SHOWN if t <= at[-1]])
        shown = [f"{round(float(d), 5) + 0.0:.5f}" for d in damping(method.measured(context, few), few)] + ["–"] * (len(SHOWN) - len(few))
        rows.append([name, *shown, len(at), worst])
    page.section("Ascher et al. 2022: damping curves (Fig. 3)")
    page.text("""d/ω = −ln |det T| / hω, T the matrix of a step of q'' = −ω² q under the table of schemes; of methods with a history by the greatest root of their recurrence, whose
        coefficients are steps from each of the states that they remember. Below zero the oscillation grows. Exponential and additive methods by whether they take the mode apart or
        leave it to their row. Error: of a step from general states, position and velocity, against the closed form, largest over so many values of hω up to 60, up to the limit of the method, or up to 10 of the
        two that no step keeps stable; of variational methods and Verlet, of the determinant and the trace of T. Not run beyond (–).""")
    page.table(["method", *(f"at hω = {t:g}" for t in SHOWN), "values", "error"], rows)
    return records, curves


def run_damping_curves(context: Context, page: Page) -> list[PaperRecord]:
    """Figure 3."""
    from study_plots import plot_lines

    records, curves = accuracy(context, page)
    angles = curves["BE"][0]
    d = {name: curves[name][1] for name in DRAWN}
    near, far = np.abs(np.log(angles)) < 0.5, angles > 50
    words = "near hω = 1 BDF2 damps significantly more than the DIRKs, far beyond less; TR-BDF2 slightly less than SDIRK there"
    claim = Claim(FIGURE, words, "the paper's text, Section 3.2")
    records += [claim.at_least("damping.BDF2_over_DIRKs_near_1", float((d["BDF2"] / np.maximum(d["TR-BDF2"], d["SDIRK2"]))[near].min()), 2),
                claim.at_most("damping.BDF2_over_DIRKs_far", float((d["BDF2"] / np.minimum(d["TR-BDF2"], d["SDIRK2"]))[far].max()), 1),
                claim.at_most("damping.TR-BDF2_over_SDIRK2_near_1", float((d["TR-BDF2"] / d["SDIRK2"])[near].max()), 1)]
    twice = d["BE"][near] / d["BDF2"][near]
    records.append(Claim("Ascher et al. 2022, Section 3.2", "BE damps roughly twice as much as BDF2", "the paper's text", "it holds near hω = 5 only; near 1 it is five times")
                   .reported("damping.BE_over_BDF2_near_1", float(np.median(twice))))
    plot_lines(context.figures / "papers_damping.png", {n: (angles, np.maximum(d[n], 1e-8)) for n in DRAWN}, "hω", "d / ω")
    page.figure("papers_damping.png", "Damping over hω")
    plot_lines(context.figures / "papers_amplification.png", {n: (curves[n][0][curves[n][0] < 10], curves[n][1][curves[n][0] < 10]) for n in AMPLIFYING}, "hω", "d / ω")
    page.figure("papers_amplification.png", "Damping, where positive, and growth, where negative, of methods for reference only, BDF2 and RK4 beside them")
    return records
