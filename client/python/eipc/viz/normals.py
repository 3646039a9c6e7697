"""Normals for smooth shading that keeps sharp edges sharp."""

from __future__ import annotations

import numpy as np


def corner_normals(vertices: np.ndarray, triangles: np.ndarray, crease_deg: float) -> np.ndarray:
    """Unit normals [m,3,3] of the corners of triangles [m,3].

    A corner averages, by area, the faces around its vertex that bend less than `crease_deg` from its own face.
    """
    corners = vertices[triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = face / np.maximum(np.linalg.norm(face, axis=1, keepdims=True), 1e-300)
    # All pairs (corner, face around the same vertex), from the corners sorted by vertex.
    vertex = triangles.ravel()
    order = np.argsort(vertex, kind="stable")
    count = np.bincount(vertex, minlength=len(vertices))
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    repeats = count[vertex]
    corner = np.repeat(np.arange(len(vertex)), repeats)
    within = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    neighbour = order[np.repeat(first[vertex], repeats) + within] // 3
    smooth = np.einsum("ij,ij->i", unit[corner // 3], unit[neighbour]) > np.cos(np.radians(crease_deg))
    total = np.zeros((len(vertex), 3))
    np.add.at(total, corner[smooth], face[neighbour[smooth]])
    total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return total.reshape(-1, 3, 3)
