"""Poses and pose trajectories. World frame right-handed, z up; metres, radians; quaternions unit, order w x y z."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .shown import brief
from .v1 import geometry_pb2, scene_pb2


def quaternion_multiply(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Hamilton product of two quaternions w x y z."""
    aw, ax, ay, az = np.asarray(a, dtype=float)
    bw, bx, by, bz = np.asarray(b, dtype=float)
    return np.array([
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ])


def quaternion_from_rpy(rpy: ArrayLike) -> np.ndarray:
    """Quaternion of fixed-axis roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    half = 0.5 * np.asarray(rpy, dtype=float)
    (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
    roll, pitch, yaw = np.array([cr, sr, 0, 0]), np.array([cp, 0, sp, 0]), np.array([cy, 0, 0, sy])
    return quaternion_multiply(yaw, quaternion_multiply(pitch, roll))


def slerp(a: np.ndarray, b: np.ndarray, s: float) -> np.ndarray:
    """Spherical interpolation along the shorter arc from a (s = 0) to b (s = 1), unit quaternions."""
    cosine = float(np.dot(a, b))
    if cosine < 0:
        b, cosine = -b, -cosine
    if cosine > 1 - 1e-12:
        mixed = (1 - s) * a + s * b
    else:
        angle = np.arccos(min(cosine, 1.0))
        mixed = (np.sin((1 - s) * angle) * a + np.sin(s * angle) * b) / np.sin(angle)
    return mixed / np.linalg.norm(mixed)


UNIT_WITHIN = 4 * np.finfo(float).eps  # of a norm, what rounding makes of 1


@brief
@dataclass(frozen=True, eq=False)
class Pose:
    """Rigid pose of a frame in the world: p_world = R p_frame + position.

    position: [3] m. orientation: [4] unit quaternion w x y z (normalized on construction, unless it is one but for rounding: a pose of
    the server keeps its bits; w >= 0).
    """

    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    orientation: np.ndarray = field(default_factory=lambda: np.array([1.0, 0, 0, 0]))

    def __post_init__(self) -> None:
        position = np.array(self.position, dtype=float)
        orientation = np.array(self.orientation, dtype=float)
        if position.shape != (3,) or orientation.shape != (4,):
            raise ValueError(f"a pose needs 3 and 4 numbers, got shapes {position.shape} and {orientation.shape}")
        norm = np.linalg.norm(orientation)
        if not (np.isfinite(position).all() and np.isfinite(norm) and norm > 0):
            raise ValueError("a pose must be finite and its quaternion not zero")
        if abs(norm - 1) > UNIT_WITHIN:
            orientation = orientation / norm
        if orientation[0] < 0:
            orientation = -orientation
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "orientation", orientation)

    @classmethod
    def from_rpy(cls, position: ArrayLike, rpy_rad: ArrayLike) -> "Pose":
        """Pose from fixed-axis roll, pitch, yaw, rad."""
        return cls(np.asarray(position, dtype=float), quaternion_from_rpy(rpy_rad))

    @classmethod
    def from_message(cls, message: geometry_pb2.Pose) -> "Pose":
        """Pose from the protocol; an absent or all-zero quaternion means identity."""
        p = message.position_m
        if message.WhichOneof("rotation") == "rpy_rad":
            r = message.rpy_rad
            return cls.from_rpy([p.x, p.y, p.z], [r.x, r.y, r.z])
        q = message.quaternion
        orientation = np.array([q.w, q.x, q.y, q.z])
        return cls(np.array([p.x, p.y, p.z]), orientation if orientation.any() else np.array([1.0, 0, 0, 0]))

    def to_message(self) -> geometry_pb2.Pose:
        """The protocol's form, with a quaternion."""
        (x, y, z), (qw, qx, qy, qz) = self.position, self.orientation
        return geometry_pb2.Pose(
            position_m=geometry_pb2.Vec3(x=x, y=y, z=z), quaternion=geometry_pb2.Quaternion(w=qw, x=qx, y=qy, z=qz))

    def rotation_matrix(self) -> np.ndarray:
        """[3,3] rotation R."""
        w, x, y, z = self.orientation
        return np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])

    def apply(self, points: ArrayLike) -> np.ndarray:
        """Points [..., 3] of this frame in the world."""
        return np.asarray(points, dtype=float) @ self.rotation_matrix().T + self.position

    def inverse(self) -> "Pose":
        w, x, y, z = self.orientation
        return Pose(-(self.rotation_matrix().T @ self.position), np.array([w, -x, -y, -z]))

    def __matmul__(self, other: "Pose") -> "Pose":
        """Composition: (a @ b).apply(p) == a.apply(b.apply(p))."""
        return Pose(self.apply(other.position), quaternion_multiply(self.orientation, other.orientation))

    def translated(self, offset: ArrayLike) -> "Pose":
        """The same orientation, moved by `offset` [3] m in the world."""
        return Pose(self.position + np.asarray(offset, dtype=float), self.orientation)


class Interpolation(enum.Enum):
    """How a motion goes from key to key: at a constant speed, or at rest at each key by a polynomial of third or fifth order; that of
    fifth order has no acceleration there either."""

    LINEAR = scene_pb2.Trajectory.LINEAR
    CUBIC = scene_pb2.Trajectory.CUBIC
    MINIMUM_JERK = scene_pb2.Trajectory.MINIMUM_JERK

    def ease(self, s: float) -> float:
        """The part of the path that is covered at the part s of the time."""
        if self is Interpolation.CUBIC:
            return s * s * (3 - 2 * s)
        if self is Interpolation.MINIMUM_JERK:
            return s**3 * (10 + s * (6 * s - 15))
        return s


@brief
@dataclass(frozen=True, eq=False)
class Trajectory:
    """World poses over time: positions on straight lines and rotations slerped between keys, held before the first and after the last
    key."""

    times_s: np.ndarray
    poses: Sequence[Pose]
    interpolation: Interpolation = Interpolation.LINEAR

    def __post_init__(self) -> None:
        times = np.asarray(self.times_s, dtype=float)
        if times.ndim != 1 or len(times) != len(self.poses) or len(times) == 0:
            raise ValueError("a trajectory needs one time per pose, and at least one")
        if np.any(np.diff(times) <= 0):
            raise ValueError("trajectory times must increase")
        object.__setattr__(self, "times_s", times)

    @classmethod
    def from_message(cls, message: scene_pb2.Trajectory) -> "Trajectory":
        keys = message.keyframes
        return cls(np.array([key.time_s for key in keys]), [Pose.from_message(key.pose) for key in keys],
                   Interpolation(message.interpolation or scene_pb2.Trajectory.LINEAR))

    def to_message(self) -> scene_pb2.Trajectory:
        """The protocol's form."""
        linear = self.interpolation is Interpolation.LINEAR  # what an absent field means
        return scene_pb2.Trajectory(keyframes=[
            scene_pb2.Keyframe(time_s=float(time), pose=pose.to_message()) for time, pose in zip(self.times_s, self.poses)
        ], interpolation=None if linear else self.interpolation.value)

    def at(self, time_s: float) -> Pose:
        """The pose at a time."""
        times = self.times_s
        if time_s <= times[0]:
            return self.poses[0]
        if time_s >= times[-1]:
            return self.poses[-1]
        i = int(np.searchsorted(times, time_s, side="right")) - 1
        a, b = self.poses[i], self.poses[i + 1]
        s = self.interpolation.ease((time_s - times[i]) / (times[i + 1] - times[i]))
        return Pose((1 - s) * a.position + s * b.position, slerp(a.orientation, b.orientation, s))
