"""Turns what a user has (a scene file, its text, a message) into a Scene message that needs no disk on the server.

Mesh files are resolved here and travel inside the message, as they are on disk: `models/teddy.vtk` relative to the
scene file, `data:drake/teddy.vtk` relative to the `data` folder or the environment variable EIPC_DATA.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator, Optional, Union

from google.protobuf import text_format
from google.protobuf.message import Message
from numpy.typing import ArrayLike
import numpy as np

from . import arrays
from .errors import SceneFileError
from .messages import is_repeated
from .v1 import scene_pb2

SceneSource = Union[str, "os.PathLike[str]", scene_pb2.Scene]
_DATA_PREFIX = "data:"


def load_scene(source: SceneSource, base_dir: Optional[str | os.PathLike[str]] = None,
               data: Optional[str | os.PathLike[str]] = None, inline_meshes: bool = True) -> scene_pb2.Scene:
    """Reads a scene and puts its mesh files into it.

    source: a path to a text proto (str or Path), text proto (a str with a line break or a brace), or a Scene message
    (which is copied, not changed). base_dir: where relative mesh paths start; default: the scene file's folder, else
    the working directory. data: folder of `data:` meshes, default $EIPC_DATA. inline_meshes=False leaves references
    for the server to resolve. Raises SceneFileError.
    """
    scene = scene_pb2.Scene()
    if isinstance(source, scene_pb2.Scene):
        scene.CopyFrom(source)
    elif isinstance(source, str) and ("\n" in source or "{" in source):
        _parse(source, scene, "scene text")
    else:
        path = Path(source)
        _parse(_read(path, "scene").decode("utf-8", errors="replace"), scene, str(path))
        base_dir = path.parent if base_dir is None else base_dir
    if inline_meshes:
        for mesh in _meshes(scene):
            if mesh.WhichOneof("source") == "file":
                _inline(mesh, Path(base_dir if base_dir is not None else "."), data)
    return scene


def mesh_from_arrays(vertices: ArrayLike, cells: ArrayLike, scale: float = 1.0) -> scene_pb2.Mesh:
    """A mesh for a scene built in code: vertices [n,3] m, cells [m,4] tetrahedra or [m,3] triangles."""
    vertices, cells = np.asarray(vertices, dtype=np.float64), np.asarray(cells)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise ValueError(f"vertices must be [n,3], got {vertices.shape}")
    if cells.ndim != 2 or cells.shape[1] not in (3, 4) or not np.issubdtype(cells.dtype, np.integer):
        raise ValueError(f"cells must be integers [m,3] or [m,4], got {cells.dtype} {cells.shape}")
    return scene_pb2.Mesh(
        arrays=scene_pb2.MeshArrays(vertices=arrays.to_message(vertices), cells=arrays.to_message(cells, np.int32)),
        scale=scale)


def _parse(text: str, scene: scene_pb2.Scene, name: str) -> None:
    try:
        text_format.Parse(text, scene)
    except text_format.ParseError as error:
        raise SceneFileError(f"{name}:{error}") from error


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SceneFileError(f"cannot read {what} {path}: {error.strerror}") from error


def _meshes(message: Message) -> Iterator[scene_pb2.Mesh]:
    """Every Mesh below a message, whatever kind of body holds it."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for child in value if is_repeated(field) else [value]:
            if isinstance(child, scene_pb2.Mesh):
                yield child
            elif isinstance(child, Message):
                yield from _meshes(child)


def _inline(mesh: scene_pb2.Mesh, base_dir: Path, data: Optional[str | os.PathLike[str]]) -> None:
    reference = mesh.file
    if reference.startswith(_DATA_PREFIX):
        folder = data if data is not None else os.environ.get("EIPC_DATA")
        if not folder:
            raise SceneFileError(f"mesh {reference} needs the data folder: pass data=... or set EIPC_DATA")
        path = Path(folder) / reference[len(_DATA_PREFIX):]
    else:
        path = base_dir / reference
    contents = scene_pb2.MeshFile(file_name=path.name, data=_read(path, "mesh"))
    mesh.contents.CopyFrom(contents)
