"""The `info` of vector environments: an array a key, and a mask `_key` that says which worlds it is of."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np


def masked(values: Mapping[str, np.ndarray], mask: np.ndarray) -> dict[str, Any]:
    """Arrays [W] with the mask [W] of the worlds that they are of; the rows of others are zero, False or None."""
    info: dict[str, Any] = {}
    for key, array in values.items():
        kept = array.copy()
        kept[~mask] = None if kept.dtype == object else 0
        info[key], info[f"_{key}"] = kept, mask.copy()
    return info


def of_world(info: Mapping[str, Any], world: int) -> dict[str, Any]:
    """The info of one world out of those of all, as a single environment gives it: Python values, no masks."""
    single = {}
    for key, value in info.items():
        if not key.startswith("_") and info[f"_{key}"][world]:
            single[key] = of_world(value, world) if isinstance(value, dict) else _plain(value[world])
    return single


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
