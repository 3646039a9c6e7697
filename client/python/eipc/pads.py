"""Sensors that see a soft pad from behind: markers on its membrane, and a depth image of it.

They are made of the surface positions that an observation brings (`Observe(surface_positions=True)`), at the rate of the steps that
ask for them. Everything is in the *pad's frame*: its origin on or near the membrane, x along the columns of the grid, y up, z out of the
pad, towards what it touches. The frame moves rigidly with its mount, the frame that a drive moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np
from numpy.typing import ArrayLike

from .camera import Camera
from .client import BodyTopology
from .geometry import Pose

# Points this far outside a triangle, in its own coordinates, still lie on it: those on a shared edge round to either side.
_OUTSIDE = 1e-9
_NEAREST_M = 1e-6  # what is nearer to a pad's camera is not seen


@dataclass(frozen=True)
class PadCamera:
    """A pinhole behind the membrane, on the pad's axis, `distance_m` from its origin, with z as optical axis. Square pixels."""

    distance_m: float = 0.03
    width: int = 80
    height: int = 60
    vertical_fov_deg: float = 40.0

    def __post_init__(self) -> None:
        if not (self.distance_m > 0 and self.width > 0 and self.height > 0 and 0 < self.vertical_fov_deg < 180):
            raise ValueError(f"a pad's camera needs a distance > 0, a size > 0 and an angle between 0 and 180 degrees, got {self}")

    def rays(self) -> np.ndarray:
        """Directions through the pixel centres in the pad's frame, [h,w,3], with z = 1: depth times ray is a point from the eye."""
        x = (np.arange(self.width) + 0.5 - 0.5 * self.width) / self._focal()
        y = (0.5 * self.height - np.arange(self.height) - 0.5) / self._focal()
        grid = np.broadcast_arrays(x[None, :], y[:, None], 1.0)
        return np.stack(grid, axis=2)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Points [n,3] of the pad's frame to pixel x, pixel y (downwards) and depth along z from the eye, m: [n,3]."""
        depth = points[:, 2] + self.distance_m
        scale = self._focal() / np.maximum(depth, 1e-9)
        return np.stack([0.5 * self.width + points[:, 0] * scale, 0.5 * self.height - points[:, 1] * scale, depth], axis=1)

    def _focal(self) -> float:
        return 0.5 * self.height / np.tan(np.radians(0.5 * self.vertical_fov_deg))


class Pad:
    """The membrane of a body: the triangles that face z where the scene starts.

    topology: of the body (`Scene.topology()`), at the start. frame: of the pad, in the world, at the start. mount: pose at the start of
    what carries the pad (`Observation.boundary_poses`); without it the pad's frame stays where it is. rows, columns, spacing_m: of the
    marker grid around the frame's origin. Raises ValueError where a marker has no membrane under it.
    """

    def __init__(self, topology: BodyTopology, frame: Pose, mount: Optional[Pose] = None, rows: int = 7, columns: int = 9,
                 spacing_m: float = 2.4e-3) -> None:
        if not (rows > 0 and columns > 0 and spacing_m > 0):
            raise ValueError(f"a marker grid needs rows, columns and a spacing > 0, got {rows} x {columns} at {spacing_m} m")
        self._frame, self._mount = frame, mount
        rest = frame.inverse().apply(topology.positions)
        corners = rest[topology.triangles]
        facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 0
        self.triangles = np.asarray(topology.triangles)[facing]
        x = (np.arange(columns) - 0.5 * (columns - 1)) * spacing_m
        y = (0.5 * (rows - 1) - np.arange(rows)) * spacing_m
        self._vertices, self._weights = _find(np.stack(np.meshgrid(x, y), axis=2).reshape(-1, 2), rest, self.triangles)
        self._shape = (rows, columns, 3)
        # Markers where the scene starts, [rows, columns, 3] m.
        self.rest_markers = self._markers(rest)

    def __repr__(self) -> str:
        return f"Pad({len(self.triangles)} triangles, {self._shape[0]} x {self._shape[1]} markers)"

    def frame(self, mount: Optional[Pose] = None) -> Pose:
        """The pad's frame in the world, where the mount has moved to."""
        if (mount is None) != (self._mount is None):
            raise ValueError("give the mount's present pose exactly where the pad was made with its pose at the start")
        return self._frame if mount is None or self._mount is None else mount @ self._mount.inverse() @ self._frame

    def markers(self, surface: ArrayLike, mount: Optional[Pose] = None) -> np.ndarray:
        """Where the markers are, [rows, columns, 3] m. surface: present positions of the body's surface, [n,3], world."""
        return self._markers(self.frame(mount).inverse().apply(surface))

    def depth(self, surface: ArrayLike, mount: Optional[Pose] = None, camera: PadCamera = PadCamera()) -> np.ndarray:
        """Distance of the membrane from the camera along z, [height, width] m; infinite where it sees none."""
        points = self.frame(mount).inverse().apply(surface) + [0.0, 0.0, camera.distance_m]
        # A camera's y points down.
        pinhole = Camera(Pose(), camera.width, camera.height, np.radians(camera.vertical_fov_deg), near_m=_NEAREST_M)
        return pinhole.depth([(points * [1.0, -1.0, 1.0], self.triangles)])

    def _markers(self, points: np.ndarray) -> np.ndarray:
        return np.einsum("mc,mcd->md", self._weights, points[self._vertices]).reshape(self._shape)


def _find(grid: np.ndarray, rest: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners [m,3] and weights [m,3] of the outermost triangle under each point [m,2] of the plane z = 0."""
    a, b, c = (rest[triangles[:, k]] for k in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    at, weights = np.zeros(len(grid), dtype=int), np.zeros((len(grid), 3))
    for m, (x, y) in enumerate(grid):
        v = ((x - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (y - a[:, 1])) / area
        w = ((b[:, 0] - a[:, 0]) * (y - a[:, 1]) - (x - a[:, 0]) * (b[:, 1] - a[:, 1])) / area
        hit = np.flatnonzero((v >= -_OUTSIDE) & (w >= -_OUTSIDE) & (v + w <= 1 + _OUTSIDE))
        if len(hit) == 0:
            raise ValueError(f"no membrane under the marker at x = {x:.4g} m, y = {y:.4g} m of the pad's frame: its z must point out "
                             "of the surface; move the frame, or make the grid smaller")
        height = a[hit, 2] + v[hit] * (b[hit, 2] - a[hit, 2]) + w[hit] * (c[hit, 2] - a[hit, 2])
        at[m] = hit[np.argmax(height)]
        weights[m] = 1 - v[at[m]] - w[at[m]], v[at[m]], w[at[m]]
    return triangles[at], weights
