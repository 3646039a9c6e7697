"""A perspective camera in a z-up world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np


@dataclass(frozen=True)
class Camera:
    """eye, target: world, m. vertical_fov_deg: opening angle from the lower to the upper edge of the picture."""

    eye: Sequence[float]
    target: Sequence[float]
    vertical_fov_deg: float = 30.0

    def basis(self) -> np.ndarray:
        """Rows right, up, forward: [3,3]."""
        forward = np.asarray(self.target, dtype=float) - np.asarray(self.eye, dtype=float)
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, forward), forward])

    def project(self, points: np.ndarray, width: int, height: int) -> np.ndarray:
        """World points [n,3] to [n,3]: pixel x, pixel y (downwards), depth along the viewing direction, m."""
        local = (points - np.asarray(self.eye)) @ self.basis().T
        focal = 0.5 * height / np.tan(np.radians(0.5 * self.vertical_fov_deg))
        depth = local[:, 2]
        scale = focal / np.maximum(depth, 1e-9)
        return np.stack([0.5 * width + local[:, 0] * scale, 0.5 * height - local[:, 1] * scale, depth], axis=1)

    def rays(self, width: int, height: int) -> np.ndarray:
        """Directions through the pixel centres, [h,w,3], scaled so that depth 1 is distance 1 along the view."""
        focal = 0.5 * height / np.tan(np.radians(0.5 * self.vertical_fov_deg))
        x = (np.arange(width) + 0.5 - 0.5 * width) / focal
        y = (0.5 * height - np.arange(height) - 0.5) / focal
        right, up, forward = self.basis()
        return x[None, :, None] * right + y[:, None, None] * up + forward
