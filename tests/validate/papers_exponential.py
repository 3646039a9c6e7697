"""Ascher et al. 2022: exponential and additive methods, which serve small systems here: factors, cost, spectrum, a sagging beam."""

from __future__ import annotations

import cmath
import math
from typing import Sequence

import numpy as np

from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord, scheme_runs
from step_factors import METHODS, Method
from validation import Context

ABSENT = "scenes do not have exponential and additive methods: they run on the beam's free nodes as a small system, with the product's forces"
BEAM_SPECTRUM = ("the paper's body is not published; the lowest modes of a beam eight times as long as wide are bending modes, whose eigenvalues grow with the "
                 "fourth power of their number and stand apart")
CORRECTED = "of the sag ten modes are nearly all, and those the corrected form turns without damping, where the DIRKs damp a little"
AS_PRINTED = "as printed the method is of first order, and the modes that it should take exactly grow by (h w)^2 / 12 a step"
GROWING_SOLVES = ("a stiffer beam turns further in a step, and BEERE's Newton iterations start further from their end; the vectors of ERE grow by {krylov:.2g} over "
                  "the same stiffnesses, and SIERE, whose backward Euler is linearized, solves once a step")
STEP, MODES, SOLVE_STEPS = 0.02, 10, 20
BEAM_STEPS = {0.01: 200, 0.02: 100}  # 2 s at either step; the paper's is not published


def run_exponential(context: Context, page: Page) -> list[PaperRecord]:
    """Equations 16 to 26; of two of them the printed forms beside the corrected ones."""
    theta = 0.1
    grows = "the printed form grows on the very modes that it should take exactly; 3 E(k) + E(-k) instead of 2 k phi_1(k J) G mends it"
    printed = {"SBDF2ERE, as printed": Method("SBDF2ERE_AS_PRINTED", _printed_bdf2, history=1, modal="taken"),
               "STR-SBDF2ERE, as printed": Method("STR_SBDF2ERE_AS_PRINTED", _printed_tr_bdf2, modal="taken")}
    records = []
    for name, method in {**METHODS, **printed}.items():
        if not method.modal or (method.modal == "left" and name != "SIERE, left"):
            continue
        source = "Ascher et al. 2022, eqs. 22, 26" if "SBDF2" in name else "Ascher et al. 2022, eqs. 16 to 24"
        says = "the other modes are those of SI" if method.modal == "left" else "exact on the first s modes"
        claim = Claim(source, says, "roots of the recurrence at h w = 0.1", grows if name in printed else "")
        records.append(claim.near(f"modal.{name}.factor", float(method.measured(context, np.array([theta]))[0]), method.closed(theta), 1e-10))
    page.section("Ascher et al. 2022: exponential and additive methods (eqs. 16 to 26)")
    page.text("""Factor of an oscillation in a step, as decorations of rows of the table of schemes (tests/support/modal_schemes.h). In scenes the product does not have them. All methods at
        60 values of hω: [damping curves](papers_damping.md).""")
    page.table(["method", "factor", "expected"], [[r.name, r.value, r.target] for r in records])
    return records


def _printed_bdf2(z: complex) -> Sequence[complex]:
    """Equation 22 as printed on a mode that it should take exactly: ζ² - 2/3 (1 + e^z) ζ + 1/3 = 0."""
    return 2 / 3 * (1 + cmath.exp(z)), -1 / 3


def _printed_tr_bdf2(z: complex) -> Sequence[complex]:
    """Equation 26 as printed there: half a step is exact, and BDF2 from it has 2/3 (e^(z/2) - 1) for the exponential."""
    half = cmath.exp(z / 2)
    return (2 / 3 * half * (1 + half) - 1 / 3,)


