"""Which integrator for a grasp: forces over time against a fine run, cost, and what an integrator keeps swinging."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Iterable, Sequence

import numpy as np

import solids
from eipc_cli import SCENES, grasp_damping
from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord
from scene_runs import SceneRun, columns, energies, run_scenes
from scene_text import SceneText
from validation import Context

STEP, FINE_STEP = 0.01, 1e-3  # s
BETA = 0.01  # s: the bear sways at some 40 rad/s between the pads, so a fifth of its critical damping
BODIES = ("teddy", "bubble_left", "bubble_right")
UNSPLIT = "TRAPEZOIDAL_UNSPLIT_CONTACT"  # of first order where there is contact
IMPLICIT = ("BACKWARD_EULER", "BDF2", "TR_BDF2", "SDIRK2", "TRAPEZOIDAL", "IMPLICIT_MIDPOINT", "VARIATIONAL", UNSPLIT)
DAMPING = IMPLICIT[:4]  # those that take energy from what steps do not resolve
MIDDLE = ("IMPLICIT_MIDPOINT", "VARIATIONAL")  # whose forces are those of the middle of a step
FRICTION = ("LAGGED", "IMPLICIT")
# Fine runs by two methods: how far apart they are says what they are worth.
FINE, OTHER_FINE = "SDIRK2", "TR_BDF2"
SOURCE = "scheme of the grasp"
SECOND_ORDER = "of second order, so nearer to the fine run than backward Euler at the same step"
OF_SMOOTH = "of second order where drives are smooth over a step, so nearer to the fine run than backward Euler at the same step"
IMPULSE = "m dv = (F - W) dt summed over the hold, F as the integrator weighs it: 1 % for what still sways"
SOUND, AS_PLACED = SCENES / "bubble_teddy_low_sound.textproto", SCENES / "bubble_teddy_low.textproto"
UNDAMPED_S = 1.5  # until the pads have closed
CUBE_M, SET_DOWN_S = 0.1, 3.0
CUBE_J = 1.0 * 9.81 * CUBE_M  # of a fall by its height
BEYOND, IN_REACH = "beyond its reach", "at half of it"
SET_DOWN_M = {BEYOND: 2e-3, IN_REACH: 5e-4}
THROWN = ("a force of contact that is gone within a tenth of the step is taken for a part of it, and throws the cube; start in equilibrium (start_in_equilibrium), beyond the contact's reach, or with "
          "steps that resolve the release")
HOLD_S = 3.5  # when the hold is measured from
ROUNDS = 3  # of all settings, for their times
KEY_S = 0.005  # between keyframes of smooth drives: every step here ends at one


@dataclass(frozen=True)
class Setting:
    """One run of the damped grasp. smooth: with drives that start and stop smoothly."""

    integrator: str
    friction: str
    dt_s: float = STEP
    smooth: bool = False

    @property
    def name(self) -> str:
        return f"{self.integrator} {self.friction.lower()} h={self.dt_s:g}" + " smooth" * self.smooth

    @property
    def words(self) -> tuple[str, ...]:
        return ("start_in_equilibrium=true", f"solver.integrator={self.integrator}", f"contact.friction_mode={self.friction}",
                *grasp_damping(BETA))


def smoothen(trajectory: Any) -> None:
    """Between the keyframes of a trajectory without turns: positions along polynomials of fifth degree, at rest at both ends."""
    times = [key.time_s for key in trajectory.keyframes]
    at = np.array([[getattr(key.pose.position_m, axis) for axis in "xyz"] for key in trajectory.keyframes])
    pose = type(trajectory.keyframes[0].pose)()
    pose.CopyFrom(trajectory.keyframes[0].pose)
    del trajectory.keyframes[:]
    for time in np.arange(round(times[-1] / KEY_S) + 1) * KEY_S:
        part = min(int(np.searchsorted(times, time, side="right")), len(times) - 1)
        x = (time - times[part - 1]) / (times[part] - times[part - 1])
        point = at[part - 1] + x**3 * (10 - 15 * x + 6 * x * x) * (at[part] - at[part - 1])
        key = trajectory.keyframes.add(time_s=time, pose=pose)
        for axis, value in zip("xyz", point):
            setattr(key.pose.position_m, axis, value)


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
            for driven in body.boundary_sets if setting.smooth else ():
                smoothen(driven.trajectory)

    def make() -> dict[str, list[Any]]:
        series = scene_series(context, SOUND, setting.dt_s, change)
        pads = [series.recording.force_on(series.task.held, pad) for pad in BODIES[1:]]
        return {"time_s": series.recording.time_s.tolist(), "force": np.hstack(pads).tolist(), "weight_n": series.task.weight_n}

    context.say(f"forces over time, {setting.name}")
    return dict(context.kept.get([SOUND, context.server], ["pad forces", setting.dt_s, *setting.words, *["smooth"] * setting.smooth], make))


def logged(context: Context, scene: Path, dt: float, settings: Sequence[str], duration: float | None = None) -> dict[str, Any]:
    """Report and columns of `eipc run`."""
    def make() -> dict[str, Any]:
        steps = context.scratch / "logged.steps"
        report = context.cli.run(scene, dt, duration, settings=settings, steps=steps)
        return {"report": report, "steps": columns(steps)}

    context.say(f"{scene.stem} {' '.join(settings[:3])}")
    return dict(context.kept.get([scene], ["logged", dt, duration, *settings], make))


def real_times(context: Context, settings: Sequence[Setting]) -> list[list[float]]:
    """Simulated over processor seconds of the whole program on one thread, ROUNDS of every setting. One run after the other, all settings in a round, so
    that a machine that slows down does so for all: seconds are those of all children of this process."""
    def make() -> list[list[float]]:
        times: list[list[float]] = [[] for _ in settings]
        for _ in range(ROUNDS):
            for setting, of in zip(settings, times):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                report = context.cli.run(SOUND, STEP, settings=setting.words)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                of.append(report["sim_time_s"] / (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))
        return times

    return [list(of) for of in context.kept.get([SOUND], ["real times", ROUNDS, *(setting.name for setting in settings)], make)]


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


def held_force(setting: Setting, run: dict[str, list[Any]]) -> float:
    """Vertical force on the bear over the hold over its weight, as the integrator weighs it in the balance of momentum: of the trapezoidal rule the mean
    of a step's start and end, of the others what is reported of the step (of the two with two stages, which damp, the end)."""
    force, late = np.array(run["force"])[:, [2, 5]].sum(axis=1), np.array(run["time_s"])[1:] > HOLD_S + 1e-9
    of_step = 0.5 * (force[1:] + force[:-1]) if setting.integrator == "TRAPEZOIDAL" else force[1:]
    return float(of_step[late].mean() / run["weight_n"])


