"""The plane that bodies stand on: a disc below them that shadows fall on, and around it a plane that fades into the background."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .meshes import Mesh

_SECTORS, _RINGS = 96, 32
_FADED = 0.98  # the plane ends where this share of it has faded
_LINE_SHARE = 0.16  # how much a grid line darkens the plane
_JOINT = 0.95  # the plane begins at this share of the disc's radius
_SKIRT, _SKIRT_DEPTH = 1.15, 0.03  # in radii of the disc


@dataclass(frozen=True)
class Plane:
    """height_m, color, grid_m, center and fade_m: as in viz.Ground. middle, radius_m: of the disc, in the plane."""

    height_m: float
    color: tuple[float, float, float]
    grid_m: float
    center: tuple[float, float]
    fade_m: float
    middle: tuple[float, float]
    radius_m: float

    @property
    def reach_m(self) -> float:
        """How far from the disc's middle something is drawn."""
        faded = self.fade_m * float(np.sqrt(-np.log(1 - _FADED)))
        return max(faded + float(np.hypot(*np.subtract(self.middle, self.center))), 2 * _SKIRT * self.radius_m)

    def _opacity(self, points: np.ndarray) -> np.ndarray:
        """1 over the disc and its edge, 0 where the plane ends."""
        reach = np.linalg.norm(points[:, :2] - np.asarray(self.center), axis=1)
        outside = np.linalg.norm(points[:, :2] - np.asarray(self.middle), axis=1) / self.radius_m - _SKIRT
        left = np.clip((np.exp(-((reach / self.fade_m) ** 2)) - (1 - _FADED)) / _FADED, 0, 1)
        return np.asarray(1 - (1 - left) * np.clip(outside, 0, 1))

    def _circles(self, radii: np.ndarray, lift_m: float) -> np.ndarray:
        angle = np.linspace(0, 2 * np.pi, _SECTORS, endpoint=False)
        flat = radii[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points = np.full((len(radii) * _SECTORS, 3), self.height_m + lift_m)
        points[:, :2] = flat.reshape(-1, 2) + np.asarray(self.middle)
        return points

    def disc(self) -> Mesh:
        """What shadows fall on. Its edge bends down, out of sight: the outermost texels of a shadow map are dark."""
        points = self._circles(np.array([0.0, 1.0, _SKIRT]) * self.radius_m, 0.0)
        points[-_SECTORS:, 2] -= _SKIRT_DEPTH * self.radius_m
        return points, _bands(3), np.tile(self.color, (len(points), 1))

    def surroundings(self) -> Mesh:
        """From the disc's edge to where the plane has faded: colours with opacity."""
        points = self._circles(np.geomspace(_JOINT * self.radius_m, self.reach_m, _RINGS), 2e-3 * self.radius_m)
        return points, _bands(_RINGS), np.column_stack([np.tile(self.color, (len(points), 1)), self._opacity(points)])

    def grid(self) -> Mesh:
        """Lines along x and y, in pieces that fade: black with opacity, so that a shadow shows through."""
        count = int(np.ceil(self.reach_m / self.grid_m))
        origin = np.round(np.asarray(self.middle) / self.grid_m)
        at = np.arange(-count, count + 1)
        x, y = np.meshgrid(at + origin[0], at + origin[1], indexing="ij")
        points = np.stack([x * self.grid_m, y * self.grid_m, np.full(x.shape, self.height_m + 4e-3 * self.radius_m)], axis=2).reshape(-1, 3)
        index = np.arange(len(points)).reshape(x.shape)
        ends = np.concatenate([np.stack([index[:-1].ravel(), index[1:].ravel()], axis=1),
                               np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], axis=1)])
        return points, ends, np.column_stack([np.zeros((len(points), 3)), _LINE_SHARE * self._opacity(points)])


def _bands(circles: int) -> np.ndarray:
    """Triangles between neighbouring circles of _SECTORS points each, seen from above counter-clockwise."""
    inner = np.arange((circles - 1) * _SECTORS)
    beside = inner // _SECTORS * _SECTORS + (inner + 1) % _SECTORS
    return np.concatenate([np.stack([inner, inner + _SECTORS, beside], axis=1), np.stack([beside, inner + _SECTORS, beside + _SECTORS], axis=1)])
