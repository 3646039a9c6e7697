"""Surfaces from cages: x = J q, each surface vertex a weighted sum of at most four nodes (docs/concepts/theory.md, eq. 14).

The server observes both sides of this map but does not send the map itself. It is found again from the cage's tetrahedra, where the
scene carries them, by the rule of `sim/mesh/embedding.cc`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from .scene_mesh import cage_tets
from .shown import brief
from .v1 import scene_pb2

# A vertex on the boundary of the cage may round to its outside; this share of a tetrahedron's height is forgiven.
_OUTSIDE = 1e-9


@brief
@dataclass(frozen=True, eq=False)
class Embedding:
    """Surface vertex i is sum_k weights[i,k] * cage[nodes[i,k]]. nodes [n,4] int32, weights [n,4]; rows of weights sum to 1."""

    nodes: np.ndarray
    weights: np.ndarray

    def surface(self, cage: np.ndarray) -> np.ndarray:
        """Surface positions [...,n,3] of cage positions [...,m,3]."""
        out = self.weights[:, 0, None] * cage[..., self.nodes[:, 0], :]
        for k in range(1, 4):
            out += self.weights[:, k, None] * cage[..., self.nodes[:, k], :]
        return out


def find_embedding(body: scene_pb2.Body, scene: scene_pb2.Scene, cage: np.ndarray, surface: np.ndarray) -> Optional[Embedding]:
    """The map from a body's cage positions [m,3] to its surface positions [n,3], both at the scene's start.

    None where it cannot be known: the body does not move, or the server made its cage, or the cage is a file that
    eipc.scene_mesh does not read.
    """
    if len(cage) == 0:
        return None
    row = _rows_of_nodes(cage, surface)
    if (row >= 0).all():  # of the body's own tetrahedra
        return Embedding(np.stack([row] * 4, axis=1).astype(np.int32), np.tile([1.0, 0.0, 0.0, 0.0], (len(row), 1)))
    tets = np.array([[0, 1, 2, 3]]) if len(cage) == 4 else cage_tets(body, scene)
    if tets is None or tets.size == 0 or tets.max() >= len(cage):
        return None
    return _locate(cage, tets, surface, row)


def _rows_of_nodes(cage: np.ndarray, surface: np.ndarray) -> np.ndarray:
    """The first node at the place of each surface vertex, -1 where there is none."""
    first: dict[bytes, int] = {}
    for node, place in enumerate(np.ascontiguousarray(cage) + 0.0):  # one zero, not two
        first.setdefault(place.tobytes(), node)
    return np.array([first.get(place.tobytes(), -1) for place in np.ascontiguousarray(surface) + 0.0], dtype=np.int64)


def _locate(cage: np.ndarray, tets: np.ndarray, surface: np.ndarray, row: np.ndarray) -> Optional[Embedding]:
    """Each vertex in the tetrahedron in which it lies deepest, the first of equals. None: one lies outside of all."""
    corners = cage[tets]
    inverse = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
    low, high = corners.min(axis=1), corners.max(axis=1)
    margin = _OUTSIDE * (high - low)
    low, high = low - margin, high + margin
    order = np.argsort(surface[:, 0], kind="stable")
    along = surface[order, 0]
    begins, ends = np.searchsorted(along, low[:, 0], "left"), np.searchsorted(along, high[:, 0], "right")
    best = np.full(len(surface), -np.inf)
    nodes = np.zeros((len(surface), 4), dtype=np.int32)
    weights = np.zeros((len(surface), 4))
    for t, tet in enumerate(tets):
        near = order[begins[t]:ends[t]]
        near = near[((surface[near] >= low[t]) & (surface[near] <= high[t])).all(axis=1)]
        if len(near) == 0:
            continue
        offset = surface[near] - corners[t, 0]
        part = offset @ inverse[t].T
        part += (offset - part @ (corners[t, 1:] - corners[t, 0])) @ inverse[t].T  # one step of refinement
        w = np.concatenate([1 - part.sum(axis=1, keepdims=True), part], axis=1)
        depth = w.min(axis=1)
        deeper = depth > best[near]
        best[near[deeper]], nodes[near[deeper]], weights[near[deeper]] = depth[deeper], tet, w[deeper]
    at_node = row >= 0
    nodes[at_node], weights[at_node] = row[at_node, None], (1.0, 0.0, 0.0, 0.0)
    if not (best[~at_node] >= -_OUTSIDE).all():
        return None
    return Embedding(nodes, weights)
