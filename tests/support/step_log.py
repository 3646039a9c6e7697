"""Reads what `eipc run --steps` writes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np


def read_steps(path: Path) -> dict[str, np.ndarray]:
    """Column name -> values, one a step."""
    with path.open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    words = ("outcome", "limited_by")
    return {name: np.array([row[name] if name in words else float(row[name]) for row in rows]) for name in rows[0]}
