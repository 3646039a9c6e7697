"""What joints and pose drives of a scene do, as observations have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from .drives import DriveReading, reading_from_message
from .shown import brief
from .v1 import geometry_pb2, observation_pb2


@brief
@dataclass(frozen=True, eq=False)
class JointReading:
    """A joint of the scene at the end of the step: where it is and what it exerts on its body_a (the opposite on its body_b)."""

    position: float  # of a hinge rad, over whole turns; of a slider m; of a spring its length, m; 0 of others
    velocity: float
    effort: float  # of spring, damper, stops and drive along it: N m of a hinge, else N
    drift_m: float  # largest distance between points that it holds together
    force: np.ndarray  # [3] N, world
    moment: np.ndarray  # [3] N m, about `point`, world
    point: np.ndarray  # [3] m, the joint's point of body_a, world
    contact: str  # of the two bodies: "ON", "OFF_BY_SCENE" or "OFF_BY_OVERLAP"
    drive: Optional[DriveReading] = None  # of a joint with a drive


@brief
@dataclass(frozen=True, eq=False)
class PoseDriveReading:
    """What draws a body to its commanded pose, at the end of the step: force at the origin of its authored frame and moment about that."""

    force: np.ndarray  # [3] N, world
    moment: np.ndarray  # [3] N m, world
    saturated: bool  # a force along an axis of the commanded frame, or the moment, is at its limit
    blocked: bool  # and the body does not move in its direction


def joint_from_message(message: observation_pb2.JointReading) -> JointReading:
    return JointReading(message.position, message.velocity, message.effort, message.drift_m, _vector(message.force_n),
                        _vector(message.moment_nm), _vector(message.point_m),
                        observation_pb2.JointReading.Contact.Name(message.contact),
                        reading_from_message(message.drive) if message.HasField("drive") else None)


def pose_drive_from_message(message: observation_pb2.PoseDriveReading) -> PoseDriveReading:
    return PoseDriveReading(_vector(message.force_n), _vector(message.moment_nm), message.saturated, message.blocked)


def _vector(message: geometry_pb2.Vec3) -> np.ndarray:
    return np.array([message.x, message.y, message.z])
