"""What is compared of an object in two spaces: how far its surface deflects, and how much of it touches the pads. Both by area, so that neither
depends on where the vertices of the surface are dense."""

from __future__ import annotations

import numpy as np

from solids import Mesh

CUTS = 4  # parts of each side of a triangle: areas are summed over the small triangles between them


def triangle_areas(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def vertex_areas(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """A third of each triangle goes to each of its corners."""
    return np.bincount(triangles.ravel(), np.repeat(triangle_areas(positions, triangles) / 3, 3), len(positions))


def deflection(end: np.ndarray, rest: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Displacement [n,3] from rest after the rigid motion that fits best, by the weights."""
    share = (weights / weights.sum())[:, None]
    a, b = rest - (share * rest).sum(axis=0), end - (share * end).sum(axis=0)
    u, _, vt = np.linalg.svd((share * b).T @ a)
    return b @ (u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt) - a


def mean_square_root(displacement: np.ndarray, weights: np.ndarray) -> float:
    return float(np.sqrt((weights * (displacement**2).sum(axis=1)).sum() / weights.sum()))


def contact_areas(surface: Mesh, pads: list[Mesh], distances: tuple[float, ...]) -> tuple[float, ...]:
    """Area of the surface nearer than each of these distances to a pad, m²: of the parts of its triangles whose middles are."""
    positions, triangles = surface
    corners = positions[triangles]
    parts = np.array(_parts(CUTS))  # weights of the corners, [p,3]
    points = np.einsum("pk,tkx->tpx", parts, corners).reshape(-1, 3)
    area = np.repeat(triangle_areas(positions, triangles) / len(parts), len(parts))
    order = np.argsort(points[:, 1])
    points, area = points[order], area[order]
    nearest = np.full(len(points), np.inf)  # squares, of those that are nearer than the largest distance
    for pad, cells in pads:
        corners = pad[cells]
        lows, highs = corners.min(axis=1) - max(distances), corners.max(axis=1) + max(distances)
        first, last = (np.searchsorted(points[:, 1], bound[:, 1]) for bound in (lows, highs))
        for triangle, low, high, begin, end in zip(corners, lows, highs, first, last):  # only the points between its bounds along y
            here = points[begin:end]
            asked = begin + np.flatnonzero((here[:, ::2] > low[::2]).all(axis=1) & (here[:, ::2] < high[::2]).all(axis=1))
            if len(asked):
                nearest[asked] = np.minimum(nearest[asked], _squared_distance(points[asked], triangle))
    return tuple(float(area[nearest < distance**2].sum()) for distance in distances)


def _parts(cuts: int) -> list[tuple[float, float, float]]:
    """Middles of the cuts² equal parts of a triangle."""
    up = [(i + 1 / 3, j + 1 / 3) for i in range(cuts) for j in range(cuts - i)]
    down = [(i + 2 / 3, j + 2 / 3) for i in range(cuts) for j in range(cuts - i - 1)]
    return [(x / cuts, y / cuts, 1 - (x + y) / cuts) for x, y in up + down]


def _squared_distance(points: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """Of each point from the triangle [3,3]."""
    normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    best, above = np.full(len(points), np.inf), np.ones(len(points), bool)
    for k in range(3):
        edge, away = triangle[(k + 1) % 3] - triangle[k], points - triangle[k]
        along = np.clip(away @ edge / (edge @ edge), 0, 1)
        best = np.minimum(best, ((away - along[:, None] * edge)**2).sum(axis=1))
        above &= away @ np.cross(normal, edge) >= 0
    return np.where(above, ((points - triangle[0]) @ normal)**2 / (normal @ normal), best)