def reason(away: np.ndarray, steps: dict[str, list[Any]]) -> str:
    """Why the forces of an integrator that damps nothing are not those of the weight, as far as the run tells."""
    words = f"it damps nothing, and what contact and drives set swinging stays: differences of successive steps correlate by {correlation(away):+.2f}"
    late = [outcome for time, outcome in zip(steps["time_s"], steps["outcome"]) if time > HOLD_S and outcome != "converged"]
    return words + (f"; steps of the hold that did not converge: {len(late)}" if late else "")


def judged(setting: Setting, pads: dict[str, list[Any]], away: np.ndarray, run: dict[str, Any]) -> list[PaperRecord]:
    """What theory says of one run of the damped grasp."""
    name, report = f"schemes.{setting.integrator}.{setting.friction.lower()}", run["report"]
    balance = abs(held_force(setting, pads) - 1)
    return [Claim(SOURCE, NOT_PUBLISHED, IMPULSE, reason(away, run["steps"]) if balance > 0.01 else "").at_most(f"{name}.force_over_hold", balance, 0.01),
            Claim(SOURCE, NOT_PUBLISHED, "as of every grasp (./dev validate grasp)").at_least(
                f"{name}.converged", 1 - report["steps_not_converged"] / report["steps"], 0.99)]


def behind(integrator: str) -> float:
    """How long before the end of a step its forces act, s."""
    return 0.5 * STEP if integrator in MIDDLE else 0.0