def lanczos_size(values: np.ndarray, h: float, tolerance: float = 1e-6) -> int:
    """Vectors that the Krylov space of M^-1 K needs for sinc(h sqrt(A)) b, b with equal shares of all modes, in the modes' own basis."""
    exact = np.sinc(h * np.sqrt(values) / math.pi)
    b = np.ones(len(values)) / math.sqrt(len(values))
    basis, alphas, betas = [b], [], []
    for m in range(1, 600):
        w = values * basis[-1]
        alphas.append(float(w @ basis[-1]))
        for v in basis:  # orthogonal to all, twice is enough
            w = w - (w @ v) * v
        for v in basis:
            w = w - (w @ v) * v
        if m % 4 == 0:
            t = np.diag(alphas) + np.diag(betas, 1) + np.diag(betas, -1)
            lam, vec = np.linalg.eigh(t)
            small = vec @ (np.sinc(h * np.sqrt(np.maximum(lam, 0)) / math.pi) * vec[0])
            if float(np.linalg.norm(np.array(basis).T @ small - exact * b)) < tolerance:
                return m
        betas.append(float(np.linalg.norm(w)))
        basis.append(w / betas[-1])
    return 600


def solves_per_step(context: Context, scheme: str, youngs_pa: np.ndarray) -> np.ndarray:
    """The weight grows with the stiffness, so that every beam sags alike."""
    problems = [{"kind": "beam", "youngs_modulus_pa": e, "gravity_m_s2": 9.81 * e / youngs_pa[0]} for e in youngs_pa.tolist()]
    runs = scheme_runs(context, [{"problem": problem, "scheme": scheme, "h": STEP, "steps": SOLVE_STEPS, "modes": MODES} for problem in problems])
    return np.array([run["solves"] / SOLVE_STEPS for run in runs])


def run_spectrum(context: Context, page: Page) -> list[PaperRecord]:
    """Figures 4 and 5."""
    from study_plots import plot_lines

    run, = scheme_runs(context, [{"problem": {"kind": "spectrum"}, "scheme": ""}])
    values = np.array(run["values"])
    first = values[:1000]
    ratio = float((first[1:] / first[:-1])[10:].max())
    records = [Claim("Ascher et al. 2022, Fig. 5", NOT_PUBLISHED, "residual of every eigenpair").at_most("spectrum.residual", run["residual"], 1e-8),
               Claim("Ascher et al. 2022, Fig. 5", "no clear separation", "beyond the tenth no eigenvalue is a tenth larger than the one before",
                     "" if ratio <= 1.1 else BEAM_SPECTRUM).at_most("spectrum.largest_ratio", ratio, 1.1)]
    plot_lines(context.figures / "papers_spectrum.png", {"λ": (np.arange(1, 1001), first)}, "number", "eigenvalue (1/s²)")
    stiffer = np.array([1.0, 4.0, 16.0, 64.0])
    sizes = np.array([lanczos_size(values * e, STEP) for e in stiffer])
    slope = float(np.polyfit(np.log(stiffer[1:]), np.log(sizes[1:]), 1)[0])
    records += [Claim("Ascher et al. 2022, Fig. 4", "the cost of ERE becomes prohibitive with stiffness", "Krylov vectors in proportion to the largest h w, so to sqrt E", ABSENT)
                .near("krylov.slope", slope, 0.5, 0.1)]
    solves = {n: solves_per_step(context, n, 1e5 * stiffer) for n in ("SIERE", "BEERE")}
    growth = float((solves["BEERE"] / solves["BEERE"][0]).max())
    flat = Claim("Ascher et al. 2022, Fig. 4", "the subspace form alleviates this difficulty", "linear solves a step grow by a tenth at most as stiffness grows",
                 "" if growth <= 1.1 else GROWING_SOLVES.format(krylov=sizes[-1] / sizes[0]))
    records.append(flat.at_most("krylov.BEERE.solves_growth", growth, 1.1))
    plot_lines(context.figures / "papers_krylov.png", {"ERE": (1e5 * stiffer, sizes)}, "Young's modulus (Pa)", "Krylov vectors", log=True)
    page.section("Ascher et al. 2022: spectrum and cost (Figs. 4, 5)")
    page.text(f"""The beam of Figure 6 at rest. Krylov vectors of M⁻¹K that the exponential of the whole system takes for sinc(h√(M⁻¹K)) to 1e-6, h = {STEP} s, over stiffness; linear
        solves a step, each with a sparse factorization, of the two that take {MODES} modes by it and all others by backward Euler, in {SOLVE_STEPS} steps of its sag, under a weight
        that grows with the stiffness so that all sag alike. SIERE solves once a step whatever happens, since its backward Euler is linearized; BEERE solves until it converges.""")
    page.table(["stiffness over 1e5 Pa", "Krylov vectors, ERE", *(f"solves, {n}" for n in solves)], [[float(e), int(m), *(float(s[k]) for s in solves.values())]
                                                                                            for k, (e, m) in enumerate(zip(stiffer, sizes))])
    page.figure("papers_spectrum.png", "The first 1,000 eigenvalues")
    page.figure("papers_krylov.png", "Krylov vectors over stiffness")
    return records


