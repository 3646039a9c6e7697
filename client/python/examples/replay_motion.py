"""Replays the recorded motion of a gripper with FinRay fingers: writes a scene in which they take a block, carry it and set it down where the
recording does.

Usage: replay_motion.py RECORDING.csv SCENE.textproto [FROM_S TO_S]

The recording has the columns t_s, x_m, y_m, z_m, qw, qx, qy, qz and gripper_width_m: poses of a frame between the fingertips, whose z axis
points at what is taken and along whose y axis the fingers close, and their distance. Between rows the fingers move evenly. `eipc run` runs the
scene; its report says of the goals whether the block was lifted and where it was set down.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
from google.protobuf import text_format

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))

import eipc  # noqa: E402
from eipc.envs import model_file  # noqa: E402
from eipc.v1 import scene_pb2  # noqa: E402

COLUMNS = ("t_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "gripper_width_m")
FINGERS = {"finger_left": 1, "finger_right": -1}  # the side of each, along y of the recorded frame
LENGTH_M, REACH_M = 0.1, 0.01  # of a finger, and how far its tip is beyond the recorded frame's origin
THICKER_M = 0.008              # than the gripper's least width: the block bends each finger by half of that
BLOCK_M = (0.04, 0.06)         # its width across the fingers, and its height
FREE_M = 0.0015                # between the block and what it stands on, at the start; and below where it is set down
BOX = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
BOX_TRIANGLES = np.array([[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2],
                          [1, 3, 7], [1, 7, 5]])


class Recording(NamedTuple):
    """A recorded motion: times [n] s from 0, poses, and distances of the fingertips [n] m. It closes in the rows of `closing` and opens in
    those of `opening`: from the last one that is as wide as before to the first one that is as narrow as then, and back."""

    times: np.ndarray
    poses: list[eipc.Pose]
    widths: np.ndarray
    closing: slice
    opening: slice


def read_recording(path: Path, begin_s: float = 0.0, end_s: float = np.inf) -> Recording:
    """The rows of a time span. Raises ValueError where columns or numbers are missing, times do not increase, or the gripper does not
    close once and open again."""
    rows = read_rows(path)
    rows = rows[(rows["t_s"] >= begin_s) & (rows["t_s"] <= end_s)]
    widths = rows["gripper_width_m"]
    narrow = np.flatnonzero(widths < (widths.min() + widths.max()) / 2) if len(rows) else []
    if len(narrow) == 0 or narrow[0] == 0 or narrow[-1] == len(rows) - 1:
        raise ValueError(f"{path}: the gripper must be open, close and open again")
    if len(narrow) != narrow[-1] - narrow[0] + 1:
        again = rows["t_s"][narrow[1:][np.diff(narrow) > 1][0]]
        raise ValueError(f"{path}: the gripper closes again at {again:g} s; name a time span in which it closes once")
    poses = [eipc.Pose([row[name] for name in COLUMNS[1:4]], [row[name] for name in COLUMNS[4:8]]) for row in rows]
    held = np.flatnonzero(widths < widths.min() + 1e-3)
    if held[-1] <= held[0] + 1:
        raise ValueError(f"{path}: the gripper must stay closed for more than two rows")
    return Recording(rows["t_s"] - rows["t_s"][0], poses, widths, slice(narrow[0], held[0] + 1), slice(held[-1], narrow[-1] + 1))


def read_rows(path: Path) -> np.ndarray:
    """All rows, with their columns by name."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or tuple(name.strip() for name in lines[0].split(",")) != COLUMNS:
        raise ValueError(f"{path}: its columns must be {', '.join(COLUMNS)}")
    rows = np.atleast_1d(np.genfromtxt(lines, delimiter=",", names=True))
    for row, values in enumerate(rows.tolist()):
        if not np.isfinite(values).all() or not any(values[4:8]):
            raise ValueError(f"{path}:{row + 2}: must be numbers, and a quaternion that is not zero")
        if row > 0 and not values[0] > rows["t_s"][row - 1]:
            raise ValueError(f"{path}:{row + 2}: its time must be later than that of the row before")
    return rows


def finger_pose(pose: eipc.Pose, width: float, side: int) -> eipc.Pose:
    """Of a finger's mesh frame, which has its origin at the base, points along -z and presses with its +x side."""
    turned = eipc.Pose(orientation=[0, np.sqrt(0.5), -side * np.sqrt(0.5), 0])  # x of the finger is -side y of the recorded frame
    return pose @ eipc.Pose([0, side * width / 2, REACH_M - LENGTH_M]) @ turned


