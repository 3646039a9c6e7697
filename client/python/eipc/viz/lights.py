"""Light from a soft sun and an overcast sky, both sums of directions with a shadow map each.

Averaging shadow maps over the sun's disc gives soft shadows, over the hemisphere ambient occlusion. Look-ups are
jittered by a few texels, so that the maps' outlines blur into each other; supersampling averages the noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .raster import rasterize


_JITTER_TEXELS = 5.0


@dataclass(frozen=True)
class Lighting:
    """sun: direction towards it. sun_radius_deg: half angle of its disc. *_samples: shadow maps for each."""

    sun: tuple[float, float, float] = (-0.6, 0.5, 0.95)
    sun_radius_deg: float = 5.0
    sun_samples: int = 16
    sky_samples: int = 32
    map_size: int = 420


def _frame(direction: np.ndarray) -> np.ndarray:
    """Rows: two tangents and the unit direction."""
    d = direction / np.linalg.norm(direction)
    helper = np.array([1.0, 0, 0]) if abs(d[0]) < 0.7 else np.array([0, 1.0, 0])
    a = np.cross(d, helper)
    a /= np.linalg.norm(a)
    return np.stack([a, np.cross(d, a), d])


def sun_directions(lighting: Lighting) -> np.ndarray:
    """Points spread over the sun's disc (sunflower spiral), unit directions [k,3]."""
    a, b, d = _frame(np.asarray(lighting.sun, dtype=float))
    i = np.arange(lighting.sun_samples)
    radius = np.tan(np.radians(lighting.sun_radius_deg)) * np.sqrt((i + 0.5) / lighting.sun_samples)
    angle = i * np.pi * (3 - np.sqrt(5))
    directions = d + (radius * np.cos(angle))[:, None] * a + (radius * np.sin(angle))[:, None] * b
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def sky_directions(samples: int) -> np.ndarray:
    """Directions [k,3] over the upper hemisphere, equal solid angles (Fibonacci spiral)."""
    i = np.arange(samples)
    z = (i + 0.5) / samples
    angle = i * np.pi * (3 - np.sqrt(5))
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


class Occluders:
    """Triangles that cast shadows."""

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, map_size: int) -> None:
        self._vertices, self._triangles, self._size = vertices, triangles, map_size
        self._center = 0.5 * (vertices.min(0) + vertices.max(0)) if len(vertices) else np.zeros(3)
        self._radius = float(np.linalg.norm(vertices - self._center, axis=1).max()) * 1.02 if len(vertices) else 0.0
        self._random = np.random.default_rng(0)  # the same picture every time

    def __repr__(self) -> str:
        return f"Occluders({len(self._triangles)} triangles)"

    def near(self, points: np.ndarray) -> np.ndarray:
        """Whether points [k,3] are close enough to be shaded noticeably: [k] bool."""
        return np.sum((points - self._center) ** 2, axis=1) < (4 * self._radius) ** 2

    def visible(self, points: np.ndarray, normals: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Whether light from `direction` reaches points [k,3] (moved off their surface by about a texel): [k] bool."""
        frame = _frame(direction)
        texel = 2 * self._radius / self._size
        local = (self._vertices - self._center) @ frame.T
        # Depth grows away from the light.
        screen = np.stack([local[:, 0] / texel + 0.5 * self._size, local[:, 1] / texel + 0.5 * self._size,
                           self._radius - local[:, 2]], axis=1)
        depth = rasterize(screen, self._triangles, self._size, self._size, perspective=False, want_weights=False).depth
        # A border of free sky, so that every look-up falls somewhere.
        border = np.pad(depth, 1, constant_values=np.inf).astype(np.float32)
        jitter = _JITTER_TEXELS * (self._random.random((2, len(points)), dtype=np.float32) - 0.5)
        # The texels that a jittered look-up can hit lie this much deeper or shallower on a tilted surface.
        facing = np.abs(normals @ frame[2].astype(np.float32))
        lift = (1.0 + 0.5 * _JITTER_TEXELS * np.sqrt(np.clip(1 - facing * facing, 0, 1))) * np.float32(texel)
        p = (points - self._center.astype(np.float32)) @ frame.T.astype(np.float32)
        q = normals @ frame.T.astype(np.float32)
        column = ((p[:, 0] + lift * q[:, 0]) / texel + jitter[0] + 0.5 * self._size + 1).astype(np.int32)
        row = ((p[:, 1] + lift * q[:, 1]) / texel + jitter[1] + 0.5 * self._size + 1).astype(np.int32)
        np.clip(column, 0, self._size + 1, out=column)
        np.clip(row, 0, self._size + 1, out=row)
        return (self._radius - p[:, 2] - lift * q[:, 2]) < border[row, column] + 0.5 * texel
