"""Robots of scenes: forward and inverse kinematics, joint and Cartesian commands, and relative ones for teleoperation.

A robot is what `eipc robot FILE --scene` writes into a scene (Scene.robots): a tree of links and joints whose links are bodies. Links above
the joints that are joints of the scene are kinematic: they follow their command exactly, so commands of these are poses of bodies, by
forward kinematics. The other joints have drives with limited efforts, and move by forces. `Robot.command` makes the arguments of
`Session.step` for both.

Coordinates are in rad or m, arrays in the order of `Robot.joints`: those that move and follow none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import drives
from .errors import SceneFileError
from .geometry import Interpolation, Pose, Trajectory, quaternion_multiply
from .observation import Observation
from .scene_source import load_scene
from .shown import brief
from .v1 import scene_pb2

Coordinates = Union[ArrayLike, Mapping[str, float]]


def rotation_vector(orientation: ArrayLike) -> np.ndarray:
    """[3] axis times angle, rad in [0, pi], of a unit quaternion w x y z."""
    q = np.asarray(orientation, dtype=float)
    q = q if q[0] >= 0 else -q
    sine = float(np.linalg.norm(q[1:]))
    if sine < 1e-12:
        return 2 * q[1:]
    return np.asarray(2 * np.arctan2(sine, q[0]) / sine * q[1:])


def quaternion_of(vector: ArrayLike) -> np.ndarray:
    """The unit quaternion w x y z of a turn by |vector| rad about it."""
    v = np.asarray(vector, dtype=float)
    half = 0.5 * float(np.linalg.norm(v))
    scale = 0.5 * float(np.sinc(half / np.pi))
    return np.array([np.cos(half), *(scale * v)])


@dataclass(frozen=True)
class Joint:
    """A joint that moves and follows none."""

    name: str
    lower: float  # rad or m; -inf: no limit
    upper: float
    max_speed: float  # rad/s or m/s; inf: no limit
    max_effort: float  # N m or N; inf: none given
    start: float  # as the scene places the robot
    turns: bool  # about its axis; else it shifts along
    dynamic: bool  # a joint of the scene, with a drive; else its link follows exactly


@brief
@dataclass(frozen=True, eq=False)
class Solution:
    """Coordinates that an inverse kinematics found, and what is left of the error of the pose: m and rad."""

    coordinates: np.ndarray
    position_error_m: float
    angle_error_rad: float
    iterations: int

    def reaches(self, position_m: float = 1e-6, angle_rad: float = 1e-6) -> bool:
        return self.position_error_m <= position_m and self.angle_error_rad <= angle_rad


class Robot:
    """The kinematics of one robot of a scene, and its commands."""

    def __init__(self, message: scene_pb2.Robot) -> None:
        _check(message)
        self.name = message.name
        self._message = message
        self._base = Pose.from_message(message.base)
        free = [j for j, joint in enumerate(message.joints) if _moves(joint) and not joint.HasField("mimic")]
        self._column = {j: column for column, j in enumerate(free)}
        self.joints: tuple[Joint, ...] = tuple(_joint(message.joints[j]) for j in free)
        self.links: tuple[str, ...] = tuple(link.name for link in message.links)
        self._origins = [Pose.from_message(joint.origin) for joint in message.joints]
        self._axes = [np.array([joint.axis.x, joint.axis.y, joint.axis.z]) for joint in message.joints]
        self._kinds = _link_kinds(message)

    @classmethod
    def of_scene(cls, source: Union[str, "os.PathLike[str]", scene_pb2.Scene], name: str = "") -> "Robot":
        """The robot of a scene (a file, its text or its message), by its name where there are several."""
        scene = load_scene(source, inline_meshes=False)
        found = [robot for robot in scene.robots if name in ("", robot.name)]
        if len(found) != 1:
            there = ", ".join(robot.name for robot in scene.robots) or "none"
            raise SceneFileError(f"the scene must have one robot{f' {name!r}' if name else ''}; there are: {there}")
        return cls(found[0])

    @property
    def start(self) -> np.ndarray:
        """[n] coordinates as the scene places the robot."""
        return np.array([joint.start for joint in self.joints])

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {len(self.joints)} free joints, {len(self.links)} links)"

    def coordinates(self, given: Coordinates, base: Optional[ArrayLike] = None) -> np.ndarray:
        """[n] coordinates from an array, or from a mapping by names over `base` (default: start). ValueError: unknown names, numbers
        that are not finite, or beyond the limits."""
        if isinstance(given, Mapping):
            out = np.array(self.start if base is None else base, dtype=float)
            names = [joint.name for joint in self.joints]
            for name, value in given.items():
                if name not in names:
                    raise ValueError(f"no joint {name!r} that moves and follows none; there are: {', '.join(names)}")
                out[names.index(name)] = value
        else:
            out = np.array(given, dtype=float)
        if out.shape != (len(self.joints),):
            raise ValueError(f"needs {len(self.joints)} coordinates ({', '.join(j.name for j in self.joints)}), got shape {out.shape}")
        for value, joint in zip(out, self.joints):
            if not np.isfinite(value):
                raise ValueError(f"joint {joint.name!r}: its coordinate must be finite, got {value}")
            if not joint.lower - 1e-9 <= value <= joint.upper + 1e-9:
                raise ValueError(f"joint {joint.name!r}: {value} is beyond its limits {joint.lower} to {joint.upper}")
        return out

    # --- kinematics ---

    def link_poses(self, coordinates: Coordinates) -> dict[str, Pose]:
        """World poses of all link frames."""
        return dict(zip(self.links, self._poses(self.coordinates(coordinates))))

    def jacobian(self, link: str, coordinates: Coordinates, point: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
        """[6, n]: velocity of a point of a link (m in its frame) and angular velocity of it, world, by the rates of the coordinates."""
        poses = self._poses(self.coordinates(coordinates))
        return self._jacobian(self._link(link), poses, poses[self._link(link)].apply(point))

    def solve(self, link: str, pose: Pose, start: Coordinates, point: ArrayLike = (0.0, 0.0, 0.0), *, joints: Optional[Sequence[str]] = None,
              damping: float = 1e-3, iterations: int = 200, orientation_weight_m: float = 0.1) -> Solution:
        """Coordinates that bring a link's frame, moved to `point` of it, to a pose: damped least squares from `start`, within the limits.

        joints: those that may move (default: the kinematic ones, or all where none is). damping: as a part of the largest singular value.
        orientation_weight_m: an error of one radian counts as that of this many metres; 0: any orientation. The result says how far it is
        from the pose; it is the closest found, not always the closest there is. ValueError: numbers that are none."""
        _check_numbers(point, damping=damping, orientation_weight_m=orientation_weight_m)
        q = self.coordinates(start)
        used = self._used(joints)
        best = self._error(link, pose, q, point)
        lam, done = damping, 0
        for done in range(1, iterations + 1):
            position, angle = best
            if np.linalg.norm(position) < 1e-12 and (orientation_weight_m == 0 or np.linalg.norm(angle) < 1e-12):
                break
            tried = self._clamped(q + self._least_squares_step(link, q, point, position, angle, used, lam, orientation_weight_m))
            error = self._error(link, pose, tried, point)
            if _size(error, orientation_weight_m) < _size(best, orientation_weight_m):
                step = float(np.abs(tried - q).max())
                q, best, lam = tried, error, max(0.3 * lam, 1e-9)
                if step < 1e-14:
                    break
            else:
                lam *= 4
                if lam > 1e6:
                    break
        return Solution(q, float(np.linalg.norm(best[0])), float(np.linalg.norm(best[1])), done)

    def follow(self, link: str, pose: Pose, coordinates: Coordinates, dt: float, point: ArrayLike = (0.0, 0.0, 0.0), *,
               joints: Optional[Sequence[str]] = None, damping: float = 0.05, max_speed_m_s: float = np.inf,
               max_speed_rad_s: float = np.inf, orientation_weight_m: float = 0.1) -> np.ndarray:
        """[n] coordinates after dt of differential inverse kinematics towards a pose: one damped least-squares step, with no more speed of
        the point, no more angular velocity and no more speed of any joint than allowed. Smooth through singularities; call it every step.
        ValueError: numbers that are none, below 0, or but for speeds infinite."""
        _check_numbers(point, dt=dt, damping=damping, orientation_weight_m=orientation_weight_m, speed_m_s=max_speed_m_s, speed_rad_s=max_speed_rad_s)
        q = self.coordinates(coordinates)
        position, angle = map(_limited, self._error(link, pose, q, point), (max_speed_m_s * dt, max_speed_rad_s * dt))
        step = self._least_squares_step(link, q, point, position, angle, self._used(joints), damping, orientation_weight_m)
        speeds = np.array([joint.max_speed for joint in self.joints]) * dt
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(np.abs(step) > 0, speeds / np.abs(step), np.inf)
        return self._clamped(q + min(1.0, float(ratio.min())) * step)

    # --- commands ---

    def command(self, coordinates: Coordinates) -> dict[str, Any]:
        """Arguments of Session.step that command these coordinates for its end: `targets` of the kinematic bodies, `joints` of drives."""
        q = self.coordinates(coordinates)
        options: dict[str, Any] = {"targets": self._targets(q)}
        motions = {joint.name: drives.position(value - joint.start) for joint, value in zip(self.joints, q) if joint.dynamic}
        return {**options, "joints": motions} if motions else options

    def path(self, times_s: Sequence[float], coordinates: Sequence[Coordinates], interpolation: Interpolation = Interpolation.MINIMUM_JERK,
             keys_a_second: float = 100.0) -> dict[str, Any]:
        """Arguments of Session.step that take the robot through coordinates at times, s from the start of the request: `trajectories` of the
        kinematic bodies, with poses by forward kinematics at least `keys_a_second` times a second, and `joints` of drives."""
        points = [self.coordinates(q) for q in coordinates]
        times = [float(t) for t in times_s]
        if len(times) != len(points) or len(times) < 1 or not np.isfinite(times).all() or any(b <= a for a, b in zip(times, times[1:])):
            raise ValueError("a path needs one finite time per point, increasing, and at least one")
        at: list[float] = []
        for a, b in zip(times, times[1:]):
            at += list(np.linspace(a, b, max(2, int(np.ceil((b - a) * keys_a_second)) + 1))[:-1])
        at.append(times[-1])
        targets = [self._targets(_between(times, points, interpolation, t)) for t in at]
        options: dict[str, Any] = {
            "trajectories": {body: Trajectory(np.array(at), [target[body] for target in targets]) for body in targets[0]}}
        motions = {joint.name: drives.DriveMotion(drives.DriveMode.POSITION, times, [q[k] - joint.start for q in points], interpolation)
                   for k, joint in enumerate(self.joints) if joint.dynamic}
        return {**options, "joints": motions} if motions else options

    def measured(self, observation: Observation, commanded: Coordinates) -> np.ndarray:
        """[n] coordinates of an observation with joints: of dynamic joints as they are, of the others as commanded."""
        q = np.array(commanded, dtype=float) if not isinstance(commanded, Mapping) else self.coordinates(commanded)
        for k, joint in enumerate(self.joints):
            if joint.dynamic:
                q[k] = observation.joints[joint.name].position + joint.start
        return q

    # --- inside ---

    def _link(self, name: str) -> int:
        if name not in self.links:
            raise ValueError(f"no link {name!r}; there are: {', '.join(self.links)}")
        return self.links.index(name)

    def _all(self, q: np.ndarray) -> np.ndarray:
        """Of every joint of the description, those that follow and the fixed ones too."""
        out = np.zeros(len(self._message.joints))
        for j, column in self._column.items():
            out[j] = q[column]
        for j, joint in enumerate(self._message.joints):
            if joint.HasField("mimic"):
                out[j] = joint.multiplier * out[joint.mimic] + joint.offset
        return out

    def _poses(self, q: np.ndarray) -> list[Pose]:
        poses = [self._base]
        for joint, origin, axis, value in zip(self._message.joints, self._origins, self._axes, self._all(q)):
            moved = Pose(value * axis) if joint.type == scene_pb2.RobotJoint.PRISMATIC else Pose(np.zeros(3), quaternion_of(value * axis))
            poses.append(poses[joint.parent] @ origin @ (moved if _moves(joint) else Pose()))
        return poses

    def _jacobian(self, link: int, poses: Sequence[Pose], point: np.ndarray) -> np.ndarray:
        out = np.zeros((6, len(self.joints)))
        while link > 0:
            j = link - 1
            joint = self._message.joints[j]
            if _moves(joint):
                leader = joint.mimic if joint.HasField("mimic") else j
                rate = joint.multiplier if joint.HasField("mimic") else 1.0
                axis = rate * (poses[link].rotation_matrix() @ self._axes[j])
                column = out[:, self._column[leader]]
                if joint.type == scene_pb2.RobotJoint.PRISMATIC:
                    column[:3] += axis
                else:
                    column[:3] += np.cross(axis, point - poses[link].position)
                    column[3:] += axis
            link = joint.parent
        return out

    def _error(self, link: str, pose: Pose, q: np.ndarray, point: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        now = self._poses(q)[self._link(link)]
        turned = quaternion_multiply(pose.orientation, now.inverse().orientation)
        return pose.position - now.apply(point), rotation_vector(turned)

    def _used(self, names: Optional[Sequence[str]]) -> np.ndarray:
        """Which columns may change."""
        if names is None:
            kinematic = np.array([not joint.dynamic for joint in self.joints])
            return kinematic if kinematic.any() else np.ones(len(self.joints), dtype=bool)
        known = [joint.name for joint in self.joints]
        for name in names:
            if name not in known:
                raise ValueError(f"no joint {name!r}; there are: {', '.join(known)}")
        return np.array([name in names for name in known])

    def _least_squares_step(self, link: str, q: np.ndarray, point: ArrayLike, position: np.ndarray, angle: np.ndarray, used: np.ndarray,
                            damping: float, weight: float) -> np.ndarray:
        """min |J dq - e|^2 + (damping s)^2 |dq|^2 with the largest singular value s of J (Wampler 1986, Nakamura and Hanafusa 1986)."""
        jacobian = self.jacobian(link, self._clamped(q), point)[:, used]
        jacobian[3:] *= weight
        error = np.concatenate([position, weight * angle])
        u, s, vt = np.linalg.svd(jacobian, full_matrices=False)
        out = np.zeros(len(self.joints))
        if s.size and s[0] > 0:
            out[used] = vt.T @ (s / (s**2 + (damping * s[0]) ** 2) * (u.T @ error))
        return out

    def _clamped(self, q: np.ndarray) -> np.ndarray:
        return np.clip(q, [joint.lower for joint in self.joints], [joint.upper for joint in self.joints])

    def _targets(self, q: np.ndarray) -> dict[str, Pose]:
        targets = {}
        for pose, link, kind in zip(self._poses(q), self._message.links, self._kinds):
            for body in link.bodies if kind == "kinematic" else ():
                targets[body.body] = pose @ Pose.from_message(body.pose)
        return targets


class Clutch:
    """Relative commands for teleoperation: while engaged, a target moves as a device does since it was engaged.

    scale: of the device's displacement. frame: orientation of the device's frame in the world, for one that is not aligned with it.
    """

    def __init__(self, target: Pose, scale: float = 1.0, frame: Optional[ArrayLike] = None) -> None:
        if not (np.isfinite(scale) and scale > 0):
            raise ValueError(f"scale must be > 0, got {scale}")
        self.target = target
        self._scale = scale
        self._frame = Pose(np.zeros(3), np.array([1.0, 0, 0, 0]) if frame is None else np.asarray(frame, dtype=float))
        self._device: Optional[Pose] = None
        self._origin = target

    @property
    def engaged(self) -> bool:
        return self._device is not None

    def __repr__(self) -> str:
        return f"Clutch(scale {self._scale:g}, " + ("engaged" if self._device is not None else "free") + ")"

    def engage(self, device: Pose) -> None:
        """From here on the target follows; the target does not jump."""
        self._device, self._origin = device, self.target

    def release(self) -> None:
        """The target stays where it is, wherever the device goes."""
        self._device = None

    def move(self, device: Pose) -> Pose:
        """Where the target is with the device there."""
        if self._device is not None:
            displacement = self._frame.apply(device.position - self._device.position)
            turn = quaternion_multiply(device.orientation, self._device.inverse().orientation)
            turn = quaternion_multiply(quaternion_multiply(self._frame.orientation, turn), self._frame.inverse().orientation)
            self.target = Pose(self._origin.position + self._scale * displacement, quaternion_multiply(turn, self._origin.orientation))
        return self.target


def _moves(joint: scene_pb2.RobotJoint) -> bool:
    return bool(joint.type != scene_pb2.RobotJoint.FIXED)


def _joint(message: scene_pb2.RobotJoint) -> Joint:
    return Joint(message.name, message.lower if message.HasField("lower") else -np.inf, message.upper if message.HasField("upper") else np.inf,
                 message.max_speed or np.inf, message.max_effort or np.inf, message.start,
                 message.type != scene_pb2.RobotJoint.PRISMATIC, bool(message.scene_joint))


def _check(message: scene_pb2.Robot) -> None:
    if len(message.links) != len(message.joints) + 1:
        raise SceneFileError(f"robot {message.name!r}: {len(message.links)} links need one joint less, there are {len(message.joints)}")
    for j, joint in enumerate(message.joints):
        if not 0 <= joint.parent <= j:
            raise SceneFileError(f"robot {message.name!r}: joints[{j}].parent: must be a link before {j + 1}, got {joint.parent}")
        leads = 0 <= joint.mimic < len(message.joints) and _moves(message.joints[joint.mimic]) and not message.joints[joint.mimic].HasField("mimic")
        if joint.HasField("mimic") and not leads:
            raise SceneFileError(f"robot {message.name!r}: joints[{j}].mimic: must be a joint that moves and follows none, got {joint.mimic}")


def _link_kinds(message: scene_pb2.Robot) -> list[str]:
    kinds = ["static"]
    for joint in message.joints:
        above = kinds[joint.parent]
        if joint.scene_joint or above == "dynamic":
            kinds.append("dynamic")
        else:
            kinds.append("kinematic" if _moves(joint) else above)
    return kinds


def _size(error: tuple[np.ndarray, np.ndarray], weight: float) -> float:
    return float(np.linalg.norm(np.concatenate([error[0], weight * error[1]])))


def _check_numbers(point: ArrayLike, **numbers: float) -> None:
    if np.shape(point) != (3,) or not np.isfinite(np.asarray(point, dtype=float)).all():
        raise ValueError(f"point must be three finite numbers, got {point!r}")
    for name, value in numbers.items():
        if not (value > 0 if name == "dt" else value >= 0) or np.isinf(value) and not name.startswith("speed"):
            raise ValueError(f"{name} must be a number {'>' if name == 'dt' else '>='} 0, got {value}")


def _limited(vector: np.ndarray, most: float) -> np.ndarray:
    size = float(np.linalg.norm(vector))
    return vector if size <= most else vector * (most / size)


def _between(times: Sequence[float], points: Sequence[np.ndarray], interpolation: Interpolation, t: float) -> np.ndarray:
    if t <= times[0]:
        return points[0]
    if t >= times[-1]:
        return points[-1]
    i = int(np.searchsorted(times, t, side="right")) - 1
    s = interpolation.ease((t - times[i]) / (times[i + 1] - times[i]))
    return np.asarray((1 - s) * points[i] + s * points[i + 1])
