"""Starts other than the scene's: bodies that a reset places elsewhere, by given amounts or by amounts drawn from ranges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .materials import Materials, given_and_drawn
from .shown import brief
from .v1 import geometry_pb2, service_pb2


@dataclass(frozen=True, eq=False)
class Placement:
    """How a body is moved from where the scene places it; world frame.

    translation: [3] m. rotation: [4] unit quaternion w x y z, about the body's centre of mass. linear_velocity: [3] m/s and
    angular_velocity: [3] rad/s; where neither is given the body has its velocity in the scene, turned with it.
    """

    translation: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    linear_velocity: Optional[ArrayLike] = None
    angular_velocity: Optional[ArrayLike] = None

    def to_message(self, body: str) -> service_pb2.Placement:
        w, x, y, z = _numbers("rotation", self.rotation, 4)
        return service_pb2.Placement(body=body, translation_m=_vec3("translation", self.translation),
                                     rotation=geometry_pb2.Quaternion(w=w, x=x, y=y, z=z),
                                     linear_velocity_m_s=_optional("linear_velocity", self.linear_velocity),
                                     angular_velocity_rad_s=_optional("angular_velocity", self.angular_velocity))


@brief
@dataclass(frozen=True, eq=False)
class PlacementRange:
    """Bounds between which a body's placement is drawn, each component uniformly; as Placement.

    rotation: by an angle between -max_angle and max_angle (rad, at most pi) about `axis` [3]; without one, about an axis drawn
    uniformly from all directions. Velocities are drawn where bounds are given.
    """

    translation: Sequence[ArrayLike] = field(default=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    axis: Optional[ArrayLike] = None
    max_angle: float = 0.0
    linear_velocity: Optional[Sequence[ArrayLike]] = None
    angular_velocity: Optional[Sequence[ArrayLike]] = None

    def to_message(self, body: str) -> service_pb2.PlacementRange:
        low, high = _bounds("translation", self.translation)
        message = service_pb2.PlacementRange(body=body, translation_min_m=low, translation_max_m=high, rotation_max_rad=self.max_angle,
                                             rotation_axis=_optional("axis", self.axis))
        if self.linear_velocity is not None:
            low, high = _bounds("linear_velocity", self.linear_velocity)
            message.linear_velocity_min_m_s.CopyFrom(low)
            message.linear_velocity_max_m_s.CopyFrom(high)
        if self.angular_velocity is not None:
            low, high = _bounds("angular_velocity", self.angular_velocity)
            message.angular_velocity_min_rad_s.CopyFrom(low)
            message.angular_velocity_max_rad_s.CopyFrom(high)
        return message


def start_order(placements: Optional[Mapping[str, Placement]], ranges: Optional[Mapping[str, PlacementRange]],
                materials: Optional[Materials], seed: int, attempts: int) -> dict[str, Any]:
    """The fields of a reset that say where bodies start, and of what materials."""
    fields: dict[str, Any] = {}
    if placements:
        fields["placements"] = [placement.to_message(body) for body, placement in placements.items()]
    given, drawn = given_and_drawn(materials)
    if given:
        fields["materials"] = given
    if ranges or drawn:
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed must be in [0, 2^64), got {seed}")
        bounds = [of_body.to_message(body) for body, of_body in (ranges or {}).items()]
        fields["randomize"] = service_pb2.Randomize(seed=seed, attempts=attempts, ranges=bounds, materials=drawn)
    return fields


def _numbers(name: str, values: ArrayLike, count: int) -> list[float]:
    array = np.asarray(values, dtype=float)
    if array.shape != (count,):
        raise ValueError(f"{name} must have {count} numbers, got shape {array.shape}")
    return [float(value) for value in array]


def _vec3(name: str, values: ArrayLike) -> geometry_pb2.Vec3:
    x, y, z = _numbers(name, values, 3)
    return geometry_pb2.Vec3(x=x, y=y, z=z)


def _optional(name: str, values: Optional[ArrayLike]) -> Optional[geometry_pb2.Vec3]:
    return None if values is None else _vec3(name, values)


def _bounds(name: str, bounds: Sequence[ArrayLike]) -> tuple[geometry_pb2.Vec3, geometry_pb2.Vec3]:
    if len(bounds) != 2:
        raise ValueError(f"{name} needs a lower and an upper bound, got {len(bounds)}")
    return _vec3(name, bounds[0]), _vec3(name, bounds[1])
