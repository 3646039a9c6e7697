"""Meshes of tetrahedra cut finer: the solid stays, every tetrahedron becomes eight."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solids import Mesh, upright

EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
# Around each diagonal of the octahedron that the four corners leave (both ends among EDGES), the other four of its vertices in turn.
_DIAGONALS = ((0, 5, (1, 2, 4, 3)), (1, 4, (0, 2, 5, 3)), (2, 3, (0, 1, 5, 4)))


def read_tets(path: Path) -> Mesh:
    """Of a legacy VTK file in ASCII, as eipc-models and solids.write_mesh write it. Raises ValueError where it holds other cells."""
    words = path.read_text().split()
    points, cells = words.index("POINTS"), words.index("CELLS")
    n, m = int(words[points + 1]), int(words[cells + 1])
    vertices = np.array(words[points + 3:points + 3 + 3 * n], float).reshape(n, 3)
    if int(words[cells + 2]) != 5 * m:
        raise ValueError(f"{path.name} has cells that are no tetrahedra")
    return vertices, np.array(words[cells + 3:cells + 3 + 5 * m], int).reshape(m, 5)[:, 1:]


def halved(mesh: Mesh) -> Mesh:
    """Every tetrahedron cut into eight at the middles of its edges, along the shortest diagonal inside; the old vertices come first."""
    vertices, tets = mesh
    ends = np.sort(np.stack([tets[:, edge] for edge in EDGES], axis=1), axis=2)  # [m,6,2]
    unique, index = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
    middle = len(vertices) + index.reshape(-1, 6)
    points = np.concatenate([vertices, vertices[unique].mean(axis=1)])
    of = [[next(e for e, edge in enumerate(EDGES) if set(edge) == {corner, other}) for other in range(4) if other != corner] for corner in range(4)]
    corners = [np.column_stack([tets[:, corner], middle[:, of[corner]]]) for corner in range(4)]
    length = np.stack([np.linalg.norm(points[middle[:, a]] - points[middle[:, b]], axis=1) for a, b, _ in _DIAGONALS])
    shortest = length.argmin(axis=0)
    inner = np.empty((4, len(tets), 4), int)
    for k, (a, b, ring) in enumerate(_DIAGONALS):
        chosen = middle[shortest == k]
        for r in range(4):
            inner[r, shortest == k] = chosen[:, [a, b, ring[r], ring[(r + 1) % 4]]]
    return points, upright(points, np.concatenate([*corners, *inner]))


def refined(mesh: Mesh, times: int) -> Mesh:
    for _ in range(times):
        mesh = halved(mesh)
    return mesh


def boundary(mesh: Mesh) -> Mesh:
    """The faces that one tetrahedron has, outwards, with the vertices that they use in their order."""
    vertices, tets = mesh
    faces = np.concatenate([tets[:, list(face)] for face in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))])
    _, first, times = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    faces = faces[np.sort(first[times == 1])]
    used, index = np.unique(faces, return_inverse=True)
    return vertices[used], index.reshape(-1, 3)


def mean_edge(mesh: Mesh) -> float:
    """Of the boundary, m."""
    vertices, triangles = boundary(mesh)
    edges = np.unique(np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1), axis=0)
    return float(np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1).mean())
