"""Numbers as colours."""

from __future__ import annotations

from typing import Sequence

import numpy as np

# From cool to hot; the lightness rises and falls once, so that the order shows in grey too.
_HEAT = np.array([[0.23, 0.30, 0.75], [0.20, 0.62, 0.83], [0.55, 0.83, 0.55], [0.98, 0.84, 0.25], [0.93, 0.45, 0.13], [0.70, 0.05, 0.10]])


def heat(values: np.ndarray, limit: float, base: Sequence[float] = (0.80, 0.80, 0.78)) -> np.ndarray:
    """Colours (sRGB, [n,3]) of values [n]: `base` at 0, from blue to red up to `limit`, red beyond. ValueError unless limit > 0."""
    if not limit > 0:
        raise ValueError(f"limit must be > 0, got {limit}")
    part = np.clip(np.asarray(values, dtype=float) / limit, 0, 1)
    place = part * (len(_HEAT) - 1)
    at = np.minimum(place.astype(int), len(_HEAT) - 2)
    color = _HEAT[at] + (place - at)[:, None] * (_HEAT[at + 1] - _HEAT[at])
    return np.where(part[:, None] > 0, color, np.asarray(base, dtype=float))
