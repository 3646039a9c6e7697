"""Episodes that no server took part in: files as a recorder writes them, with motions and forces that are known."""

import json

import numpy as np

import eipc
from eipc.client import BodyInfo, BodyTopology
from eipc.durable import write_durably
from eipc.embedding import Embedding
from eipc.episode import FORMAT, episode_path
from eipc.episode_columns import ReceiptColumns
from eipc.recorded_scene import RecordedScene, scene_path
from eipc.v1 import observation_pb2, scene_pb2
from puppet_server import BOX_TRIANGLES, box

NAME = "scenes/made"


def made_scene():
    def info(name, cage_vertices):
        return BodyInfo(name, "embedded" if cage_vertices else "static", 1.0, np.zeros(3), cage_vertices, 6, 8, 12, ("finger",))

    surface = box([0, 0, 0.5], [0.1, 0.1, 0.1])
    bodies = {"cube": info("cube", 4), "ground": info("ground", 0)}
    topology = {"cube": BodyTopology(BOX_TRIANGLES, surface), "ground": BodyTopology(BOX_TRIANGLES, box([0, 0, -0.05], [1, 1, 0.1]))}
    return RecordedScene(NAME, "made", scene_pb2.Scene(display_name="made"), bodies, topology, {"cube": _embedding(surface)})


def _cage():
    return np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def _embedding(surface):
    weights = np.concatenate([1 - surface.sum(axis=1, keepdims=True), surface], axis=1)
    return Embedding(np.tile(np.arange(4), (len(surface), 1)), weights)


def made_episode(folder, number=0, steps=10, dt=0.02, task="lift the cube", kept=None, actions=2, **changes):
    """A cube that rises by 1 mm a step, pushed up with 2 N. changes: arrays or entries of `meta`."""
    time = dt * np.arange(steps + 1)
    rise = np.zeros((steps + 1, 2, 3))
    rise[:, 0, 2] = 1e-3 * np.arange(steps + 1)
    still = np.tile([1.0, 0, 0, 0], (steps + 1, 2, 1))
    wrench = np.zeros((steps + 1, 1, 3))
    wrench[1:, 0, 2] = 2.0
    digests = [f"{k:016x}" for k in range(steps + 1)]
    receipts = ReceiptColumns(digests[0])
    for k in range(steps):
        receipts.add(observation_pb2.StepReceipt(first_step=k, step=k + 1, state_digest=digests[k + 1], min_distance_m=1e-3,
                                                 min_ccd_fraction=1.0, newton_iterations=3, outcome=observation_pb2.CONVERGED))
    frames = np.zeros((steps + 1, 1, 3))
    frames[:, 0, 0] = 0.1 * np.arange(steps + 1)
    arrays = {
        "time_s": time, "step": np.arange(steps + 1), "min_distance_m": np.where(time > 0, 1e-3, np.inf), "body_names": np.array(["cube", "ground"]),
        "position_m": rise, "orientation_wxyz": still, "linear_velocity_m_s": np.zeros((steps + 1, 2, 3)),
        "angular_velocity_rad_s": np.zeros((steps + 1, 2, 3)), "cage_0": _cage() + rise[:, :1], "cage_1": np.zeros((steps + 1, 0, 3)),
        "wrench_pairs": np.array([["cube", "ground"]]), "normal_force_n": wrench, "friction_force_n": 0 * wrench,
        "normal_moment_nm": 0 * wrench, "friction_moment_nm": 0 * wrench, "contact_pairs": np.array([["cube", "ground"]]),
        "contacts": np.tile([4, 1], (steps + 1, 1)), "pair_contacts": np.tile([[4, 1]], (steps + 1, 1, 1)),
        "frame_names": np.array([["cube", "finger"]]), "frame_position_m": frames, "frame_orientation_wxyz": still[:, :1],
        "frame_target_position_m": frames, "frame_target_orientation_wxyz": still[:, :1], "frame_error_m": np.zeros((steps + 1, 1)),
        "drive_names": np.empty((0, 2), dtype=str), "drive_mode": np.zeros((steps + 1, 0), dtype=np.int32),
        **{f"drive_{name}": np.zeros((steps + 1, 0)) for name in ("commanded", "position_m", "velocity_m_s", "effort_n", "saturated", "blocked")},
        "action": 0.25 * np.arange(steps * actions).reshape(steps, actions), "reward": 0.1 * np.arange(steps), "done": np.arange(steps) == steps - 1,
        **receipts.arrays(), **{f"kept_{name}": array for name, array in (kept or {}).items()},
    }
    meta = {"format": FORMAT, "what": "episode", "number": number, "seed": 7 + number, "task": task, "scene": NAME, "success": True,
            "build": "made", "action_names": [f"cube/finger/{k}" for k in range(actions)]}
    for name, value in changes.items():
        (meta if name in meta else arrays)[name] = value
    arrays["meta"] = np.array(json.dumps(meta))
    folder.mkdir(parents=True, exist_ok=True)
    if not scene_path(folder, NAME).exists():
        made_scene().write(scene_path(folder, NAME))
    path = episode_path(folder, number)
    write_durably(path, lambda file: np.savez(file, **arrays))
    return eipc.Episode.load(path)
