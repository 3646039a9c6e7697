"""The figure of a report."""

from __future__ import annotations

import base64
import io
from typing import Any, Iterable

from .results import ERROR, Result


def picture(report: dict[str, Any], results: Iterable[Result]) -> str:
    """PNG in base64: success rates with intervals, and rewards where there are some. "" where matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    rows = [row for row in report["scenes"] if row["rate"] is not None]
    rewards = [r.total_reward for r in results if r.outcome != ERROR and r.total_reward is not None]
    figure = Figure(figsize=(9, 2 + 0.4 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2 if rewards else 1, squeeze=False)[0]
    places = range(len(rows))
    below = [row["rate"] - row["rate_95"][0] for row in rows]
    above = [row["rate_95"][1] - row["rate"] for row in rows]
    axes[0].barh(places, [row["rate"] for row in rows], xerr=[below, above], color="#4c78a8", ecolor="#222222", capsize=4)
    axes[0].set(yticks=list(places), yticklabels=[row["scene"].rsplit("/", 1)[-1] for row in rows], xlim=(0, 1), xlabel="success rate, 95 %")
    axes[0].invert_yaxis()
    if rewards:
        axes[1].hist(rewards, bins=min(30, max(5, len(rewards) // 5)), color="#f58518")
        axes[1].set(xlabel="total reward of an episode", ylabel="episodes")
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return base64.b64encode(out.getvalue()).decode()
