"""Reads what `eipc run --trajectory FILE` writes: one line of JSON, {"vertices": N, "times": [...]}, then float64
little-endian frames [T,N,3] of the surface of the whole scene, m, bodies one after the other in the scene's order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True, eq=False)
class SurfacePositions:
    """times [T] s and positions [T,N,3] m (mapped from the file, not loaded)."""

    times: np.ndarray
    positions: np.ndarray

    def frames_at(self, times: np.ndarray) -> np.ndarray:
        """Indices of the frames at these times. Raises ValueError where there is none."""
        index = np.clip(np.searchsorted(self.times, times - 1e-7), 0, len(self.times) - 1)
        late = np.abs(self.times[index] - times) > 1e-6
        if late.any():
            raise ValueError(f"no frame at t = {times[late][0]:g} s")
        return index


def read_surface_positions(path: Path) -> SurfacePositions:
    """Raises ValueError when the file is not whole."""
    with open(path, "rb") as file:
        line = file.readline()
        first = file.tell()
    header = json.loads(line)
    times, vertices = np.array(header["times"], dtype=float), int(header["vertices"])
    expected = first + len(times) * vertices * 3 * 8
    if path.stat().st_size != expected:
        raise ValueError(f"{path}: {path.stat().st_size} bytes, its header promises {expected}")
    positions = np.memmap(path, dtype="<f8", mode="r", offset=first, shape=(len(times), vertices, 3))
    return SurfacePositions(times, positions)


def rms_error(run: SurfacePositions, reference: SurfacePositions, vertices: slice) -> float:
    """sqrt(mean over the run's steps i of (1/Nv) |x_h(ih) - x_ref(ih)|^2) over some vertices, m (Embedded IPC, IV-A)."""
    return float(np.sqrt(np.mean(np.sum(differences(run, reference, vertices) ** 2, axis=2))))


def differences(run: SurfacePositions, reference: SurfacePositions, vertices: slice) -> np.ndarray:
    """x_h(ih) - x_ref(ih) for every step i > 0 of the run, [T,n,3] m."""
    steps = np.flatnonzero(run.times > 1e-9)
    matching = reference.frames_at(run.times[steps])
    return run.positions[steps, vertices] - reference.positions[matching, vertices]


def fitted_slope(steps: np.ndarray, errors: np.ndarray, reference_step: float) -> float:
    """Least-squares slope of log(error) over log(h - h_ref): the reference has an error of its own, C h_ref for order one."""
    return float(np.polyfit(np.log(steps - reference_step), np.log(errors), 1)[0])