def with_smooth_drives(context: Context) -> tuple[dict[str, float], list[PaperRecord]]:
    """Force errors with implicit friction where the drives start and stop smoothly."""
    fine, other = (pad_forces(context, Setting(name, "IMPLICIT", FINE_STEP, True)) for name in (FINE, OTHER_FINE))
    errors = {name: size(differences(pad_forces(context, Setting(name, "IMPLICIT", STEP, True)), fine, behind(name))) for name in IMPLICIT}
    claim = Claim(SOURCE, NOT_PUBLISHED, OF_SMOOTH)
    records = [claim.at_most(f"schemes.{name}.implicit.force_error_with_smooth_drives", errors[name], errors["BACKWARD_EULER"]) for name in IMPLICIT[1:] if name != UNSPLIT]
    return errors, records + [apart("schemes.fine_runs_apart_with_smooth_drives", differences(other, fine), errors.values())]


def apart(name: str, away: np.ndarray, errors: Iterable[float]) -> PaperRecord:
    return Claim(SOURCE, NOT_PUBLISHED, "the fine runs of two methods agree to a fifth of the least error that they measure").at_most(name, size(away), 0.2 * min(errors))


def at_half_step(context: Context, fine: dict[str, list[Any]]) -> tuple[dict[str, float], list[PaperRecord]]:
    """Force errors with implicit friction at half the step of the integrators that damp."""
    errors = {name: size(differences(pad_forces(context, Setting(name, "IMPLICIT", 0.5 * STEP)), fine)) for name in DAMPING}
    claim = Claim(SOURCE, NOT_PUBLISHED, SECOND_ORDER)
    return errors, [claim.at_most(f"schemes.{name}.implicit.force_error_at_half_step", errors[name], errors["BACKWARD_EULER"]) for name in DAMPING[1:]]


def run_schemes(context: Context, page: Page) -> list[PaperRecord]:
    """The damped grasp under each implicit integrator and both kinds of friction: how far off its forces are, and what it costs."""
    fine, other = (pad_forces(context, Setting(name, "IMPLICIT", FINE_STEP)) for name in (FINE, OTHER_FINE))
    halved, records = at_half_step(context, fine)
    smooth, of_smooth = with_smooth_drives(context)
    records += of_smooth
    rows, errors = [], {}
    settings = [Setting(name, friction) for friction in FRICTION for name in IMPLICIT]
    for setting, times in zip(settings, real_times(context, settings)):
        name, implicit = setting.integrator, setting.friction == "IMPLICIT"
        pads = pad_forces(context, setting)
        away = differences(pads, fine, behind(name))
        errors[setting] = size(away)
        run = logged(context, SOUND, STEP, setting.words)
        report = run["report"]
        records += judged(setting, pads, away, run)
        rows.append([name, setting.friction, errors[setting], halved.get(name) if implicit else None, smooth[name] if implicit else None, correlation(away),
                     report["newton_iterations"]["mean"], median(times), f"{min(times):.1f} to {max(times):.1f}", report["steps_not_converged"],
                     report["substeps"]["taken"], report["substeps"]["refused"], sum(report["structure_breaks"].values())])
    records.append(apart("schemes.fine_runs_apart", differences(other, fine), errors.values()))
    page.section("Which integrator for a grasp")
    page.text(f"""`{SOUND.name}` from equilibrium, stiffness damping of {BETA} s, h = {STEP} s. *Force error*: forces of both pads on the bear over the whole grasp,
        root mean square of the difference from {FINE} with implicit friction at h = {FINE_STEP} s, over the weight ({OTHER_FINE} at that step is
        {size(differences(other, fine)):.2g} away from it). *Correlation* of this difference in successive steps: near -1 it alternates from step to step, near 1 it is
        slow. *Real time*: simulated over processor seconds of the whole program on one thread, the median of {ROUNDS} runs, which took turns with those of all other
        rows, and their range.""")
    page.text("""The order of an integrator is that of motions that are smooth over a step, and the scene's drives start and stop at once. Where a drive's speed rises by V
        between two steps, BDF2 remembers the one before: 4/3 q_n - 1/3 q_(n-1) + 2/3 h V lags by h V / 3 after one step and by h V / 2 for good, 0.4 mm where the
        lift begins, which friction does not take back. Integrators whose amplification of stiff modes is -1 (TRAPEZOIDAL, IMPLICIT_MIDPOINT, VARIATIONAL) alternate
        by V about the new speed, and only what damping there is at such frequencies ends that; the forces of TRAPEZOIDAL, at the ends of steps, show it, those of
        the other two, in the middle, hardly. So errors are judged where the drives go between the same
        poses along polynomials of fifth degree (*with smooth drives*); those of the scene's own drives are for comparison.""")
    page.table(["integrator", "friction", "force error", "at half the step", "with smooth drives", "correlation", "Newton per step", "real time", "range", "not converged", "parts",
                "refused", "structure breaks"], rows)
    return records


