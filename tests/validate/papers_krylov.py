"""Hauth 2003, 4.1: preconditioners of conjugate gradients on the matrices of Newton's iterations, relaxation among them."""

from __future__ import annotations

from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord, scheme_runs
from validation import Context

OMEGAS = (1.0, 1.2, 1.4, 1.6, 1.8)
TOLERANCE, STEP = 1e-6, 0.01
SOURCE = "Hauth 2003, Section 4.1"
HEADS = ("diagonal", "3×3 blocks", "incomplete Cholesky", *(f"SSOR, ω = {omega:g}" for omega in OMEGAS))
# Size (m), cells, Young's modulus (Pa), whether one end is held.
BODIES = {
    "block 8³, 1e5 Pa": ((0.1, 0.1, 0.1), (8, 8, 8), 1e5, False),
    "block 8³, 1e7 Pa": ((0.1, 0.1, 0.1), (8, 8, 8), 1e7, False),
    "block 14³, 1e7 Pa": ((0.1, 0.1, 0.1), (14, 14, 14), 1e7, False),
    "finger 5×5×40, 1e6 Pa": ((0.02, 0.02, 0.12), (5, 5, 40), 1e6, True),
    "sheet 40×40×1, 1e6 Pa": ((0.1, 0.1, 0.0025), (40, 40, 1), 1e6, False),
}


def run_preconditioners(context: Context, page: Page) -> list[PaperRecord]:
    """Iterations and time by preconditioner: what scenes would gain by relaxation."""
    results = scheme_runs(context, [
        {"problem": {"kind": "krylov", "size": size, "cells": cells, "youngs_modulus_pa": youngs, "held": held, "tolerance": TOLERANCE, "omegas": OMEGAS},
         "scheme": "", "h": STEP} for size, cells, youngs, held in BODIES.values()])
    records, rows, times = [], [], []
    for name, result in zip(BODIES, results):
        solved = [result["diagonal"], result["block"], result["incomplete_cholesky"], *result["ssor"]]
        rows.append([name, result["unknowns"], *(one["iterations"] for one in solved)])
        times.append([name, result["incomplete_cholesky"]["prepare_ms"], *(one["ms"] for one in solved)])
        best = min(one["iterations"] for one in result["ssor"])
        halved = Claim(SOURCE, NOT_PUBLISHED, "of a chain of 50 springs omega = 1 leaves 0.36 of the iterations and the best one 0.13 (condition numbers in ssor_test.cc): half at most")
        records.append(halved.at_most(f"ssor.{name}.over_block", best / result["block"]["iterations"], 0.5))
        unneeded = Claim(SOURCE, NOT_PUBLISHED, "scenes need it only where it saves a tenth of the iterations of incomplete Cholesky, whose sweep is over the same entries")
        records.append(unneeded.at_least(f"ssor.{name}.over_incomplete_cholesky", best / result["incomplete_cholesky"]["iterations"], 0.9))
    page.section("Hauth 2003: preconditioners (4.1)")
    page.text(f"""Conjugate gradients on the matrix of a Newton iteration at rest, h = {STEP} s, from a random right-hand side to an error of {TOLERANCE} in the energy norm.
        Iterations, and processor time with the preconditioner's preparation (the least of three runs, one thread). Relaxation is no preconditioner of scenes: tests/support/ssor.h
        is written for its iterations, not for its time.""")
    page.table(["iterations", "unknowns", *HEADS], rows)
    page.table(["time (ms)", "of which preparing IC(0)", *HEADS], times)
    return records
