"""Which integrator for a grasp: forces over time against a fine run, cost, and what an integrator keeps swinging."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from eipc_cli import SCENES
from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord
from scene_runs import columns
from validation import Context

STEP, FINE_STEP = 0.01, 1e-3  # s
BETA = 0.01  # s: the bear sways at some 40 rad/s between the pads, so a fifth of its critical damping
BODIES = ("teddy", "bubble_left", "bubble_right")
IMPLICIT = ("BACKWARD_EULER", "BDF2", "TR_BDF2", "SDIRK2", "TRAPEZOIDAL", "IMPLICIT_MIDPOINT", "VARIATIONAL")
DAMPING = IMPLICIT[:4]  # those that take energy from what steps do not resolve
MIDDLE = ("IMPLICIT_MIDPOINT", "VARIATIONAL")  # whose forces are those of the middle of a step
FRICTION = ("LAGGED", "IMPLICIT")
# Fine runs by two methods: how far apart they are says what they are worth.
FINE, OTHER_FINE = "SDIRK2", "TR_BDF2"
SOURCE = "scheme of the grasp"
SECOND_ORDER = "of second order, so nearer to the fine run than backward Euler at the same step"
SOUND, AS_PLACED = SCENES / "bubble_teddy_low_sound.textproto", SCENES / "bubble_teddy_low.textproto"
UNDAMPED_S = 1.5  # until the pads have closed
HOLD_S = 3.5  # when the hold is measured from


@dataclass(frozen=True)
class Setting:
    """One run of the damped grasp."""

    integrator: str
    friction: str
    dt_s: float = STEP

    @property
    def name(self) -> str:
        return f"{self.integrator} {self.friction.lower()} h={self.dt_s:g}"

    @property
    def words(self) -> tuple[str, ...]:
        return ("start_in_equilibrium=true", f"solver.integrator={self.integrator}", f"contact.friction_mode={self.friction}",
                *(f"bodies[{body}].material.rayleigh_beta_s={BETA}" for body in BODIES))


def pad_forces(context: Context, setting: Setting) -> dict[str, list[Any]]:
    """Forces of both pads on the bear after every step, N: time_s [T], force [T,6]. Through a server: `eipc run` keeps those of the end only."""
    from grasp_client import scene_series  # needs the Python client's messages

    def change(scene: Any) -> None:
        scene.start_in_equilibrium = True
        scene.solver.integrator = scene.solver.Integrator.Value(setting.integrator)
        scene.contact.friction_mode = scene.contact.FrictionMode.Value(setting.friction)
        for body in scene.bodies:
            if body.name in BODIES:
                body.material.rayleigh_beta_s = BETA

    def make() -> dict[str, list[Any]]:
        series = scene_series(context, SOUND, setting.dt_s, change)
        pads = [series.recording.force_on(series.task.held, pad) for pad in BODIES[1:]]
        return {"time_s": series.recording.time_s.tolist(), "force": np.hstack(pads).tolist(), "weight_n": series.task.weight_n}

    context.say(f"forces over time, {setting.name}")
    return dict(context.kept.get([SOUND, context.server], ["pad forces", setting.dt_s, *setting.words], make))


def timed(context: Context, scene: Path, dt: float, settings: Sequence[str], duration: float | None = None) -> dict[str, Any]:
    """Report, columns and processor seconds of `eipc run`; one at a time, because seconds are those of all children."""
    def make() -> dict[str, Any]:
        steps = context.scratch / "timed.steps"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = context.cli.run(scene, dt, duration, settings=settings, steps=steps)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {"report": report, "steps": columns(steps), "processor_s": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime}

    context.say(f"{scene.stem} {' '.join(settings[:3])}")
    return dict(context.kept.get([scene], ["timed", dt, duration, *settings], make))


def differences(run: dict[str, list[Any]], fine: dict[str, list[Any]], behind_s: float = 0.0) -> np.ndarray:
    """(F - F_fine) over the weight, [T,6]. behind_s: how long before the end of a step its forces act."""
    at = np.rint((np.array(run["time_s"])[1:] - behind_s) / FINE_STEP).astype(int)
    return (np.array(run["force"])[1:] - np.array(fine["force"])[at]) / run["weight_n"]


def size(away: np.ndarray) -> float:
    """Root of the mean over steps of the squared length."""
    return float(np.sqrt((away**2).sum(axis=1).mean()))


def correlation(away: np.ndarray) -> float:
    """Of successive steps: near -1 where it alternates from step to step, near 1 where it is slow."""
    return float((away[1:] * away[:-1]).sum() / (away**2).sum())


def reason(setting: Setting, away: np.ndarray, steps: dict[str, list[Any]]) -> str:
    """Why it is further away than theory has it, as far as the run tells."""
    if setting.integrator in DAMPING:
        return "drives that start and stop at once are not resolved at this step; at half the step it is nearer (force_error_at_half_step)"
    words = f"it damps nothing, and what contact and drives set swinging stays: differences of successive steps correlate by {correlation(away):+.2f}"
    late = [outcome for time, outcome in zip(steps["time_s"], steps["outcome"]) if time > HOLD_S and outcome != "converged"]
    return words + (f"; steps of the hold that did not converge: {len(late)}" if late else "")


def judged(setting: Setting, away: np.ndarray, of_euler: float, run: dict[str, Any]) -> list[PaperRecord]:
    """What theory says of one run of the damped grasp."""
    name, report, holding = f"schemes.{setting.integrator}.{setting.friction.lower()}", run["report"], run["report"]["holding"]
    balance, error = abs(holding["mean_vertical_force_n"] / holding["weight_n"] - 1), size(away)
    why = reason(setting, away, run["steps"])
    records = [Claim(SOURCE, NOT_PUBLISHED, "m dv = (F - W) dt summed over the hold: 1 % for what still sways", why if balance > 0.01 else "").at_most(
                   f"{name}.force_over_hold", balance, 0.01),
               Claim(SOURCE, NOT_PUBLISHED, "as of every grasp (./dev validate grasp)").at_least(
                   f"{name}.converged", 1 - report["steps_not_converged"] / report["steps"], 0.99)]
    if setting.integrator != "BACKWARD_EULER" and setting.friction == "IMPLICIT":
        claim = Claim(SOURCE, NOT_PUBLISHED, SECOND_ORDER, why if error > of_euler else "")
        records.append(claim.at_most(f"{name}.force_error", error, of_euler))
    return records


def at_half_step(context: Context, fine: dict[str, list[Any]]) -> tuple[dict[str, float], list[PaperRecord]]:
    """Force errors with implicit friction at half the step of the integrators that damp."""
    errors = {name: size(differences(pad_forces(context, Setting(name, "IMPLICIT", 0.5 * STEP)), fine)) for name in DAMPING}
    claim = Claim(SOURCE, NOT_PUBLISHED, SECOND_ORDER)
    return errors, [claim.at_most(f"schemes.{name}.implicit.force_error_at_half_step", errors[name], errors["BACKWARD_EULER"]) for name in DAMPING[1:]]


def run_schemes(context: Context, page: Page) -> list[PaperRecord]:
    """The damped grasp under each implicit integrator and both kinds of friction: how far off its forces are, and what it costs."""
    fine, other = (pad_forces(context, Setting(name, "IMPLICIT", FINE_STEP)) for name in (FINE, OTHER_FINE))
    halved, records = at_half_step(context, fine)
    rows, errors = [], {}
    for friction in FRICTION:
        for name in IMPLICIT:
            setting = Setting(name, friction)
            away = differences(pad_forces(context, setting), fine, 0.5 * STEP if name in MIDDLE else 0.0)
            errors[setting] = size(away)
            run = timed(context, SOUND, STEP, setting.words)
            report = run["report"]
            records += judged(setting, away, errors[Setting("BACKWARD_EULER", friction)], run)
            rows.append([name, friction, errors[setting], halved.get(name) if friction == "IMPLICIT" else None, correlation(away), report["newton_iterations"]["mean"],
                         report["sim_time_s"] / run["processor_s"], report["steps_not_converged"], report["substeps"]["taken"], sum(report["structure_breaks"].values())])
    own = size(differences(other, fine))
    records.append(Claim(SOURCE, NOT_PUBLISHED, "the fine runs of two methods agree to a fifth of the least error that they measure").at_most(
        "schemes.fine_runs_apart", own, 0.2 * min(errors.values())))
    page.section("Which integrator for a grasp")
    page.text(f"""`{SOUND.name}` from equilibrium, stiffness damping of {BETA} s, h = {STEP} s. *Force error*: forces of both pads on the bear over the whole grasp,
        root mean square of the difference from {FINE} with implicit friction at h = {FINE_STEP} s, over the weight ({OTHER_FINE} at that step is {own:.2g} away from it).
        *Correlation* of this difference in successive steps: near -1 it alternates from step to step, near 1 it is slow. *Real time*: simulated over processor
        seconds of the whole program on one thread.""")
    page.table(["integrator", "friction", "force error", "at half the step", "correlation", "Newton per step", "real time", "not converged", "parts", "structure breaks"], rows)
    return records


def run_undamped(context: Context, page: Page) -> list[PaperRecord]:
    """The paper's grasp, which nothing damps: integrators that damp hold it, the others keep and gain what contact sets swinging. The others are not run
    to the end: the trapezoidal rule has 1e5 times its energy by then, and no step converges."""
    records, rows = [], []
    for name in IMPLICIT:
        whole = name in DAMPING
        run = timed(context, AS_PLACED, STEP, (f"solver.integrator={name}",), None if whole else UNDAMPED_S)
        report, steps = run["report"], run["steps"]
        late = np.array(steps["time_s"]) > UNDAMPED_S - 0.1
        closed = late & (np.array(steps["time_s"]) < UNDAMPED_S + 1e-9)
        kinetic, elastic = (float(np.mean(np.array(steps[column])[closed])) for column in ("kinetic_j", "elastic_j"))
        error = None
        if whole:
            holding = report["holding"]
            error = abs(holding["mean_vertical_force_n"] / holding["weight_n"] - 1)
            records.append(Claim(SOURCE, NOT_PUBLISHED, "m dv = (F - W) dt summed over the hold: 1 % for what still sways").at_most(f"undamped.{name}.force_over_hold", error, 0.01))
        rows.append([name, kinetic, elastic, report["newton_iterations"]["mean"], error, report["steps_not_converged"], sum(report["structure_breaks"].values())])
    page.section("Without damping")
    page.text(f"""`{AS_PLACED.name}` as placed, nothing damped, h = {STEP} s, lagged friction. Energies: mean over the last 0.1 s before the pads have closed ({UNDAMPED_S} s). *Force over
        hold*: vertical force over the last half second over the weight, less 1, of those that damp; the others are run to {UNDAMPED_S} s only.""")
    page.table(["integrator", "kinetic (J)", "elastic (J)", "Newton per step", "force over hold", "not converged", "structure breaks"], rows)
    return records
