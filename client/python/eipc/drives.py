"""Commands for drives with a limited force (a scene's sliders and driven joints): positions, speeds or efforts, and what came of
them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Sequence

from .geometry import Interpolation
from .shown import brief
from .v1 import observation_pb2, scene_pb2


class DriveMode(enum.Enum):
    """What a drive is commanded: a position on its guide, m, a speed along it, m/s, or a force, N; of a hinge rad, rad/s or N m."""

    POSITION = scene_pb2.DriveMotion.POSITION
    VELOCITY = scene_pb2.DriveMotion.VELOCITY
    FORCE = scene_pb2.DriveMotion.FORCE


@brief
@dataclass(frozen=True)
class DriveMotion:
    """Commands over time, s from the start of a request, in the unit of the mode; held before the first and after the last key. Made by
    position(), velocity(), force() and path()."""

    mode: DriveMode
    times_s: Sequence[float]
    values: Sequence[float]
    interpolation: Interpolation = Interpolation.LINEAR

    def __post_init__(self) -> None:
        if len(self.times_s) != len(self.values) or len(self.times_s) == 0:
            raise ValueError("a drive's motion needs one time per value, and at least one")
        if any(b <= a for a, b in zip(self.times_s, self.times_s[1:])):
            raise ValueError("the times of a drive's motion must increase")

    def to_message(self) -> scene_pb2.DriveMotion:
        """The protocol's form."""
        keys = [scene_pb2.DriveKey(time_s=float(time), value=float(value)) for time, value in zip(self.times_s, self.values)]
        return scene_pb2.DriveMotion(mode=self.mode.value, interpolation=self.interpolation.value, keys=keys)


def position(value: float) -> DriveMotion:
    """Go to this position, m along the guide or rad of a hinge, and stay."""
    return DriveMotion(DriveMode.POSITION, [0.0], [value])


def velocity(value: float) -> DriveMotion:
    """Move at this speed, m/s along the guide or rad/s of a hinge."""
    return DriveMotion(DriveMode.VELOCITY, [0.0], [value])


def force(value: float) -> DriveMotion:
    """Push with this force, N along the guide, or with this torque, N m about a hinge, and stay."""
    return DriveMotion(DriveMode.FORCE, [0.0], [value])


torque = force  # of a hinge


def path(times_s: Sequence[float], positions: Sequence[float],
         interpolation: Interpolation = Interpolation.MINIMUM_JERK) -> DriveMotion:
    """Be at these positions, m or rad, at these times, s from the start of the request."""
    return DriveMotion(DriveMode.POSITION, times_s, positions, interpolation)


@dataclass(frozen=True)
class DriveReading:
    """What a drive was commanded (m, m/s or N) and what it did, along the guide; of a hinge rad, rad/s and N m. saturated: its effort is
    at the limit; blocked: and it moves nothing in that direction. Where its acceleration is limited, `commanded` is what it follows now."""

    mode: DriveMode
    commanded: float
    position_m: float
    velocity_m_s: float
    effort_n: float
    saturated: bool
    blocked: bool


def reading_from_message(message: observation_pb2.DriveReading) -> DriveReading:
    return DriveReading(DriveMode(message.mode), message.commanded, message.position_m, message.velocity_m_s, message.effort_n,
                        message.saturated, message.blocked)