def upright(pose: eipc.Pose) -> eipc.Pose:
    """At the same place, turned about the vertical alone, so that y is across the fingers."""
    across = pose.rotation_matrix()[:, 1]
    return eipc.Pose.from_rpy(pose.position, [0, 0, np.arctan2(-across[0], across[1])])


def box(scene: scene_pb2.Scene, name: str, kind: str, size, at: eipc.Pose) -> scene_pb2.Body:
    body = scene.bodies.add(name=name)
    getattr(body, kind).surface.CopyFrom(eipc.mesh_from_arrays(BOX * np.asarray(size), BOX_TRIANGLES))
    body.pose.CopyFrom(at.to_message())
    return body


def scene_of(recording: Recording, fingers: scene_pb2.Scene) -> scene_pb2.Scene:
    """fingers: a scene that has the bodies finger_left and finger_right with a boundary set each."""
    scene = scene_pb2.Scene(display_name="replay", gravity_m_s2={"z": -9.81})
    for name, side in FINGERS.items():
        body = scene.bodies.add()
        body.CopyFrom(next(body for body in fingers.bodies if body.name == name))
        keys = [finger_pose(pose, width, side).to_message() for pose, width in zip(recording.poses, recording.widths)]
        body.pose.CopyFrom(keys[0])
        body.boundary_sets[0].ClearField("trajectory")
        for time, pose in zip(recording.times, keys):
            body.boundary_sets[0].trajectory.keyframes.add(time_s=time, pose=pose)
    taken, released = recording.poses[recording.closing.stop - 1], recording.poses[recording.opening.start]
    place = upright(taken)
    thickness = recording.widths.min() + THICKER_M
    width, height = BLOCK_M
    block = box(scene, "block", "affine", [width, thickness, height], place)
    block.material.density_kg_m3, block.material.youngs_modulus_pa = 600, 1e7
    lowest = min(pose.position[2] for pose in recording.poses[recording.opening])
    for name, (x, y, _), under in (("stand", place.position, place.position[2]), ("table", released.position, lowest)):
        box(scene, name, "static_body", [0.12, 0.12, 0.02], eipc.Pose([x, y, under - height / 2 - FREE_M - 0.01]))
    scene.contact.dhat_m, scene.contact.friction_coefficient = 1e-3, 0.7
    end = float(recording.times[-1])
    scene.schedule.duration_s, scene.schedule.dt_s = end, 0.02
    _add_goals(scene, recording, lowest - height / 2 - FREE_M + height / 2, released)
    return scene


def _add_goals(scene: scene_pb2.Scene, recording: Recording, rest_m: float, released: eipc.Pose) -> None:
    """The block is carried, and stands where it was released, at rest. rest_m: the height of its centre there."""
    carried = recording.times[[recording.closing.stop, recording.opening.start]]
    scene.schedule.holding.CopyFrom(scene_pb2.HoldingWindow(body="block", start_s=carried[0], end_s=carried[1]))
    placed = scene.goals.add(name="placed", body="block")
    low, high = released.position - 0.01, released.position + 0.01
    low[2], high[2] = rest_m - 0.002, rest_m + 0.002
    for corner, at in ((placed.position.region.min_m, low), (placed.position.region.max_m, high)):
        corner.x, corner.y, corner.z = at
    standing = scene.goals.add(name="standing", body="block")
    standing.direction.axis.z = standing.direction.direction.z = 1
    standing.direction.tolerance_rad = 0.02
    scene.goals.add(name="at_rest", body="block").speed.tolerance_m_s = 0.005


def write_replay(recording: Path, target: Path, begin_s: float = 0.0, end_s: Optional[float] = None) -> scene_pb2.Scene:
    """Writes the scene of a recording, or of a time span of it, and returns it."""
    source = model_file("scenes/finray_plate.textproto")
    fingers = eipc.load_scene(source)
    scene = scene_of(read_recording(recording, begin_s, np.inf if end_s is None else end_s), fingers)
    target.write_text(text_format.MessageToString(scene), encoding="utf-8")
    return scene


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    try:
        write_replay(Path(sys.argv[1]), Path(sys.argv[2]), *map(float, sys.argv[3:]))
    except (OSError, ValueError) as error:
        sys.exit(f"{error}")
