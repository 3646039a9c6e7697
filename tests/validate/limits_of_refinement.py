"""What a figure tends to under refinement, by Richardson's extrapolation, and how far it still is from there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Sequence

LEAST_ORDER = 0.5  # below it differences fall so slowly that extrapolation says nothing


@dataclass(frozen=True)
class Limit:
    """value: the estimate; error: how far the estimate may be off; order: found, None where the differences do not fall regularly."""

    value: float
    error: float
    order: Optional[float]


def limit(values: Sequence[float], most_order: float) -> Limit:
    """Of figures on meshes or at steps each half the size of the last, the finest last, at least two; two alone have no order.

    Where the last two differences have one sign and fall with an order of at least LEAST_ORDER, the value is extrapolated with that order, but no
    higher than most_order, that of the method; its error is what the extrapolation adds. Else the value is the finest and its error the larger of the last two differences: no claim is made of a trend that is not there.
    """
    if len(values) < 2:
        raise ValueError("a limit needs two figures")
    if len(values) == 2:
        return Limit(values[-1], abs(values[-1] - values[-2]), None)
    before, last = values[-2] - values[-3], values[-1] - values[-2]
    if last == 0:
        return Limit(values[-1], abs(before), None)
    ratio = before / last
    if ratio < 2**LEAST_ORDER:
        return Limit(values[-1], max(abs(before), abs(last)), None)
    order = math.log2(ratio)
    step = last / (2 ** min(order, most_order) - 1)
    return Limit(values[-1] + step, abs(step), order)
