"""Draws the surfaces of recorded episodes."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from .. import viz
from ..episode import Episode

_COLORS = ((0.80, 0.62, 0.42), (0.45, 0.62, 0.80), (0.45, 0.62, 0.80), (0.62, 0.75, 0.52), (0.76, 0.52, 0.60))
_STILL = (0.70, 0.70, 0.72)
# Many pictures have to be cheap: few shadow maps, and no supersampling.
_LIGHTING = viz.Lighting(sun_samples=2, sky_samples=4, map_size=256)
_FLAT = 1e-3  # a body whose top is no higher, m, is drawn as the ground


def pictures(episode: Episode, camera: viz.Camera, size: tuple[int, int], count: int) -> Iterator[np.ndarray]:
    """[h,w,3] uint8 of the first `count` observations. size: width and height."""
    shown = [body for body in episode.bodies if episode.cage(body).shape[1] or episode.surface(body, 0)[:, 2].max() > _FLAT]
    for sample in range(count):
        items = [viz.Item(episode.surface(body, sample), episode.scene.topology[body].triangles, _color(episode, body)) for body in shown]
        yield viz.render(items, camera, *size, ground=viz.Ground(), lighting=_LIGHTING, supersampling=1)


def default_camera(episode: Episode) -> viz.Camera:
    """A view of what moves, from the side and above."""
    points = np.concatenate([episode.surface(body, 0) for body in episode.bodies if episode.cage(body).shape[1]])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, size = (low + high) / 2, float(np.linalg.norm(high - low))
    return viz.Camera(eye=tuple(middle + size * np.array([1.3, 0.8, 0.7])), target=tuple(middle), vertical_fov_deg=40)


def _color(episode: Episode, body: str) -> tuple[float, float, float]:
    moving = [name for name in episode.bodies if episode.cage(name).shape[1]]
    return _COLORS[moving.index(body) % len(_COLORS)] if body in moving else _STILL
