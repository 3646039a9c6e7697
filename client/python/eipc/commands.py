"""The commands of a step as one vector: what an episode keeps as the action where no other is given."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from .drives import DriveMotion
from .geometry import Pose

_POSE = ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")


def command_form(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """What decides over the names of command_vector(): equal forms have equal names. It is found faster than they are."""
    return (*(tuple(options.get(kind) or ()) for kind in ("targets", "trajectories")),
            *(tuple((key, motion.mode) for key, motion in (options.get(kind) or {}).items()) for kind in ("drives", "joints")))


def command_vector(options: Mapping[str, Any], duration_s: float) -> tuple[list[str], np.ndarray]:
    """Names and values of what the arguments of a step command for its end: seven numbers a pose, one a drive.

    options: of Session.step; its targets, trajectories, drives and joints count, in this order, each in the order of their keys.
    """
    names: list[str] = []
    values: list[float] = []
    poses = [*_in_order(options.get("targets")),
             *((name, trajectory.at(duration_s)) for name, trajectory in _in_order(options.get("trajectories")))]
    for name, pose in poses:
        names += [f"{name}/{part}" for part in _POSE]
        values += _numbers(pose)
    for name, motion in _in_order(options.get("drives")):
        names.append(f"{name}/{motion.mode.name.lower()}")
        values.append(_value_at(motion, duration_s))
    for name, motion in _in_order(options.get("joints")):
        names.append(f"joint:{name}/{motion.mode.name.lower()}")
        values.append(_value_at(motion, duration_s))
    return names, np.array(values)


def _in_order(commands: Any) -> list[tuple[str, Any]]:
    named = {key if isinstance(key, str) else "/".join(part for part in key if part): value for key, value in (commands or {}).items()}
    return sorted(named.items())


def _numbers(pose: Pose) -> list[float]:
    return [*pose.position.tolist(), *pose.orientation.tolist()]


def _value_at(motion: DriveMotion, time_s: float) -> float:
    """As the server interpolates, and as Trajectory.at does for poses."""
    times, values = np.asarray(motion.times_s, dtype=float), np.asarray(motion.values, dtype=float)
    if time_s <= times[0]:
        return float(values[0])
    if time_s >= times[-1]:
        return float(values[-1])
    i = int(np.searchsorted(times, time_s, side="right")) - 1
    s = motion.interpolation.ease((time_s - times[i]) / (times[i + 1] - times[i]))
    return float((1 - s) * values[i] + s * values[i + 1])
