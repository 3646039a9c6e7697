"""Rotations of many bodies at once: quaternions w x y z in the last axis."""

from __future__ import annotations

import numpy as np


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices [...,3,3] of unit quaternions [...,4]."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def turned(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors [...,3] turned by the rotations."""
    return np.einsum("...ij,...j->...i", matrices(quaternions), vectors)


def turned_back(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors [...,3] turned by the inverse rotations."""
    return np.einsum("...ji,...j->...i", matrices(quaternions), vectors)
