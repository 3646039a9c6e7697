"""Points on an object's surface that move with it, out of the positions of its cage."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ..embedding import Embedding, find_embedding
from ..observation import Observe


class Keypoints:
    """K vertices of a surface, far from each other: each next one is the farthest from those before."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._embedding: Optional[Embedding] = None

    def __repr__(self) -> str:
        return f"Keypoints({self.count})"

    def find(self, worlds: Any, body: str) -> None:
        """Chooses them where world 0 is, which must be at the scene's start. Raises ValueError where surfaces cannot be
        found from cages, as with a cage that the server made."""
        seen = worlds.observe(0, Observe(poses=False, cage_positions=True, surface_positions=True, solver_report=False,
                                         bodies=[body])).bodies[body]
        message = worlds.scene.message
        described = next(b for b in message.bodies if b.name == body)
        whole = find_embedding(described, message, seen.cage_positions, seen.surface_positions)
        if whole is None:
            raise ValueError(f'keypoints need to know how the surface of "{body}" follows its cage, and the scene does not say; '
                             'observe "cage" instead')
        chosen = farthest_points(seen.surface_positions, self.count)
        self._embedding = Embedding(whole.nodes[chosen], whole.weights[chosen])

    def positions(self, cage: np.ndarray) -> np.ndarray:
        """Positions [W,K,3] m of cages [W,n,3] m."""
        assert self._embedding is not None
        return self._embedding.surface(cage)


def farthest_points(points: np.ndarray, count: int) -> np.ndarray:
    """Indices of `count` of the points [n,3], beginning with the one farthest from their mean. Raises ValueError if there are fewer."""
    if count < 1 or count > len(points):
        raise ValueError(f"{count} keypoints of a surface of {len(points)} vertices; ask for 1 to {len(points)}")
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    nearest = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < count:
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return np.array(chosen)
