"""Statistics of the features of a data set, as LeRobot keeps them of every episode and of the whole."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

_QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
_SAMPLED = 100  # pictures of an episode, at most

Stats = Mapping[str, Mapping[str, Any]]


def of_values(values: np.ndarray) -> dict[str, Any]:
    """Of rows [T] or [T,n]: lists of n numbers, and the count."""
    rows = values.reshape(len(values), -1).astype(np.float64)
    out: dict[str, Any] = {"min": rows.min(axis=0), "max": rows.max(axis=0), "mean": rows.mean(axis=0), "std": rows.std(axis=0)}
    out.update({name: np.quantile(rows, q, axis=0) for name, q in _QUANTILES.items()})
    return {**{name: array.tolist() for name, array in out.items()}, "count": [len(rows)]}


def of_pictures(pictures: Sequence[np.ndarray]) -> dict[str, Any]:
    """Of [h,w,3] uint8: one number a channel in [0, 1], of shape (3, 1, 1). The count is of the pictures that were sampled."""
    chosen = [pictures[int(k)] for k in np.unique(np.linspace(0, len(pictures) - 1, min(len(pictures), _SAMPLED)).round())]
    of_channels = of_values(np.concatenate([picture.reshape(-1, 3) for picture in chosen]) / 255.0)
    return {**{name: [[[number]] for number in numbers] for name, numbers in of_channels.items() if name != "count"}, "count": [len(chosen)]}


def merged(episodes: Sequence[Stats]) -> dict[str, dict[str, Any]]:
    """Of all episodes together: extremes, mean and deviation exactly; quantiles as the mean of those of the episodes, weighted by
    their counts, which is what LeRobot does when it puts data sets together."""
    out: dict[str, dict[str, Any]] = {}
    for name in episodes[0]:
        parts = [episode[name] for episode in episodes]
        counts = np.array([part["count"][0] for part in parts], dtype=np.float64)
        means, deviations = _stacked(parts, "mean"), _stacked(parts, "std")
        weights = counts.reshape(-1, *[1] * (means.ndim - 1)) / counts.sum()
        mean = (weights * means).sum(axis=0)
        deviation = np.sqrt((weights * (deviations**2 + (means - mean) ** 2)).sum(axis=0))
        whole = {"min": _stacked(parts, "min").min(axis=0), "max": _stacked(parts, "max").max(axis=0), "mean": mean, "std": deviation}
        whole.update({quantile: (weights * _stacked(parts, quantile)).sum(axis=0) for quantile in _QUANTILES})
        out[name] = {**{figure: array.tolist() for figure, array in whole.items()}, "count": [int(counts.sum())]}
    return out


def _stacked(parts: Sequence[Mapping[str, Any]], figure: str) -> np.ndarray:
    return np.array([part[figure] for part in parts], dtype=np.float64)
