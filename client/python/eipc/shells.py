"""How a sheet of cloth lies, as dataclasses. SI units, world frame, end of the step; arrays are read-only NumPy views."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Optional

import numpy as np

from . import arrays
from .shown import brief
from .v1 import observation_pb2


@brief
@dataclass(frozen=True, eq=False)
class Keypoint:
    """A named point of a shell."""

    position: np.ndarray  # [3] m
    velocity: np.ndarray  # [3] m/s


@brief
@dataclass(frozen=True, eq=False)
class Opening:
    """A named loop of a shell, such as the rim of a bag."""

    area_m2: float  # that it encloses as seen along its normal
    normal: np.ndarray  # [3], unit


@brief
@dataclass(frozen=True, eq=False)
class ShellReading:
    """What a sheet does. Coverage is as seen along gravity, each point once."""

    rest_area_m2: float
    covered_area_m2: float
    mean_layers: float  # over the covered area
    most_layers: int
    largest_stretch: float
    smallest_stretch: float
    principal_stretches: np.ndarray  # [t,2] by triangle, the larger first
    principal_tensions: np.ndarray  # [t,2] N/m, along the same directions
    keypoints: Mapping[str, Keypoint] = field(default_factory=dict)
    openings: Mapping[str, Opening] = field(default_factory=dict)
    fold_error_m: Optional[float] = None  # mean distance of the shell's fold pairs

    @property
    def coverage(self) -> float:
        """Covered area over that at rest."""
        return self.covered_area_m2 / self.rest_area_m2 if self.rest_area_m2 > 0 else 0.0


def _vector(message: observation_pb2.KeypointReading, name: str) -> np.ndarray:
    v = getattr(message, name)
    return np.array([v.x, v.y, v.z])


def shell_from_message(message: observation_pb2.ShellReading) -> ShellReading:
    """Unpacks a reading; arrays stay views of the message's bytes."""
    return ShellReading(
        rest_area_m2=message.rest_area_m2, covered_area_m2=message.covered_area_m2, mean_layers=message.mean_layers,
        most_layers=message.most_layers, largest_stretch=message.largest_stretch, smallest_stretch=message.smallest_stretch,
        principal_stretches=arrays.to_numpy(message.principal_stretches),
        principal_tensions=arrays.to_numpy(message.principal_tensions_n_m),
        keypoints={point.name: Keypoint(_vector(point, "position_m"), _vector(point, "velocity_m_s")) for point in message.keypoints},
        openings={opening.name: Opening(opening.area_m2, np.array([opening.normal.x, opening.normal.y, opening.normal.z]))
                  for opening in message.openings},
        fold_error_m=message.fold_error_m if message.HasField("fold_error_m") else None)
