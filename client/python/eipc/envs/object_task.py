"""Lift any object: two soft pads as far apart as it is narrow, at the height of its centre of mass."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np

from ..client import BodyTopology, Client
from ..errors import SceneFileError
from ..geometry import Pose, quaternion_from_rpy
from ..scene_source import load_scene, mesh_from_arrays
from ..v1 import scene_pb2
from .grasp_task import GraspTask
from .gripper import Gripper
from .scene_files import model_file
from .task import Timing

# The bubble of models/generated/bubble.vtk: half its height, its depth, and the widest object between two of them, m.
_PAD_HALF_HEIGHT, _PAD_DEPTH, _OPENING = 0.0415, 0.037, 0.13
_CLEARANCE = 0.01  # between a pad's tip and the object at the start
_GAP = 0.9e-3  # below the object at the start
_PRESS = 0.45  # of its depth that a pad can be pressed in
_BOX = np.array([[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7],
                 [1, 7, 5]], dtype=np.int32)


@dataclass(frozen=True)
class _Placed:
    """An object as it lies: turned about z so that the pads meet its narrowest side, its centre of mass at x = 0 at the
    height z of the pads, its middle at y = 0, on a plinth of this height (0: none)."""

    pose: Pose
    low: np.ndarray
    high: np.ndarray
    z: float
    plinth: float

    @property
    def width(self) -> float:
        return float(self.high[1] - self.low[1])


def lift_object(client: Client, mesh: Union[None, str, "os.PathLike[str]"] = None, mesh_scale: float = 1.0, cage_vertices: int = 40,
                gripper_scale: float = 1.0, density_kg_m3: float = 500.0, youngs_modulus_pa: float = 2e5,
                friction: float = 1.0) -> GraspTask:
    """mesh: a file of any format that the server reads, with z up; default a bottle. mesh_scale: metres per unit of it.
    The server makes surface and cage. Raises SceneFileError, EipcError for a mesh that is none, ValueError for an object
    too large or too small for the pads."""
    body = _prepared(client, Path(mesh) if mesh is not None else model_file("generated/bottle.obj"), cage_vertices, mesh_scale)
    body.material.CopyFrom(scene_pb2.Material(density_kg_m3=density_kg_m3, youngs_modulus_pa=youngs_modulus_pa, poissons_ratio=0.45))
    placed = _place(*_measure(client, body), gripper_scale)
    message, poses = _scene(body, placed, gripper_scale, friction)
    pressed = _CLEARANCE + _PRESS * _PAD_DEPTH * gripper_scale
    gripper = Gripper.of([(name, "finger") for name in poses], list(poses.values()), low=[0, -0.04, -0.04, 0],
                         high=[pressed, 0.04, 0.04, 0.16], speed=[0.06, 0.06, 0.06, 0.1])
    bodies = client.validate_scene(message).bodies
    return GraspTask(message, "object", gripper, Timing(0.02, 2, 10, 100), bodies, spread=(0.008, 0.006, 0.010))


def _prepared(client: Client, path: Path, cage_vertices: int, scale: float) -> scene_pb2.Body:
    if not path.is_file():
        raise SceneFileError(f"{path}: no such mesh file")
    operation = client.start_prepare_mesh(client.upload_mesh(path).reference, cage_vertices, scale)
    body = scene_pb2.Body(name="object")
    body.embedded.CopyFrom(operation.prepared().body)
    operation.delete()
    return body


def _measure(client: Client, body: scene_pb2.Body) -> tuple[BodyTopology, np.ndarray]:
    """Surface and centre of mass [3] m in the mesh's frame."""
    alone = client.create_scene(scene_pb2.Scene(bodies=[body]))
    topology = alone.topology()[body.name]
    alone.delete()
    return topology, alone.bodies[body.name].center_of_mass


