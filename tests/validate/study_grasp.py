"""The paper's grasp: does the force balance, does the guarantee hold, is the teddy still there at the end?"""

from __future__ import annotations

import math

import numpy as np

from eipc_cli import GraspCase, grasp_cases
from grasp_client import GraspSeries, grasp_series
from page import RecordsTable
from validation import Context, Record, Run, at_least, at_most, equal, reported

NAME = "grasp"
DESCRIPTION = "The teddy is squeezed, lifted and held: balance of forces, audit, convergence, height, at three steps and models"

PAGE = RecordsTable(
    "The grasp", """Scenes of Embedded IPC (Du et al. 2025, IV-A): per-pair barrier of 1e4 N/m, no damping, one lag iteration. *Force error*: the
    mean vertical contact force over the last half second of holding, over the weight, less 1. *Friction share*: friction's part of it
    (above 1: the pads' normals point down). *Rise over lift*: the height that the bear gained over the 0.12 m that the fingers rose; soft
    pads yield, as far as their shear carries the weight. From when the ground carries nothing on, the pads' load is the weight, and what
    sticks creeps slower than ε_v: *lost over creep* is how much further the bear falls behind the fingers from then on, over ε_v times
    the time, at most 1. *Spike*: the largest jump of the force between steps while holding, over the weight. *Friction over normal*: of the
    sums of the pads' forces. Every state is audited; the digest is compared with that of the same run through a server.""",
    {"force_error": "force error", "friction_share": "friction share", "converged": "converged", "states_audited": "states audited",
     "intersections": "intersections", "min_distance": "least distance, m", "height_gained_over_lift": "rise over lift",
     "lost_over_creep": "lost over creep",
     "force_spike": "spike", "friction_over_normal": "friction over normal"},
    hidden=frozenset({"inversions", "forbidden_inversions", "exit_status", "lost_over_creep_in_hold", "digest_through_server"}))

# Largest part of the weight by which a pad's force may leave the mean of its two neighbours in time while at rest.
_SPIKE_LIMIT = 0.05


def run(context: Context) -> list[Record]:
    cases = grasp_cases(context.data)
    context.prepare(Run(case, audit=True) for case in cases)
    series = context.each([lambda case=case: grasp_series(context, case) for case in cases],
                          [f"{case.name} through the server" for case in cases])
    records = []
    for case, one in zip(cases, series):
        report = context.run(Run(case, audit=True)).report
        records += _report_records(case, report) + _series_records(case, one, report)
    _plot(context, cases, series)
    return records


def _report_records(case: GraspCase, report: dict) -> list[Record]:
    """What the program's own report says."""
    holding, audit, steps = report["holding"], report["audit"], report["steps"]
    force, weight = holding["mean_vertical_force_n"], holding["weight_n"]
    return [
        at_most(f"{case.name}.force_error", abs(force / weight - 1), 0.01),
        reported(f"{case.name}.friction_share", holding["mean_vertical_friction_n"] / force if force else math.nan),
        at_least(f"{case.name}.converged", 1 - report["steps_not_converged"] / steps, 0.99),
        equal(f"{case.name}.intersections", audit["intersections"], 0),
        at_least(f"{case.name}.states_audited", audit["states_checked"], steps),
        # Linear corotated permits inverted elements; forbidden ones are those of materials that do not.
        reported(f"{case.name}.inversions", audit["inversions"]),
        equal(f"{case.name}.forbidden_inversions", audit["forbidden_inversions"], 0),
        reported(f"{case.name}.min_distance", report["min_distance_m"], "m"),
        equal(f"{case.name}.exit_status", report["exit_status"], 0),
    ]


def _series_records(case: GraspCase, series: GraspSeries, report: dict) -> list[Record]:
    """What the run over time says."""
    task, recording = series.task, series.recording
    held = recording.bodies.index(task.held)
    height, squeezed = recording.position_m[:, held, 2], recording.sample_at(task.squeeze_end_s)
    window = holding_window(series)
    pads = [other for other in recording.touching(task.held) if (task.held, other) in recording.pairs]
    normal = sum((np.linalg.norm(recording.force_on(task.held, pad, "normal_force")[window], axis=1) for pad in pads), 0.0)
    friction = sum((np.linalg.norm(recording.force_on(task.held, pad, "friction_force")[window], axis=1) for pad in pads), 0.0)
    ratio = float(np.mean(friction) / np.mean(normal)) if np.mean(normal) > 0 else math.nan
    return [
        # The soft pads shear under the weight, so the teddy rises by less than the fingers do.
        reported(f"{case.name}.height_gained_over_lift", float(height[-1] - height[squeezed]) / task.lift_m),
        at_most(f"{case.name}.lost_over_creep", lost_over_creep(series, series.lift_off()), 1.0),
        at_most(f"{case.name}.lost_over_creep_in_hold", lost_over_creep(series, int(np.flatnonzero(window)[0])), 1.0),
        at_most(f"{case.name}.force_spike", largest_spike(series), _SPIKE_LIMIT),
        reported(f"{case.name}.friction_over_normal", ratio),
        equal(f"{case.name}.digest_through_server", series.state_digest, report["state_digest"]),
    ]


def lost_over_creep(series: GraspSeries, first: int) -> float:
    """How much further the held body is behind the fingers at the end than at sample `first`, over how far what sticks may creep in
    that time; infinite where that is the end, because something else carries it. The load must not change meanwhile."""
    time, behind = series.recording.time_s, series.behind()
    if first >= len(time) - 1:
        return math.inf
    return float((behind[-1] - behind[first]) / (series.creep_m_s * (time[-1] - time[first])))


def holding_window(series: GraspSeries) -> np.ndarray:
    """Which samples lie in the scene's holding window, [T] bool."""
    times = series.recording.time_s
    return (times > series.task.holding_start_s - 1e-9) & (times < series.task.holding_end_s + 1e-9)


def largest_spike(series: GraspSeries) -> float:
    """Largest |F_k - (F_{k-1} + F_{k+1})/2| of any body on the held one while it is held, over its weight.

    An oscillation that the steps resolve is smooth; a force that jumps for one step is the numerics' doing.
    """
    window, task, recording = holding_window(series), series.task, series.recording
    largest = 0.0
    for other in recording.touching(task.held):
        force = recording.force_on(task.held, other)[window]
        if len(force) >= 3:
            bend = force[1:-1] - 0.5 * (force[:-2] + force[2:])
            largest = max(largest, float(np.linalg.norm(bend, axis=1).max()))
    return largest / task.weight_n


def _plot(context: Context, cases: list[GraspCase], series: list[GraspSeries]) -> None:
    from study_plots import plot_vertical_forces  # matplotlib only where pictures are made

    for real in sorted({case.real for case in cases}):
        chosen = [(case, one) for case, one in zip(cases, series) if case.real == real]
        plot_vertical_forces(context.figures / f"grasp_forces{'_real' if real else ''}.png", chosen)
