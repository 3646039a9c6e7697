"""Writes a recorded episode as an animated glTF 2.0 file (.glb), for any viewer: surfaces are skins of their cages.

Each node of a cage is a joint that only moves, and a surface vertex has the four weights of its tetrahedron: linear blend skinning then
is the map of theory.md, eq. 14, exactly. Surfaces that an episode stores have one joint a vertex.
"""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any, Optional, Sequence, Union

import numpy as np

from .durable import write_durably
from .embedding import Embedding
from .episode import Episode
from .errors import EpisodeError

_FLOAT, _UNSIGNED_SHORT, _UNSIGNED_INT = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963  # targets of buffer views
_MOST_JOINTS = 1 << 16
# glTF has y up, the world has z up: a quarter turn about x (quaternion x y z w).
_UPRIGHT = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
_COLORS = [(0.80, 0.62, 0.42), (0.35, 0.55, 0.75), (0.75, 0.40, 0.40), (0.45, 0.65, 0.45), (0.65, 0.55, 0.75), (0.75, 0.70, 0.40)]
_STILL = (0.55, 0.55, 0.55)


def write_glb(path: Union[str, "os.PathLike[str]"], episode: Episode, bodies: Optional[Sequence[str]] = None, every: int = 1) -> None:
    """Writes the surfaces of an episode and their motion.

    bodies: names, default all. every: of how many samples one is kept; between samples viewers interpolate linearly. The
    root node turns the world's z axis up; times begin at 0. Raises EpisodeError.
    """
    if every < 1:
        raise EpisodeError(f"every must be at least 1, got {every}")
    file = _File()
    samples = np.unique([*range(0, episode.steps + 1, every), episode.steps])
    chosen = list(bodies if bodies is not None else episode.bodies)
    times = -1
    if any(name in episode.bodies and episode.cage(name).shape[1] for name in chosen):  # else nothing moves
        times = file.accessor((episode["time_s"][samples] - episode["time_s"][0]).astype(np.float32), _FLOAT, "SCALAR", bounds=True)
    root = file.add("nodes", {"name": "world", "rotation": _UPRIGHT, "children": []})
    file.roots.append(root)
    for name in chosen:
        if name not in episode.bodies:
            raise EpisodeError(f"{episode.path.name} has no body {name!r}; it has: {', '.join(episode.bodies)}")
        surface, triangles = episode.surface(name, 0), episode.scene.topology[name].triangles
        color = _COLORS[episode.bodies.index(name) % len(_COLORS)] if episode.cage(name).shape[1] else _STILL
        mesh = {"attributes": {"POSITION": file.accessor(surface.astype(np.float32), _FLOAT, "VEC3", _VERTICES, bounds=True)},
                "indices": file.accessor(triangles.reshape(-1).astype(np.uint32), _UNSIGNED_INT, "SCALAR", _INDICES),
                "material": file.material(name, color)}
        if episode.cage(name).shape[1] == 0:
            file.add_child(root, {"name": name, "mesh": file.add("meshes", {"name": name, "primitives": [mesh]})})
        else:
            _add_skin(file, root, name, mesh, *_joints(episode, name), samples, times)
    if file.channels:
        file.document["animations"] = [{"name": "episode", "samplers": file.samplers, "channels": file.channels}]
    file.write(Path(path), {"scene": episode.scene_name, "seed": episode.seed, "task": episode.task})


def _joints(episode: Episode, body: str) -> tuple[np.ndarray, Embedding]:
    """Positions [T+1,m,3] of the joints of a body, and the weights of its surface in them."""
    if f"surface_{episode.bodies.index(body)}" in episode.arrays:
        moving = episode.surface(body)
        nodes = np.tile(np.arange(moving.shape[1], dtype=np.int32)[:, None], (1, 4))
        return moving, Embedding(nodes, np.tile([1.0, 0.0, 0.0, 0.0], (len(nodes), 1)))
    return episode.cage(body), episode.scene.embeddings[body]


