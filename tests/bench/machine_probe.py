"""How fast this machine is right now, so that absolute times can be compared between machines and moments.

A fixed amount of double-precision arithmetic on one core that fits its first cache: many small matrix products and
factorizations, close to what the solver does.
"""

from __future__ import annotations

import time

import numpy as np

_SIZE, _ROUNDS = 48, 400


def _work() -> float:
    """Fixed loop; returns a number so that nothing can be left out."""
    a = np.arange(_SIZE * _SIZE, dtype=np.float64).reshape(_SIZE, _SIZE) % 7 / 7
    spd = a @ a.T + _SIZE * np.eye(_SIZE)
    total = 0.0
    for _ in range(_ROUNDS):
        total += float(np.linalg.cholesky(spd)[-1, -1]) + float((spd @ a)[0, 0])
    return total


def probe_ms(repeats: int = 5) -> float:
    """The fastest of `repeats` rounds of the fixed loop, ms (about 20 ms in all; NumPy should have one thread)."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        _work()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best