def _place(surface: BodyTopology, center: np.ndarray, scale: float) -> _Placed:
    """Raises ValueError when the pads cannot hold it."""
    angles = np.arange(36) * np.pi / 36
    across = surface.positions[:, :2] @ np.stack([-np.sin(angles), np.cos(angles)])
    widths = across.max(axis=0) - across.min(axis=0)
    angle = float(angles[int(np.argmin(np.where(angles == 0, 0.98, 1) * widths))])
    turn = Pose.from_rpy([0, 0, 0], [0, 0, -angle])
    points, center = turn.apply(surface.positions), turn.apply(center)
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = high[1] - low[1], high[2] - low[2]
    if width > _OPENING * scale:
        raise ValueError(f"the object is {width:.3g} m wide at its narrowest, and the pads open {_OPENING * scale:.3g} m: give gripper_scale "
                         f"{np.ceil(10 * width / _OPENING) / 10:.2g}, or mesh_scale if the size is wrong")
    if width < 0.05 * _PAD_DEPTH * scale or height < 0.1 * _PAD_HALF_HEIGHT * scale:
        raise ValueError(f"the object is {width:.3g} m wide and {height:.3g} m high, too small for pads that are "
                         f"{2 * _PAD_HALF_HEIGHT * scale:.3g} m high: give a smaller gripper_scale, or mesh_scale if the size is wrong")
    rest = center[2] - low[2] + _GAP
    z = max(rest, _PAD_HALF_HEIGHT * scale + 0.003)
    shift = np.array([-center[0], -(low[1] + high[1]) / 2, z - center[2]])
    return _Placed(Pose(shift, turn.orientation), low + shift, high + shift, z, z - rest)


def _scene(body: scene_pb2.Body, placed: _Placed, scale: float, friction: float) -> tuple[scene_pb2.Scene, dict[str, Pose]]:
    """The scene and where the pads' frames are."""
    message = load_scene(_pads(scale), base_dir=model_file("generated/bubble.vtk").parent)
    body.pose.CopyFrom(placed.pose.to_message())
    message.bodies.insert(0, body)
    y = placed.width / 2 + _PAD_DEPTH * scale + _CLEARANCE
    poses = {f"bubble_{name}": Pose(np.array([0, side * y, placed.z]), quaternion_from_rpy([-side * np.pi / 2, np.pi, 0]))
             for name, side in (("left", -1), ("right", 1))}
    for pad in message.bodies[1:]:
        pad.pose.CopyFrom(poses[pad.name].to_message())
    message.bodies.append(_block("ground", [-0.5, -0.5, -0.1], [0.5, 0.5, 0]))
    if placed.plinth > 0:  # a ridge, too narrow for the pads to meet it before they meet the object
        half = 0.2 * placed.width
        message.bodies.append(_block("plinth", [placed.low[0], -half, 1e-3], [placed.high[0], half, placed.plinth]))
    message.contact.barrier_form, message.contact.pair_stiffness_n_m = scene_pb2.ContactSettings.PER_PAIR, 1e4
    message.contact.friction_coefficient = friction
    return message, poses


def _pads(scale: float) -> str:
    reach, thin = 0.1 * scale, 0.0005 * scale
    return "display_name: 'lift'" + "".join(f"""
bodies {{
  name: "bubble_{name}"
  full_space {{ mesh {{ file: "bubble.vtk" scale: {scale} }} }}
  material {{ density_kg_m3: 10 youngs_modulus_pa: 1e4 poissons_ratio: 0.45 }}
  boundary_sets {{
    name: "finger"
    box {{ min_m {{ x: {-reach} y: {-reach} z: {-thin} }} max_m {{ x: {reach} y: {reach} z: {thin} }} }}
  }}
}}""" for name in ("left", "right"))


def _block(name: str, low: Any, high: Any) -> scene_pb2.Body:
    corners = np.array([[(high if i >> axis & 1 else low)[axis] for axis in range(3)] for i in range(8)], dtype=np.float64)
    block = scene_pb2.Body(name=name)
    block.static_body.surface.CopyFrom(mesh_from_arrays(corners, _BOX))
    return block
