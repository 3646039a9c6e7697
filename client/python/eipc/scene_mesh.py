"""The tetrahedra of cages that travel in a scene: inline arrays, and legacy VTK text, which `eipc cage` writes."""

from __future__ import annotations

from typing import Optional

import numpy as np

from . import arrays
from .v1 import scene_pb2


def cage_tets(body: scene_pb2.Body, scene: scene_pb2.Scene) -> Optional[np.ndarray]:
    """Tetrahedra [t,4] of an embedded body's authored cage, or of a full-space body, in its nodes as observations number them: vertices
    that no tetrahedron uses are left out. None where the scene does not say: another kind of body, a cage that the server makes, another
    format."""
    kind = body.WhichOneof("kind")
    if kind == "full_space":
        mesh = body.full_space.mesh
    elif kind == "embedded" and body.embedded.WhichOneof("cage") == "cage_mesh":
        mesh = body.embedded.cage_mesh
    else:
        return None
    tets = _tets(mesh, scene)
    if tets is None or len(tets) == 0 or tets.min() < 0:
        return None
    return np.unique(tets, return_inverse=True)[1].reshape(tets.shape)


def _tets(mesh: scene_pb2.Mesh, scene: scene_pb2.Scene) -> Optional[np.ndarray]:
    source = mesh.WhichOneof("source")
    if source == "arrays":
        cells = arrays.to_numpy(mesh.arrays.cells)
        return cells.astype(np.int64) if cells.ndim == 2 and cells.shape[1] == 4 else None
    if source == "contents":
        return _tets_of_file(mesh.contents)
    if source == "shared_file" and mesh.shared_file < len(scene.shared_files):
        return _tets_of_file(scene.shared_files[mesh.shared_file])
    return None  # a file of the server's


def _tets_of_file(file: scene_pb2.MeshFile) -> Optional[np.ndarray]:
    if not file.file_name.lower().endswith(".vtk"):
        return None
    try:
        return _tets_of_vtk(file.data)
    except ValueError:  # binary, or a later version of the format: not for this reader
        return None


def _tets_of_vtk(data: bytes) -> np.ndarray:
    """Tetrahedra (cells of type 10) of an unstructured grid in text. Raises ValueError for anything else."""
    lines = data.split(b"\n", 4)
    if len(lines) < 5 or not lines[0].lower().startswith(b"# vtk datafile") or lines[2].strip().upper() != b"ASCII":
        raise ValueError("not a legacy VTK file in text")
    words = lines[4].split()
    begin = words.index(b"CELLS")
    count, size = int(words[begin + 1]), int(words[begin + 2])
    numbers = np.array(words[begin + 3:begin + 3 + size], dtype=np.int64)
    types = np.array(words[words.index(b"CELL_TYPES") + 2:][:count], dtype=np.int64)
    if len(numbers) != size or len(types) != count:
        raise ValueError("the file is cut short")
    tets, at = [], 0
    for kind in types:
        length = int(numbers[at])
        if kind == 10 and length == 4:
            tets.append(numbers[at + 1:at + 5])
        at += length + 1
    return np.array(tets, dtype=np.int64).reshape(-1, 4)
