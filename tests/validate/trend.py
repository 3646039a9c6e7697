"""Whether a figure that is sampled for a long time grows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

# Consecutive samples resemble each other (a pool that has filled stays full); means over spans much longer than that do not. Numbers of
# spans that may be chosen, with Student's t, one-sided 97.5 %, for as many degrees of freedom less two.
T_975 = {20: 2.101, 10: 2.306, 5: 3.182}
BATCHES = 20


@dataclass(frozen=True)
class Trend:
    """A straight line through the means of some spans. slope and its standard error: units of the values a unit of time. scatter:
    standard deviation of single values about the line."""

    mean: float
    slope: float
    standard_error: float
    scatter: float = 0.0
    spans: int = BATCHES

    @property
    def uncertainty(self) -> float:
        """The slope is within this of the true one with 95 % confidence."""
        return T_975[self.spans] * self.standard_error

    @property
    def upper(self) -> float:
        """The slope is below this with 97.5 % confidence."""
        return self.slope + self.uncertainty

    @property
    def t(self) -> float:
        """The slope in units of its standard error; 0 where nothing ever changed."""
        if self.standard_error > 0:
            return self.slope / self.standard_error
        return math.copysign(math.inf, self.slope) if self.slope else 0.0


def most_spans(times: np.ndarray) -> int:
    """The largest number of spans that these times fill. Raises ValueError where they do not fill the least one."""
    for spans in T_975:
        if np.all(_spans(times, spans)[1]):
            return spans
    _too_few(times, min(T_975))


def trend(times: np.ndarray, values: np.ndarray, spans: int = BATCHES) -> Trend:
    """Times in order, at least one in each of `spans` (a key of T_975) equal spans. Raises ValueError where there are fewer."""
    base = float(values[0])  # what never changes then leaves no rounding behind
    span, counts = _spans(times, spans)
    if np.any(counts == 0):
        _too_few(times, spans)
    t = np.bincount(span, times, spans) / counts
    y = np.bincount(span, values - base, spans) / counts
    away = t - t.mean()
    slope = float(away @ y / (away @ away))
    residual = y - y.mean() - slope * away
    error = math.sqrt(float(residual @ residual) / (spans - 2) / float(away @ away))
    single = values - base - y.mean() - slope * (times - t.mean())
    return Trend(base + float(y.mean()), slope, error, math.sqrt(float(single @ single) / (len(times) - 2)), spans)


def _spans(times: np.ndarray, spans: int) -> tuple[np.ndarray, np.ndarray]:
    """The span of each time, and how many each span has."""
    edges = np.linspace(times[0], times[-1], spans + 1)
    span = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, spans - 1)
    return span, np.bincount(span, minlength=spans)


def _too_few(times: np.ndarray, spans: int) -> NoReturn:
    raise ValueError(f"{len(times)} samples do not fill {spans} spans")
