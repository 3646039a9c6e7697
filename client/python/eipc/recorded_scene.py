"""The scene of recorded episodes: one file that the episodes of a folder share, named by the scene's hash."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from .client import BodyInfo, BodyTopology
from .durable import write_durably
from .embedding import Embedding, find_embedding
from .errors import EpisodeError
from .observation import Observe
from .v1 import scene_pb2

if TYPE_CHECKING:
    from .client import Client, Scene

_FORMAT = 1
_INFO = ("kind", "mass_kg", "cage_vertices", "cage_tets", "surface_vertices", "surface_triangles")


@dataclass(frozen=True, eq=False)
class RecordedScene:
    """name: "scenes/{hash}". message: the scene as it was sent. topology: surfaces at the scene's start. embeddings: how surfaces follow
    their cages, of the bodies where that is known; surfaces of the other bodies that move are kept in the episodes."""

    name: str
    display_name: str
    message: scene_pb2.Scene
    bodies: Mapping[str, BodyInfo]
    topology: Mapping[str, BodyTopology]
    embeddings: Mapping[str, Embedding]

    def __repr__(self) -> str:
        return f"RecordedScene({self.name}, {len(self.bodies)} bodies)"

    @classmethod
    def load(cls, path: Path) -> "RecordedScene":
        """Raises EpisodeError."""
        stored = read_arrays(path, "scene", _FORMAT)
        meta = json.loads(str(stored["meta"]))
        bodies, topology, embeddings = {}, {}, {}
        for b, body in enumerate(meta["bodies"]):
            name = body["name"]
            bodies[name] = BodyInfo(name=name, center_of_mass=stored[f"center_of_mass_{b}"],
                                    boundary_sets=tuple(body["boundary_sets"]), **{key: body[key] for key in _INFO})
            topology[name] = BodyTopology(stored[f"triangles_{b}"], stored[f"surface_{b}"])
            if f"nodes_{b}" in stored:
                embeddings[name] = Embedding(stored[f"nodes_{b}"], stored[f"weights_{b}"])
        message = scene_pb2.Scene.FromString(stored["message"].tobytes())
        return cls(meta["name"], meta["display_name"], message, bodies, topology, embeddings)

    def write(self, path: Path) -> None:
        arrays: dict[str, Any] = {"message": np.frombuffer(self.message.SerializeToString(deterministic=True), dtype=np.uint8)}
        bodies = []
        for b, (name, info) in enumerate(self.bodies.items()):
            bodies.append({"name": name, "boundary_sets": list(info.boundary_sets), **{key: getattr(info, key) for key in _INFO}})
            arrays[f"center_of_mass_{b}"] = info.center_of_mass
            arrays[f"triangles_{b}"], arrays[f"surface_{b}"] = self.topology[name].triangles, self.topology[name].positions
            if name in self.embeddings:
                arrays[f"nodes_{b}"], arrays[f"weights_{b}"] = self.embeddings[name].nodes, self.embeddings[name].weights
        meta = {"format": _FORMAT, "what": "scene", "name": self.name, "display_name": self.display_name, "bodies": bodies}
        write_durably(path, lambda file: np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays))

    @classmethod
    def of(cls, scene: "Scene") -> "RecordedScene":
        """Finds how surfaces follow cages from the scene's start, for which it makes a session for a moment."""
        with scene.create_session() as session:
            start = session.state(Observe(poses=False, cage_positions=True, surface_positions=True, solver_report=False))
        embeddings = {}
        for body in scene.message.bodies:
            seen = start.bodies[body.name]
            assert seen.cage_positions is not None and seen.surface_positions is not None  # asked for above
            embedding = find_embedding(body, scene.message, seen.cage_positions, seen.surface_positions)
            if embedding is not None:
                embeddings[body.name] = embedding
        return cls(scene.name, scene.summary.display_name, scene.message, scene.bodies, scene.topology(), embeddings)

    def surfaces_kept(self) -> frozenset[str]:
        """Bodies that move and whose surfaces cannot be made from their cages."""
        return frozenset(name for name, body in self.bodies.items() if body.cage_vertices and name not in self.embeddings)


def scene_path(folder: Path, name: str) -> Path:
    return folder / f"scene_{name.rpartition('/')[2]}.npz"


def scene_of_folder(folder: Path, client: "Client", name: str) -> RecordedScene:
    """The scene's file of the folder, written now when there is none."""
    path = scene_path(folder, name)
    if not path.exists():
        RecordedScene.of(client.get_scene(name)).write(path)
    return RecordedScene.load(path)


def read_arrays(path: Path, what: str, known_format: int) -> dict[str, np.ndarray]:
    """All arrays of a file of ours; their checksums are checked. Raises EpisodeError that names the file and what is wrong."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(str(arrays["meta"]))
    except FileNotFoundError:
        raise EpisodeError(f"{path}: there is no such file" + _hint(what)) from None
    except Exception as error:  # zipfile, zlib, NumPy and JSON each have their own for a damaged file
        raise EpisodeError(f"{path}: is no {what} file of a recorder, or it is damaged ({error})") from error
    if not isinstance(meta, dict) or meta.get("what") != what:
        raise EpisodeError(f"{path}: is no {what} file of a recorder")
    if meta.get("format") != known_format:
        raise EpisodeError(f"{path}: is of format {meta.get('format')}, this version reads {known_format}; use the version that wrote it")
    return arrays


def _hint(what: str) -> str:
    return "; an episode needs the scene's file that was written beside it" if what == "scene" else ""