def _add_skin(file: "_File", root: int, name: str, mesh: dict[str, Any], moving: np.ndarray, embedding: Embedding, samples: np.ndarray,
              times: int) -> None:
    """The mesh with its skin, a joint for each moving point, and their motion."""
    count = moving.shape[1]
    if count > _MOST_JOINTS:
        raise EpisodeError(f"'{name}' has {count} moving points; glTF joints are numbered by 16 bits, so at most {_MOST_JOINTS}")
    weights = np.maximum(embedding.weights, 0)  # -1e-12 at most: a vertex on a face
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    nodes = np.where(weights > 0, embedding.nodes, 0)
    mesh["attributes"]["JOINTS_0"] = file.accessor(nodes.astype(np.uint16), _UNSIGNED_SHORT, "VEC4", _VERTICES)
    mesh["attributes"]["WEIGHTS_0"] = file.accessor(weights, _FLOAT, "VEC4", _VERTICES)
    start = moving[0].astype(np.float32)
    inverse = np.tile(np.eye(4, dtype=np.float32), (count, 1, 1))
    inverse[:, 3, :3] = -start  # glTF has matrices by columns
    frame = file.add_child(root, {"name": f"{name} cage", "children": []})
    joints = [file.add_child(frame, {"translation": place.tolist()}) for place in start.astype(float)]
    skin = file.add("skins", {"name": name, "joints": joints, "skeleton": frame,
                              "inverseBindMatrices": file.accessor(inverse.reshape(-1, 16), _FLOAT, "MAT4")})
    file.roots.append(file.add("nodes", {"name": name, "mesh": file.add("meshes", {"name": name, "primitives": [mesh]}), "skin": skin}))
    paths = np.ascontiguousarray(moving[samples].swapaxes(0, 1), dtype=np.float32)
    for joint, output in zip(joints, file.accessors(paths, "VEC3")):
        file.samplers.append({"input": times, "output": output, "interpolation": "LINEAR"})
        file.channels.append({"sampler": len(file.samplers) - 1, "target": {"node": joint, "path": "translation"}})


class _File:
    """A document and its binary buffer while they are put together."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {}
        self.roots: list[int] = []
        self.samplers: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self._buffer = bytearray()

    def add(self, kind: str, value: dict[str, Any]) -> int:
        """Appends to a list of the document; returns the index."""
        self.document.setdefault(kind, []).append(value)
        return len(self.document[kind]) - 1

    def add_child(self, parent: int, node: dict[str, Any]) -> int:
        child = self.add("nodes", node)
        self.document["nodes"][parent]["children"].append(child)
        return child

    def material(self, name: str, color: tuple[float, float, float]) -> int:
        factors = {"baseColorFactor": [*color, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}
        return self.add("materials", {"name": name, "pbrMetallicRoughness": factors, "doubleSided": True})

    def accessor(self, values: np.ndarray, component: int, kind: str, target: Optional[int] = None, bounds: bool = False) -> int:
        accessor = {"bufferView": self._view(values, target), "componentType": component, "count": len(values), "type": kind}
        if bounds:
            columns = values.reshape(len(values), -1).astype(float)
            accessor.update(min=columns.min(axis=0).tolist(), max=columns.max(axis=0).tolist())
        return self.add("accessors", accessor)

    def accessors(self, values: np.ndarray, kind: str) -> list[int]:
        """One for each of values[i], [n,...] float32, in one buffer view."""
        view = self._view(values, None)
        return [self.add("accessors", {"bufferView": view, "byteOffset": i * part.nbytes, "componentType": _FLOAT, "count": len(part),
                                       "type": kind}) for i, part in enumerate(values)]

    def write(self, path: Path, extras: dict[str, Any]) -> None:
        self.document.update(asset={"version": "2.0", "generator": "eipc", "extras": extras}, scene=0, scenes=[{"nodes": self.roots}],
                             buffers=[{"byteLength": len(self._buffer)}])
        text = json.dumps(self.document, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(self._buffer), b"BIN\0") + bytes(self._buffer)
        write_durably(path, lambda file: file.write(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks))

    def _view(self, values: np.ndarray, target: Optional[int]) -> int:
        data = np.ascontiguousarray(values).tobytes()
        view = {"buffer": 0, "byteOffset": len(self._buffer), "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        self._buffer += data + bytes(-len(data) % 4)
        return self.add("bufferViews", view)
