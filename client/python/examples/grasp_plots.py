"""Plots of a recorded grasp: forces on the held body and number of contacts over time."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from grasp_recording import Recording  # noqa: E402
from grasp_task import GraspTask  # noqa: E402

_STYLE = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e6e6",
    "axes.axisbelow": True, "legend.frameon": False, "figure.facecolor": "white", "lines.linewidth": 1.4,
}
_SERIES = ("#3b75af", "#d1605e", "#6a9f58", "#a87c9f", "#e49444", "#967662")


def _mark_phases(axes: plt.Axes, task: GraspTask, labels: bool) -> None:
    ends = [0.0, task.squeeze_end_s, task.lift_end_s, task.duration_s]
    for index, name in enumerate(("squeeze", "lift", "hold")):
        if index % 2:
            axes.axvspan(ends[index], ends[index + 1], color="#f4f4f0", zorder=0)
        if labels:
            axes.text(0.5 * (ends[index] + ends[index + 1]), 1.02, name, ha="center", va="bottom", color="#666666",
                      transform=axes.get_xaxis_transform())
    axes.set_xlim(0, task.duration_s)


def plot_forces(path: Path, recording: Recording, task: GraspTask) -> None:
    """Components of the contact force on the held body, by other body and in total; its weight as reference."""
    others = recording.touching(task.held)
    with plt.rc_context(_STYLE):
        figure, rows = plt.subplots(3, 1, figsize=(8.5, 8.2), sharex=True, constrained_layout=True)
        for component, (axes, name) in enumerate(zip(rows, ("x", "y", "z, vertical"))):
            _mark_phases(axes, task, labels=component == 0)
            for other, color in zip(others, _SERIES):
                axes.plot(recording.time_s, recording.force_on(task.held, other)[:, component], color=color, label=other)
            axes.plot(recording.time_s, recording.force_on(task.held)[:, component], color="#222222", lw=1.8, label="total")
            axes.set_ylabel(f"force {name} (N)")
        rows[2].axhline(task.weight_n, color="#222222", lw=1, ls=(0, (4, 3)), label=f"weight, {task.weight_n:.2f} N")
        rows[2].set_xlabel("time (s)")
        handles, names = rows[2].get_legend_handles_labels()
        figure.legend(handles, names, loc="lower center", ncol=len(names))
        figure.get_layout_engine().set(rect=(0, 0.04, 1, 0.96))
        figure.suptitle(f"Contact force on {task.held}: normal and friction together, by body", fontsize=11)
        figure.savefig(path, dpi=140)
        plt.close(figure)


def plot_contacts(path: Path, recording: Recording, task: GraspTask) -> None:
    """Active contact stencils over time, by kind, and the smallest distance below."""
    with plt.rc_context(_STYLE):
        figure, (top, bottom) = plt.subplots(2, 1, figsize=(8.5, 6.0), sharex=True, constrained_layout=True,
                                             gridspec_kw={"height_ratios": [2, 1]})
        total = recording.point_triangle + recording.edge_edge
        _mark_phases(top, task, labels=True)
        top.fill_between(recording.time_s, 0, recording.point_triangle, color=_SERIES[0], alpha=0.55, lw=0,
                         label="point-triangle")
        top.fill_between(recording.time_s, recording.point_triangle, total, color=_SERIES[4], alpha=0.55, lw=0,
                         label="edge-edge")
        top.plot(recording.time_s, total, color="#222222", label="total")
        top.set_ylim(bottom=0)
        top.set_ylabel("active contacts")
        top.legend(loc="lower right")
        _mark_phases(bottom, task, labels=False)
        finite = np.where(np.isfinite(recording.min_distance_m), recording.min_distance_m, np.nan)
        bottom.semilogy(recording.time_s, 1e6 * finite, color="#222222")
        bottom.set_ylabel("smallest distance (µm)")
        bottom.set_xlabel("time (s)")
        figure.suptitle("Contacts of the whole scene over time", fontsize=11)
        figure.savefig(path, dpi=140)
        plt.close(figure)