def run_undamped(context: Context, page: Page) -> list[PaperRecord]:
    """What keeps energy, and what makes it, where nothing damps."""
    return _run_undamped_grasp(context, page) + _run_set_down(context, page)


def _run_undamped_grasp(context: Context, page: Page) -> list[PaperRecord]:
    """The paper's grasp, which nothing damps: integrators that damp hold it, the others keep and gain what contact sets swinging. The others are not run
    to the end: the trapezoidal rule has 1e5 times its energy by then, and no step converges."""
    records, rows = [], []
    for name in IMPLICIT:
        whole = name in DAMPING
        run = logged(context, AS_PLACED, STEP, (f"solver.integrator={name}",), None if whole else UNDAMPED_S)
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


def _set_down_scene(height: float) -> SceneText:
    text = SceneText("set-down")
    text.static("floor", solids.sheet(0.4, 1), (0, 0, 0))
    text.moving("box", "full_space", solids.tet_grid(CUBE_M, CUBE_M, CUBE_M, (2, 2, 2)), (0.003, 0.002, 0.5 * CUBE_M + height), youngs_modulus_pa=1e4, density_kg_m3=1000.0,
                model="STABLE_NEO_HOOKEAN")
    text.contact(0.0, more="area_stiffness_n_m3: 1e8")
    text.line("solver { newton_tolerance_m_s: 1e-5 }")
    return text


def _run_set_down(context: Context, page: Page) -> list[PaperRecord]:
    """A cube of stable neo-Hookean material that is let go over the floor, beyond the reach of its contact or in it, and swings on it."""
    cases = [(start, name) for start in SET_DOWN_M for name in IMPLICIT]
    scenes = {start: _set_down_scene(height) for start, height in SET_DOWN_M.items()}
    runs = [SceneRun(f"set down {start} {name}", scenes[start], STEP, SET_DOWN_S, (f"solver.integrator={name}",)) for start, name in cases]
    starts = [SceneRun(f"set down {start}", scene, 1e-6, 1e-6) for start, scene in scenes.items()]  # a step in which nothing moves
    reports = run_scenes(context, [*starts, *runs])
    begun = {start: float(energies(report)[0]) for start, report in zip(scenes, reports)}
    rows, records = [], []
    for (start, name), report in zip(cases, reports[len(starts):]):
        gain = energies(report) - begun[start]
        if name in DAMPING:
            most = float(gain.max())
            why = "" if most <= 0.01 * CUBE_J else THROWN if start == IN_REACH else "not known"
            claim = Claim(SOURCE, NOT_PUBLISHED, "a method that damps gains nothing, to a hundredth of the energy of a fall by the cube's height", why)
            records.append(claim.at_most(f"set_down.{start.replace(' ', '_')}.{name}.largest_gain", most, 0.01 * CUBE_J, "J"))
        rows.append([start, name, *(float(gain[round(time / STEP) - 1]) for time in (1.0, SET_DOWN_S)), float(gain.max()), report["newton_iterations"]["mean"],
                     report["substeps"]["taken"], report["structure_breaks"]["contact_energy"], report["steps_not_converged"]])
    beyond, within = (1e3 * SET_DOWN_M[start] for start in (BEYOND, IN_REACH))
    page.section("Set down without damping")
    page.text(f"""A cube of {CUBE_M} m and 1 kg, E = 1e4 Pa, stable neo-Hookean, let go {beyond:g} mm above a floor whose contact reaches 1 mm (*{BEYOND}*), or {within:g} mm above it, where contact presses with some 500 N
        (*{IN_REACH}*); without friction, h = {STEP} s, {SET_DOWN_S:g} s. Energy over that of the start. Methods that damp nothing are stable for linear vibrations; contact is none, and a step of theirs that does
        not resolve it makes or takes energy. What one part makes is bounded for two of them (`structure_breaks.contact_energy`), what many make is not: with them give materials damping, or resolve the swing.""")
    page.table(["start", "integrator", "gain after 1 s (J)", f"after {SET_DOWN_S:g} s (J)", "largest (J)", "Newton per step", "parts", "refused for contact's energy", "not converged"], rows)
    return records
