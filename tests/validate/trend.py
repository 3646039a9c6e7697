"""Whether a figure that is sampled for a long time grows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# Consecutive samples resemble each other (a pool that has filled stays full); means over spans much longer than that do not.
BATCHES = 20
# Student's t, one-sided 97.5 %, for BATCHES - 2 degrees of freedom.
T_975 = 2.101


@dataclass(frozen=True)
class Trend:
    """A straight line through the means of BATCHES spans. slope and its standard error: units of the values a unit of time."""

    mean: float
    slope: float
    standard_error: float

    @property
    def upper(self) -> float:
        """The slope is below this with 97.5 % confidence."""
        return self.slope + T_975 * self.standard_error

    @property
    def t(self) -> float:
        """The slope in units of its standard error; 0 where nothing ever changed."""
        if self.standard_error > 0:
            return self.slope / self.standard_error
        return math.copysign(math.inf, self.slope) if self.slope else 0.0


def trend(times: np.ndarray, values: np.ndarray) -> Trend:
    """Times in order, at least one in each of BATCHES equal spans. Raises ValueError where there are fewer."""
    base = float(values[0])  # what never changes then leaves no rounding behind
    edges = np.linspace(times[0], times[-1], BATCHES + 1)
    batch = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, BATCHES - 1)
    counts = np.bincount(batch, minlength=BATCHES)
    if np.any(counts == 0):
        raise ValueError(f"{len(times)} samples do not fill {BATCHES} spans")
    t = np.bincount(batch, times, BATCHES) / counts
    y = np.bincount(batch, values - base, BATCHES) / counts
    away = t - t.mean()
    slope = float(away @ y / (away @ away))
    residual = y - y.mean() - slope * away
    error = math.sqrt(float(residual @ residual) / (BATCHES - 2) / float(away @ away))
    return Trend(base + float(y.mean()), slope, error)
