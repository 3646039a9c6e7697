"""Ascher et al. 2022: damping curves of all methods against closed forms."""

from __future__ import annotations

import math

import numpy as np

from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord, scheme_runs
from validation import Context

ONE_STEP = {"BE": "BACKWARD_EULER", "TR-BDF2": "TR_BDF2", "SDIRK2": "SDIRK2", "TR": "TRAPEZOIDAL", "midpoint": "IMPLICIT_MIDPOINT",
            "HP 1/2": "VARIATIONAL"}


def closed_form(name: str, theta: float) -> float:
    """d / omega = -ln |det T| / theta."""
    z = 1j * theta
    if name == "BDF2":
        root = np.sqrt(1 + 2 * z)
        factor = max(((2 + root) / (3 - 2 * z), (2 - root) / (3 - 2 * z)), key=abs)
    elif name == "BE":
        factor = 1 / (1 - z)
    elif name == "TR-BDF2":
        first = (1 + z / 4) / (1 - z / 4)
        factor = (1 + 4 / 3 * (first - 1)) / (1 - z / 3)
    elif name == "SDIRK2":
        factor = (1 + (math.sqrt(2) - 1) * z) / (1 - (1 - 1 / math.sqrt(2)) * z) ** 2
    else:
        factor = 1.0
    return -2 * math.log(abs(factor)) / theta


def measured(context: Context, name: str, angles: np.ndarray) -> np.ndarray:
    """The same from steps of the table of schemes: the determinant of a step's matrix, or of BDF2's larger pair of roots."""
    def ask(theta: float, steps: int, q: float, v: float) -> dict:
        scheme = "BDF2" if name == "BDF2" else ONE_STEP[name]
        return {"problem": {"kind": "oscillator", "stiffness": 1.0}, "scheme": scheme, "h": theta, "steps": steps, "q": q, "v": v}

    if name != "BDF2":
        runs = scheme_runs(context, [ask(float(t), 1, q, 1 - q) for t in angles for q in (1.0, 0.0)])
        dets = [a["q"][1] * b["v"][1] - a["v"][1] * b["q"][1] for a, b in zip(runs[::2], runs[1::2])]
        return -np.log(np.abs(dets)) / angles
    factors = []
    for theta, run in zip(angles, scheme_runs(context, [ask(float(t), 10, 1.0, 0.0) for t in angles])):
        u = np.array(run["q"]) - 1j * np.array(run["v"])  # q' = v, v' = -q: u' = i u
        rows = np.stack([u[:-2], u[1:-1]], axis=1)
        c = np.linalg.lstsq(rows, u[2:], rcond=None)[0]
        factors.append(np.abs(np.roots([1, -c[1], -c[0]])).max())
    return -2 * np.log(np.array(factors)) / angles


def run_damping_curves(context: Context, page: Page) -> list[PaperRecord]:
    """Figure 3."""
    from study_plots import plot_lines

    angles = np.geomspace(0.05, 60, 60)
    names = ("BE", "BDF2", *list(ONE_STEP)[1:])
    curves = {name: measured(context, name, angles) for name in names}
    records, rows = [], []
    for name in names:
        expected = np.array([closed_form(name, float(t)) for t in angles])
        claim = Claim("Ascher et al. 2022, Fig. 3", NOT_PUBLISHED, "stability function of the method, at 60 values of hω")
        tolerance = 1e-10 if name != "BDF2" else 1e-7  # BDF2's roots are fitted to a run
        records.append(claim.at_most(f"damping.{name}.error", float(np.abs(curves[name] - expected).max()), tolerance))
        peak = int(np.argmax(curves[name]))
        rows.append([name, closed_form(name, 1.0), float(curves[name][peak]), float(angles[peak])])
    near = np.abs(np.log(angles)) < 0.5
    far = angles > 50
    words = "near hω = 1 BDF2 damps significantly more than the DIRKs, far beyond less; TR-BDF2 slightly less than SDIRK there"
    claim = Claim("Ascher et al. 2022, Fig. 3", words, "the paper's text, Section 3.2")
    records += [claim.at_least("damping.BDF2_over_DIRKs_near_1", float((curves["BDF2"] / np.maximum(curves["TR-BDF2"], curves["SDIRK2"]))[near].min()), 2),
                claim.at_most("damping.BDF2_over_DIRKs_far", float((curves["BDF2"] / np.minimum(curves["TR-BDF2"], curves["SDIRK2"]))[far].max()), 1),
                claim.at_most("damping.TR-BDF2_over_SDIRK2_near_1", float((curves["TR-BDF2"] / curves["SDIRK2"])[near].max()), 1)]
    twice = curves["BE"][near] / curves["BDF2"][near]
    records.append(Claim("Ascher et al. 2022, Section 3.2", "BE damps roughly twice as much as BDF2", "the paper's text", "it holds near hω = 5 only; near 1 it is five times")
                   .reported("damping.BE_over_BDF2_near_1", float(np.median(twice))))
    plot_lines(context.figures / "papers_damping.png", {n: (angles, np.maximum(curves[n], 1e-8)) for n in ("BE", "BDF2", "TR-BDF2", "SDIRK2")}, "hω",
               "d / ω")
    page.section("Ascher et al. 2022: damping curves (Fig. 3)")
    page.text("d/ω = −ln det T / hω, T the matrix of a step of q'' = −ω² q under the table of schemes, against the stability functions.")
    page.table(["method", "at hω = 1", "largest", "at hω ="], rows)
    page.figure("papers_damping.png", "Damping over hω")
    return records

