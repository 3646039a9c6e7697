"""Writes a recorded episode as an MCAP file that Foxglove plays, and Rerun reads (docs/howto/datasets.md lists the topics)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO, Iterator, Union

import numpy as np

from ..durable import write_durably
from ..episode import Episode
from .foxglove_schemas import FLOAT32, descriptor_set, message_class
from .mcap_file import McapWriter

_WORLD = "world"
_COLORS = ((0.80, 0.62, 0.42), (0.45, 0.62, 0.80), (0.45, 0.62, 0.80), (0.62, 0.75, 0.52), (0.76, 0.52, 0.60))
_STILL = (0.70, 0.70, 0.72)
_ARROW = (0.85, 0.20, 0.15)
_M_PER_N = 0.01  # length of a force's arrow
_LEAST_N = 0.01  # no arrow for less


def write_mcap(path: Union[str, "os.PathLike[str]"], episode: Episode, every: int = 1, start_ns: int = 0) -> None:
    """Writes one episode; the file is whole or absent.

    every: keeps one in this many observations, the first and the last in any case. start_ns: what the scene's time 0 is called, ns
    since 1970; by default times are simulated ones.
    """
    if every < 1:
        raise ValueError(f"every is {every}; it is at least 1")
    write_durably(Path(path), lambda file: _Recording(file, episode, start_ns).write(every))


class _Recording:
    """The topics of one file."""

    def __init__(self, file: BinaryIO, episode: Episode, start_ns: int) -> None:
        self._episode, self._start_ns = episode, start_ns
        self._mcap = McapWriter(file)
        types = descriptor_set()
        proto = {name: self._mcap.schema(f"foxglove.{name}", "protobuf", types) for name in ("FrameTransforms", "SceneUpdate", "PointCloud")}
        self._transforms = self._mcap.channel("/tf", proto["FrameTransforms"], "protobuf")
        self._scene = self._mcap.channel("/scene", proto["SceneUpdate"], "protobuf")
        self._moving = [body for body in episode.bodies if episode.cage(body).shape[1]]
        self._clouds = {body: self._mcap.channel(f"/surface/{body}", proto["PointCloud"], "protobuf") for body in self._moving}
        figures = self._mcap.schema("eipc.Figures", "jsonschema", json.dumps(_schema_of(next(self._figures([0])))).encode())
        self._numbers = self._mcap.channel("/figures", figures, "json")

    def write(self, every: int) -> None:
        samples = sorted({*range(0, self._episode.steps + 1, every), self._episode.steps})
        for sample, figures in zip(samples, self._figures(samples)):
            time_ns = self._start_ns + round(1e9 * float(self._episode["time_s"][sample]))
            self._mcap.message(self._transforms, time_ns, self._frames(sample, time_ns))
            self._mcap.message(self._scene, time_ns, self._surfaces(sample, time_ns, with_still=sample == samples[0]))
            for body, channel in self._clouds.items():
                self._mcap.message(channel, time_ns, self._cloud(body, sample, time_ns))
            self._mcap.message(self._numbers, time_ns, json.dumps(figures).encode())
        one = self._episode
        facts = {"scene": one.scene_name, "build": one.build, "task": one.task, "file": one.path.name, "steps": str(one.steps),
                 "seed": "" if one.seed is None else str(one.seed), "success": "" if one.success is None else str(one.success).lower()}
        self._mcap.metadata("eipc.episode", facts)
        self._mcap.close()

    def _frames(self, sample: int, time_ns: int) -> bytes:
        """The frames of bodies and of what drives them, in the world."""
        one, message = self._episode, message_class("FrameTransforms")()
        placed = [*zip(one.bodies, one["position_m"][sample], one["orientation_wxyz"][sample])]
        names = ["/".join(part for part in frame if part) + "/driven" for frame in one["frame_names"].tolist()]
        placed += zip(names, one["frame_position_m"][sample], one["frame_orientation_wxyz"][sample])
        for name, position, orientation in placed:
            frame = message.transforms.add(parent_frame_id=_WORLD, child_frame_id=name)
            _set_time(frame.timestamp, time_ns)
            _set_vector(frame.translation, position)
            _set_quaternion(frame.rotation, orientation)
        return bytes(message.SerializeToString())

    def _surfaces(self, sample: int, time_ns: int, with_still: bool) -> bytes:
        """Surfaces as triangles, and an arrow for the net contact force on each body that moves."""
        one, message = self._episode, message_class("SceneUpdate")()
        for body in one.bodies if with_still else self._moving:
            entity = message.entities.add(id=body, frame_id=_WORLD)
            _set_time(entity.timestamp, time_ns)
            mesh = entity.triangles.add()
            mesh.pose.orientation.w = 1.0
            for point in one.surface(body, sample).tolist():
                mesh.points.add(x=point[0], y=point[1], z=point[2])
            mesh.indices.extend(one.scene.topology[body].triangles.reshape(-1).tolist())
            _set_color(mesh.color, self._color(body))
        arrows = message.entities.add(id="contact forces", frame_id=_WORLD)
        _set_time(arrows.timestamp, time_ns)
        for body in self._moving:
            force = self._force_on(body)[sample]
            size = float(np.linalg.norm(force))
            if size >= _LEAST_N:
                length = _M_PER_N * size
                arrow = arrows.arrows.add(shaft_length=0.8 * length, shaft_diameter=0.004, head_length=0.2 * length, head_diameter=0.008)
                _set_vector(arrow.pose.position, one["position_m"][sample, one.bodies.index(body)])
                _set_quaternion(arrow.pose.orientation, _turning_x_to(force / size))
                _set_color(arrow.color, _ARROW)
        return bytes(message.SerializeToString())

    def _cloud(self, body: str, sample: int, time_ns: int) -> bytes:
        """The vertices of a surface, for viewers without triangles."""
        message = message_class("PointCloud")(frame_id=_WORLD, point_stride=12)
        _set_time(message.timestamp, time_ns)
        message.pose.orientation.w = 1.0
        for k, axis in enumerate("xyz"):
            message.fields.add(name=axis, offset=4 * k, type=FLOAT32)
        message.data = self._episode.surface(body, sample).astype("<f4").tobytes()
        return bytes(message.SerializeToString())

    def _figures(self, samples: list[int]) -> Iterator[dict[str, Any]]:
        """What is plotted over time. Actions and rewards are of the step that led there, and zero at the start."""
        one = self._episode
        names = [name.replace("/", ".") for name in one.action_names] or [f"action_{k}" for k in range(one["action"].shape[1])]
        forces = {body: self._force_on(body) for body in self._moving}
        for sample in samples:
            taken = sample > 0
            gap = float(one["min_distance_m"][sample])
            yield {
                "step": int(one["step"][sample]), "time_s": float(one["time_s"][sample]),
                "min_distance_m": gap if np.isfinite(gap) else None,
                "contacts": {"point_triangle": int(one["contacts"][sample, 0]), "edge_edge": int(one["contacts"][sample, 1])},
                "force_n": {body: dict(zip("xyz", force[sample].tolist())) for body, force in forces.items()},
                "newton_iterations": int(one["receipt_newton_iterations"][sample - 1]) if taken else 0,
                "reward": float(one["reward"][sample - 1]) if taken else 0.0,
                "action": {name: float(one["action"][sample - 1, k]) if taken else 0.0 for k, name in enumerate(names)},
                "state_digest": one["state_digest"][sample].decode(),
            }

    def _force_on(self, body: str) -> np.ndarray:
        """[T+1,3] N, of all contacts on a body."""
        one = self._episode
        columns = [k for k, pair in enumerate(one["wrench_pairs"].tolist()) if pair[0] == body]
        return np.asarray((one["normal_force_n"] + one["friction_force_n"])[:, columns].sum(axis=1))

    def _color(self, body: str) -> tuple[float, float, float]:
        return _COLORS[self._moving.index(body) % len(_COLORS)] if body in self._moving else _STILL


def _schema_of(value: Any) -> dict[str, Any]:
    """A JSON schema of values like this one."""
    if isinstance(value, dict):
        return {"type": "object", "properties": {name: _schema_of(part) for name, part in value.items()}}
    if isinstance(value, str):
        return {"type": "string"}
    return {"type": "integer" if isinstance(value, int) else ["number", "null"]}


def _turning_x_to(direction: np.ndarray) -> np.ndarray:
    """The quaternion w x y z of the shortest turn of the x axis, along which arrows lie, into a unit vector."""
    w = 1.0 + direction[0]
    if w < 1e-9:
        return np.array([0.0, 0.0, 0.0, 1.0])
    quaternion = np.array([w, 0.0, -direction[2], direction[1]])
    return np.asarray(quaternion / np.linalg.norm(quaternion))


def _set_time(message: Any, time_ns: int) -> None:
    message.seconds, message.nanos = divmod(time_ns, 1_000_000_000)


def _set_vector(message: Any, vector: np.ndarray) -> None:
    message.x, message.y, message.z = vector.tolist()


def _set_quaternion(message: Any, wxyz: np.ndarray) -> None:
    message.w, message.x, message.y, message.z = wxyz.tolist()


def _set_color(message: Any, rgb: tuple[float, float, float]) -> None:
    message.r, message.g, message.b, message.a = *rgb, 1.0
