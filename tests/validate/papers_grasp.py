"""Du et al. 2025: the grasp of the bear as placed and its contacts over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eipc_cli import GRASP_MODELS, REPOSITORY, GraspCase
from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord
from scene_runs import columns
from surface_positions import read_surface_positions, rms_error
from validation import Context, Run

STEPS_S, REFERENCE_STEP_S = (0.02, 0.01, 0.005), 5e-4
SCENE = REPOSITORY / "models" / "scenes" / "bubble_teddy_low.textproto"


def fitted_slope(steps: np.ndarray, errors: np.ndarray) -> float:
    """Least-squares slope of log(error) over log(h - h_ref), because the reference has an error of its own."""
    return float(np.polyfit(np.log(steps - REFERENCE_STEP_S), np.log(errors), 1)[0])


def run_grasp_order(context: Context, page: Page) -> list[PaperRecord]:
    """Figures 6, 7 and 8: the scene as placed, without damping, at the paper's steps."""
    from grasp_client import held_body  # needs the Python client's messages
    from study_plots import plot_lines

    runs = {m: [Run(GraspCase(m, False, dt), trajectory=True) for dt in (REFERENCE_STEP_S, *STEPS_S)] for m in GRASP_MODELS}
    context.prepare(sorted((r for of in runs.values() for r in of), key=lambda r: r.case.dt_s))
    records, rows, error_curves, cost_curves = [], [], {}, {}
    for model, of in runs.items():
        fine, *coarse = (read_surface_positions(context.run(r).trajectory) for r in of)
        _, vertices = held_body(context, GraspCase(model, False, STEPS_S[0]))
        errors = np.array([rms_error(one, fine, vertices) for one in coarse])
        iterations = [context.run(r).report["linear_solves"] if "linear_solves" in context.run(r).report else
                      context.run(r).report["newton_iterations"]["total"] for r in of[1:]]
        slope = fitted_slope(np.array(STEPS_S), errors)
        why = "" if 0.8 <= slope <= 1.2 else ("not explained in full: undamped, as placed, the bear drops and rings, and the fine run follows another path than these steps do; "
                                              "from equilibrium and damped the slope is 0.95 to 1.0 (./dev validate convergence)")
        records.append(Claim("Du et al. 2025, Fig. 6", "a linear rate at h = 0.02, 0.01, 0.005 s", "order one of backward Euler, +- 0.2", why)
                       .within(f"grasp.{model}.slope", slope, 0.8, 1.2))
        records.append(Claim("Du et al. 2025, Fig. 6", NOT_PUBLISHED, "halving the step lessens the error").equal(
            f"grasp.{model}.falls", bool(errors[0] > errors[1] > errors[2]), True))
        error_curves[model], cost_curves[model] = (np.array(STEPS_S), errors), (np.array(iterations), errors)
        rows.append([model, *errors.tolist(), slope, *iterations])
    cheaper = [cost_curves["low"][0][i] / cost_curves["full"][0][i] for i in range(3)]
    records.append(Claim("Du et al. 2025, Figs. 7, 8", "the low-resolution cage is 2.0 times faster than full space", "time is the machine's; iterations are counted")
                   .reported("grasp.low_over_full_iterations", float(np.mean(cheaper))))
    plot_lines(context.figures / "papers_grasp_order.png", error_curves, "step h (s)", "error (m)", log=True)
    plot_lines(context.figures / "papers_grasp_cost.png", cost_curves, "Newton iterations", "error (m)", log=True)
    page.section("Du et al. 2025: order and cost of the grasp (Figs. 6 to 8)")
    page.text(f"As placed and undamped; error against h = {REFERENCE_STEP_S:g} s. Cost is Newton iterations, which no load of the machine changes.")
    page.table(["model", *(f"error at {h:g} s (m)" for h in STEPS_S), "slope", *(f"iterations at {h:g} s" for h in STEPS_S)], rows)
    page.figure("papers_grasp_order.png", "Error over the step")
    page.figure("papers_grasp_cost.png", "Error over cost")
    return records


