"""Triangles to pixels: a z-buffer that keeps, for every pixel, the nearest triangle and the place on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..shown import brief


@brief
@dataclass(frozen=True, eq=False)
class Fragments:
    """Per pixel: triangle [h,w] int32 (-1: none), screen-space barycentric weights [h,w,3], depth [h,w] (infinite: none)."""

    triangle: np.ndarray
    weights: np.ndarray
    depth: np.ndarray


def rasterize(screen: np.ndarray, triangles: np.ndarray, width: int, height: int, perspective: bool,
              want_weights: bool = True) -> Fragments:
    """Draws triangles [m,3] whose vertices `screen` [n,3] hold pixel x, pixel y and depth (> 0 with perspective).

    With perspective, depth varies as 1/d over the screen (weights stay screen-space); else linearly. Triangles with a
    vertex at or behind the eye are left out.
    """
    nearest = np.full((height, width), np.inf, dtype=np.float64)
    owner = np.full((height, width), -1, dtype=np.int32)
    weights = np.zeros((height, width, 3), dtype=np.float32) if want_weights else np.zeros((0, 0, 3), np.float32)
    corners = screen[triangles]
    x, y, z = corners[..., 0], corners[..., 1], corners[..., 2]
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    left = np.clip(np.ceil(x.min(1) - 0.5), 0, width).astype(int)
    right = np.clip(np.floor(x.max(1) - 0.5) + 1, 0, width).astype(int)
    top = np.clip(np.ceil(y.min(1) - 0.5), 0, height).astype(int)
    bottom = np.clip(np.floor(y.max(1) - 0.5) + 1, 0, height).astype(int)
    drawn = (np.abs(area) > 1e-12) & (left < right) & (top < bottom)
    if perspective:
        drawn &= z.min(1) > 1e-6
    # Interpolated linearly on the screen: 1/depth with perspective, else depth.
    linear = 1.0 / np.maximum(z, 1e-9) if perspective else z
    for t in np.flatnonzero(drawn):
        window = np.s_[top[t]:bottom[t], left[t]:right[t]]
        px = np.arange(left[t], right[t]) + 0.5
        py = (np.arange(top[t], bottom[t]) + 0.5)[:, None]
        w1 = ((px - x[t, 0]) * (y[t, 2] - y[t, 0]) - (x[t, 2] - x[t, 0]) * (py - y[t, 0])) / area[t]
        w2 = ((x[t, 1] - x[t, 0]) * (py - y[t, 0]) - (px - x[t, 0]) * (y[t, 1] - y[t, 0])) / area[t]
        w0 = 1.0 - w1 - w2
        depth = w0 * linear[t, 0] + w1 * linear[t, 1] + w2 * linear[t, 2]
        if perspective:
            depth = 1.0 / np.maximum(depth, 1e-12)
        hit = (w0 >= 0) & (w1 >= 0) & (w2 >= 0) & (depth < nearest[window])
        if not hit.any():
            continue
        nearest[window][hit] = depth[hit]
        owner[window][hit] = t
        if want_weights:
            weights[window][hit] = np.stack([w0[hit], w1[hit], w2[hit]], axis=1)
    return Fragments(owner, weights, nearest)
