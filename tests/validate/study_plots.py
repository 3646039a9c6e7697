"""Figures of the validation studies, for docs/results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Mapping, Sequence, Union

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

if TYPE_CHECKING:
    from eipc_cli import GraspCase
    from grasp_client import GraspSeries

_STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e6e6",
          "axes.axisbelow": True, "legend.frameon": False, "lines.linewidth": 1.2}
_COLORS = ("#3b75af", "#e49444", "#6a9f58", "#d1605e", "#a87c9f", "#967662")


def plot_vertical_forces(path: Path, runs: Sequence[tuple["GraspCase", "GraspSeries"]]) -> None:
    """Total vertical contact force on the held body over time, a panel for each model, a line for each step."""
    models = list(dict.fromkeys(case.model for case, _ in runs))
    with plt.rc_context(_STYLE):
        figure, panels = plt.subplots(len(models), 1, figsize=(8.5, 2.6 * len(models)), sharex=True, constrained_layout=True,
                                      squeeze=False)
        for axes, model in zip(panels[:, 0], models):
            chosen = [(case, series) for case, series in runs if case.model == model]
            for (case, series), color in zip(chosen, _COLORS):
                force = series.recording.force_on(series.task.held)[:, 2]
                axes.plot(series.recording.time_s, force, color=color, label=f"h = {case.dt_s:g} s")
            axes.axhline(chosen[0][1].task.weight_n, color="#222222", lw=1, ls=(0, (4, 3)), label="weight")
            axes.set_ylabel(f"{model}: vertical\ncontact force (N)")
        panels[0, 0].legend(ncol=4, loc="upper right")
        panels[0, 0].set_xlim(0, chosen[0][1].task.duration_s)
        panels[-1, 0].set_xlabel("time (s)")
        _save(figure, path)


def plot_tire(path: Path, series: Mapping[str, Mapping[str, Sequence]]) -> None:
    """Moment of the ground about the axle, lobes of the sidewall that has fewer, slip of the tread, over time, a line for each case."""
    with plt.rc_context(_STYLE):
        figure, panels = plt.subplots(3, 1, figsize=(8.5, 6.4), sharex=True, constrained_layout=True)
        for (name, one), color in zip(series.items(), _COLORS):
            time = np.asarray(one["time_s"])
            panels[0].plot(time, np.abs(one["moment_nm"]) / 1e3, color=color, label=name)
            panels[1].plot(time, [min(sides) for sides in one["lobes"]], color=color)
            panels[2].semilogy(time, np.maximum(one["slip_m_s"], 1e-4), color=color)
        for axes, words in zip(panels, ("moment (kNm)", "lobes", "slip (m/s)")):
            axes.set_ylabel(words)
        panels[0].legend()
        panels[-1].set_xlabel("time (s)")
        _save(figure, path)


def plot_energy(path: Path, times: np.ndarray, energies: Mapping[str, np.ndarray]) -> None:
    """Energy over that at rest, J, over time, a line for each integrator."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(7.0, 3.8), constrained_layout=True)
        for (name, energy), color in zip(energies.items(), _COLORS):
            axes.plot(times, energy, color=color, label=name)
        axes.set_xlabel("time (s)")
        axes.set_ylabel("energy over rest (J)")
        axes.legend()
        _save(figure, path)


def plot_damping(path: Path, angles: np.ndarray, measured: Mapping[str, Sequence[float]], closed: Mapping[str, np.ndarray]) -> None:
    """Factor of a step over h omega: closed forms as lines on a geometric grid of the same range, runs as dots."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(7.0, 4.4), constrained_layout=True)
        for (name, factors), color in zip(measured.items(), _COLORS):
            axes.semilogx(np.geomspace(angles[0], angles[-1], len(closed[name])), closed[name], color=color, label=name)
            axes.semilogx(angles, factors, "o", ms=4, color=color)
        axes.set_xlabel("h ω")
        axes.set_ylabel("|R(i h ω)|")
        axes.legend()
        _save(figure, path)


def plot_lines(path: Path, curves: Mapping[str, tuple[np.ndarray, np.ndarray]], x_label: str, y_label: str, log: bool = False) -> None:
    """A line for each (x, y); with `log`, both axes are logarithmic and points are marked."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(7.0, 4.4), constrained_layout=True)
        for k, (name, (x, y)) in enumerate(curves.items()):
            style = {"color": _COLORS[k % len(_COLORS)], "ls": ("-", (0, (4, 2)), (0, (1, 1)))[k // len(_COLORS) % 3], "label": name}
            if log:
                axes.loglog(x, y, marker="o", ms=3, **style)
            else:
                axes.plot(x, y, **style)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.legend(fontsize=8)
        _save(figure, path)


def plot_force_curves(path: Path, curves: Mapping[str, tuple[np.ndarray, np.ndarray]], errors: Mapping[str, Sequence[float]],
                      places: Sequence[Union[str, float]], error_label: str) -> None:
    """Forces over time, a line each, and beside them the error of each phase: at places that are named, or over steps, s, on logarithmic axes."""
    with plt.rc_context(_STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(12.0, 4.6), constrained_layout=True, width_ratios=(3, 2))
        for k, (name, (time, force)) in enumerate(curves.items()):
            left.plot(time, force, color=_COLORS[k % len(_COLORS)], ls=("-", (0, (4, 2)))[k // len(_COLORS) % 2], label=name)
        left.set_xlabel("time (s)")
        left.set_ylabel("normal force of a pad (N)")
        left.set_xlim(0, max(time[-1] for time, _ in curves.values()))
        left.legend(fontsize=8)
        named = isinstance(places[0], str)
        x = np.arange(len(places)) if named else np.array(places)
        for (phase, values), color in zip(errors.items(), _COLORS):
            right.plot(x, values, marker="o", ms=4, color=color, label=phase, ls="none" if named else "-")
        right.set_yscale("log")
        right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        right.yaxis.set_minor_formatter(NullFormatter())
        if named:
            right.set_xticks(x, places, rotation=25, ha="right", fontsize=8)
        else:
            right.set_xscale("log")
            top = max(values[0] for values in errors.values())
            right.plot(x, top * x / x[0], color="#222222", lw=1, ls=(0, (1, 2)), label="order 1")
            right.set_xticks(x, [f"{step:g}" for step in x])
            right.xaxis.set_minor_formatter(NullFormatter())
            right.set_xlabel("h (s)")
        right.set_ylabel(error_label)
        right.legend(fontsize=8)
        _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