def _steps(context: Context, scene: Path, dt: float, settings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Report and columns of a run of the whole grasp."""
    def make() -> dict[str, Any]:
        path = context.scratch / f"{scene.stem}-{abs(hash((dt, settings)))}.steps"
        report = context.cli.run(scene, dt, settings=settings, steps=path)
        return {"report": report, "steps": columns(path)}

    return dict(context.kept.get([scene], ["papers steps", dt, *settings], make))


def run_contacts(context: Context, page: Page) -> list[PaperRecord]:
    """Figures 4 and 5 at the paper's step: contacts over time, the kink as the lift begins, the bounce as it ends."""
    from study_plots import plot_lines

    dt, curves, records = 0.005, {}, []
    results = context.each([lambda m=m: _steps(context, SCENE.with_name(f"bubble_teddy_{m}.textproto"), dt) for m in GRASP_MODELS],
                           [f"contacts {m}" for m in GRASP_MODELS])
    for model, result in zip(GRASP_MODELS, results):
        steps = result["steps"]
        time, contacts = np.array(steps["time_s"]), np.array(steps["contacts"])
        curves[model] = (time, contacts)
        held = (time > 3.5)
        squeezing = contacts[(time > 1.2) & (time < 1.5)].mean()
        records += [
            Claim("Du et al. 2025, Fig. 5", NOT_PUBLISHED, "contacts grow while the pads close").at_least(
                f"contacts.{model}.squeezed_over_start", float(squeezing / max(1.0, contacts[time < 0.3].mean())), 1.0),
            Claim("Du et al. 2025, Fig. 5", NOT_PUBLISHED, "the hold is steady: counts vary by less than a tenth").at_most(
                f"contacts.{model}.spread_in_hold", float(contacts[held].std() / contacts[held].mean()), 0.1),
        ]
        # Rate of the potential energy of the weights, of which the bear's is all: its acceleration jumps at 1.5 s and 3 s.
        rise = np.gradient(np.array(steps["gravity_j"]), time)
        jump = np.abs(np.gradient(rise, time))
        noise = float(np.median(jump[(time > 3.7)])) + 1e-12
        for what, at in (("kink", 1.5), ("bounce", 3.0)):
            near = (time > at - 0.01) & (time < at + 0.15)
            before = (time > at - 0.3) & (time < at - 0.02)
            claim = Claim("Du et al. 2025, Fig. 4", f"a {what} at {at:g} s", "the weight's acceleration jumps: five times its median before")
            records.append(claim.at_least(f"grasp.{model}.{what}", float(jump[near].max() / max(float(np.median(jump[before])), noise)), 5.0))
        report = result["report"]["holding"]
        records.append(Claim("Du et al. 2025, Fig. 4", "friction in z converges to the weight", "balance of forces, 1 %").at_most(
            f"grasp.{model}.force_error", abs(report["mean_vertical_force_n"] / report["weight_n"] - 1), 0.01))
    squeeze = [abs(sum(r["report"]["contact_forces"]["teddy/bubble_left"][kind][1] for kind in ("normal_n", "friction_n"))) for r in results]
    falls = squeeze[0] < squeeze[1] < squeeze[2]
    records.append(Claim("Du et al. 2025, Fig. 4", "in the squeezing direction a finer mesh has the smaller force", "the paper's text: full, medium, low in rising order",
                         "" if falls else f"at the end full, medium and low press with {squeeze[0]:.2f}, {squeeze[1]:.2f} and {squeeze[2]:.2f} N; cages are of our own making").equal(
        "grasp.squeeze_rises_with_coarseness", falls, True))
    plot_lines(context.figures / "papers_contacts.png", curves, "time (s)", "contacts")
    page.section("Du et al. 2025: contacts over time (Figs. 4, 5)")
    page.text(f"h = {dt} s; the number of active contacts, for the three resolutions of the bear's cage.")
    page.table(["model", "force of the left pad along y at the end (N)"], [[m, f] for m, f in zip(GRASP_MODELS, squeeze)])
    page.figure("papers_contacts.png", "Contacts over time")
    return records
