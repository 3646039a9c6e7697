"""Intervals and tests for success rates and for two policies on the same episodes."""

from __future__ import annotations

import math
from typing import Sequence

Z95 = 1.959963984540054


def wilson(successes: int, count: int, z: float = Z95) -> tuple[float, float]:
    """Interval of a rate (Wilson 1927), by default of 95 %. (0, 1) without any trial."""
    if count == 0:
        return 0.0, 1.0
    rate, z2 = successes / count, z * z
    middle = (rate + z2 / (2 * count)) / (1 + z2 / count)
    half = z / (1 + z2 / count) * math.sqrt(rate * (1 - rate) / count + z2 / (4 * count * count))
    # At the ends the interval touches 0 or 1; rounding must not leave it short of that.
    return (0.0 if successes == 0 else max(0.0, middle - half)), (1.0 if successes == count else min(1.0, middle + half))


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p of the exact test (McNemar 1947): whether one of two policies succeeds more often, from the numbers of episodes in
    which only the first or only the second succeeded."""
    n, k = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, i) for i in range(k + 1)) / 2**n
    return min(1.0, 2 * tail)


def mean_interval(values: Sequence[float], z: float = Z95) -> tuple[float, float, float]:
    """Mean, and its interval by the normal approximation; (nan, nan, nan) without values, no width with one."""
    n = len(values)
    if n == 0:
        return math.nan, math.nan, math.nan
    mean = math.fsum(values) / n
    if n == 1:
        return mean, mean, mean
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
    return mean, mean - z * deviation, mean + z * deviation