def run_beam(context: Context, page: Page) -> list[PaperRecord]:
    """Figure 6: 2,560 tetrahedra, E = 1e5 Pa, nu = 0.4, s = 10; sizes, density, step and duration are not published."""
    from study_plots import plot_lines

    names = ("BACKWARD_EULER", "SIERE", "STR_SBDF2ERE", "STR_SBDF2ERE_AS_PRINTED", "TR_BDF2", "SDIRK2")
    cases = [(h, name) for h in BEAM_STEPS for name in names]
    runs = context.each([lambda h=h, n=n: scheme_runs(context, [{"problem": {"kind": "beam"}, "scheme": n, "h": h, "steps": BEAM_STEPS[h], "modes": MODES}])[0]
                         for h, n in cases], [f"beam {n}, h={h:g}" for h, n in cases])
    swing, curves = {}, {}
    for (h, name), run in zip(cases, runs):
        energy = np.array(run["elastic"])
        swing[h, name] = float(np.ptp(energy[len(energy) // 2:]))
        if h == min(BEAM_STEPS):
            curves[name] = (h * np.arange(1, len(energy) + 1), energy)
    words = "liveliness TR-BDF2 and SDIRK > STR-SBDF2ERE > SIERE > BE"
    claim = Claim("Ascher et al. 2022, Fig. 6", words, "swing of the elastic energy over the second half, in that order")
    records = [Claim("Ascher et al. 2022, Fig. 6", "5 (32 x 4 x 4) tetrahedra", "that is 2560, not the 1920 printed", "a slip of the paper").equal("beam.tets", runs[0]["tets"], 2560)]
    for h in BEAM_STEPS:
        for livelier, other in (("TR_BDF2", "STR_SBDF2ERE"), ("SDIRK2", "STR_SBDF2ERE"), ("TR_BDF2", "STR_SBDF2ERE_AS_PRINTED"), ("STR_SBDF2ERE", "SIERE"),
                                ("SIERE", "BACKWARD_EULER")):
            ratio, printed = swing[h, livelier] / swing[h, other], other.endswith("AS_PRINTED")
            of = Claim(claim.source, words, claim.basis + (" (the printed form, added later)" if printed else ""), "" if ratio >= 1 else AS_PRINTED if printed else CORRECTED)
            records.append(of.at_least(f"beam.h={h:g}.{livelier}_over_{other}", ratio, 1.0))
        alike = Claim("Ascher et al. 2022, Fig. 6", "TR-BDF2 and SDIRK are alike", "within a tenth")
        records.append(alike.near(f"beam.h={h:g}.TR_BDF2_over_SDIRK2", swing[h, "TR_BDF2"] / swing[h, "SDIRK2"], 1.0, 0.1))
    plot_lines(context.figures / "papers_beam.png", curves, "time (s)", "elastic energy (J)")
    page.section("Ascher et al. 2022: a beam held at its ends (Fig. 6)")
    page.text(f"1.6 × 0.2 × 0.2 m, ρ = 1000 kg/m³, 2 s from rest under gravity; the picture at h = {min(BEAM_STEPS)} s. {ABSENT[0].upper()}{ABSENT[1:]}.")
    page.table(["swing of the elastic energy (J)", *(f"h = {h:g} s" for h in BEAM_STEPS)], [[name, *(swing[h, name] for h in BEAM_STEPS)] for name in names])
    page.figure("papers_beam.png", "Elastic energy of the beam")
    return records
