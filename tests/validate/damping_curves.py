"""How much an oscillation is damped in a step: the program's cube of one mode against stability functions (Ascher et al. 2022, Fig. 3)."""

from __future__ import annotations

import math

import numpy as np

import solids
from integrator_oracles import IMPLICIT, one_step_factor, solution
from page import Page
from scene_runs import SceneRun, run_scenes
from scene_text import SceneText
from validation import Context, Record, at_most, within

# A cube that can only deform affinely, of linear corotated material: its dilation s is an exact harmonic oscillator,
# omega^2 = 12 (2 mu + 3 lambda) / (rho a^2). A constant pressure from inside sets it swinging about s_eq = p (1 - 2 nu) / E.
SIDE, YOUNGS, POISSON, DENSITY = 0.1, 1e5, 0.3, 1000.0
OMEGA = math.sqrt(12 * YOUNGS / (1 - 2 * POISSON) / (DENSITY * SIDE**2))
REST_DILATION = 1e-6
ANGLES = np.geomspace(0.05, 20, 14)  # h omega
STEPS = 16


def scene() -> SceneText:
    text = SceneText("cube")
    text.gravity = (0, 0, 0)
    pressure = REST_DILATION * YOUNGS / (1 - 2 * POISSON)
    text.moving("cube", "affine", solids.box(SIDE, SIDE, SIDE), youngs_modulus_pa=YOUNGS, density_kg_m3=DENSITY, poissons_ratio=POISSON,
                model="LINEAR_COROTATED", extra="enclosed_volumes { law: SECOND_ORDER compressibility_per_pa: 1e6 "
                f"overpressure_pa: {pressure!r} }}")
    text.line("solver { newton_tolerance_m_s: 1e-12 }")
    return text


def _dilation(times: np.ndarray, positions: np.ndarray) -> list[float]:
    """From the start on, over that of rest."""
    start, _ = solids.box(SIDE, SIDE, SIDE)
    return [0.0, *((np.einsum("tij,ij->t", positions, start) / np.sum(start * start) - 1) / REST_DILATION)]


def measured_factor(excess: np.ndarray, terms: int) -> float:
    """Largest |root| of the recurrence e_{n+terms} = sum_k c_k e_{n+k} that fits best."""
    rows = np.array([excess[n:n + terms] for n in range(len(excess) - terms)])
    coefficients = np.linalg.lstsq(rows, excess[terms:], rcond=None)[0]
    return float(np.abs(np.roots([1, *(-coefficients[::-1])])).max())


def run_damping(context: Context, page: Page) -> list[Record]:
    cases = [(name, angle) for name in IMPLICIT for angle in ANGLES]
    runs = [SceneRun(f"damping {name} h omega={angle:.3g}", scene(), float(angle / OMEGA), float(STEPS * angle / OMEGA),
                     (f"solver.integrator={IMPLICIT[name][0]}",), "dilation", _dilation) for name, angle in cases]
    worst = dict.fromkeys(IMPLICIT, 0.0)
    curves: dict[str, list[float]] = {name: [] for name in IMPLICIT}
    for (name, angle), report in zip(cases, run_scenes(context, runs)):
        found = np.array(report["measured"])
        # y = s' + i omega (s - s_eq) obeys y' = i omega y.
        expected = 1 - solution(name, 1j * angle, STEPS).real
        worst[name] = max(worst[name], float(np.abs(found - expected[: len(found)]).max()))
        curves[name].append(measured_factor(found[:12] - 1, 4 if name == "BDF2" else 2))
    page.section("Damping curves")
    page.text(f"""|R(i h ω)|, the factor by which an oscillation shrinks in a step: a cube with one affine mode (ω = {OMEGA:.0f} rad/s), {STEPS} steps at each of
        {len(ANGLES)} step sizes. "Error" is the largest difference of its dilation from the method's own recurrence, over the amplitude; in the cells, the
        factor fitted to the run and, in brackets, the closed form. The explicit ones, which do not take all of these steps, are on
        the page of [damping curves](papers_damping.md).""")
    chosen = range(0, len(ANGLES), 3)
    page.table(["", "error", *(f"h ω = {ANGLES[k]:.3g}" for k in chosen)],
               [[name, worst[name], *(f"{curves[name][k]:.4f} ({abs(one_step_factor(name, 1j * ANGLES[k])):.4f})" for k in chosen)]
                for name in IMPLICIT])
    from study_plots import plot_damping

    closed = {name: np.abs([one_step_factor(name, 1j * angle) for angle in np.geomspace(ANGLES[0], ANGLES[-1], 200)]) for name in IMPLICIT}
    plot_damping(context.figures / "damping.png", ANGLES, curves, closed)
    page.figure("damping.png", "Damping in a step over h ω: runs (dots), closed forms (lines)")
    records = [at_most(f"damping.{name}.error", worst[name], 1e-4) for name in IMPLICIT]
    middle = int(np.argmin(np.abs(ANGLES - 1)))
    records.append(within("damping.BDF2_over_TR-BDF2_near_1", curves["BDF2"][middle] / curves["TR-BDF2"][middle], 0.0, 0.999))
    return records
