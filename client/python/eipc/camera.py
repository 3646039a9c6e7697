"""What a camera sees of a session: depth, which body each pixel shows, and shaded colours, from the surfaces of an observation.

    camera = Camera.look_at([0.5, -0.5, 0.4], [0, 0, 0.1], width=160, height=120, fov_y_rad=0.8)
    view = camera.see(scene.topology(), session.step(H, observe=eipc.Observe(surface_positions=True)))

Pictures are computed where the client runs (eipc.cameras has those of the server), one ray through the centre of each pixel, exactly: the depth of a flat triangle is that of its
plane to rounding. The camera's frame has x to the right, y down and z forward, as in computer vision; u and v of a pixel count from the
left and from the top, its centre at (u + 0.5, v + 0.5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterator, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .geometry import Pose
from .shown import brief

if TYPE_CHECKING:
    from .client import BodyTopology
    from .observation import Observation

_PAIRS_AT_ONCE = 1 << 20  # of a triangle and a pixel
_PALETTE = np.array([[0.85, 0.60, 0.35], [0.35, 0.60, 0.85], [0.55, 0.75, 0.40], [0.80, 0.45, 0.55], [0.60, 0.50, 0.80], [0.75, 0.75, 0.45],
                     [0.45, 0.75, 0.75], [0.70, 0.70, 0.70]])


@brief
@dataclass(frozen=True, eq=False)
class View:
    """What a camera sees. Pixels that show nothing have depth inf, segment -1 and the background's colour."""

    depth: np.ndarray  # [h, w] m along the camera's z
    segment: np.ndarray  # [h, w] int32: index in `bodies`
    colour: np.ndarray  # [h, w, 3] uint8
    bodies: tuple[str, ...]

    def shows(self, body: str) -> np.ndarray:
        """[h, w] bool: the pixels of a body."""
        return np.asarray(self.segment == self.bodies.index(body))


@brief
@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera. pose: of its frame in the world. fov_y_rad: the angle between the upper and the lower edge; pixels are square."""

    pose: Pose
    width: int = 160
    height: int = 120
    fov_y_rad: float = 0.8
    near_m: float = 1e-3
    far_m: float = np.inf
    # Shading: the share of light from everywhere; the rest comes from the camera. The colours of bodies, in their order, and of nothing.
    ambient: float = 0.3
    palette: np.ndarray = field(default_factory=lambda: _PALETTE)
    background: Sequence[float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1 or self.width * self.height > 1 << 24:
            raise ValueError(f"a picture needs 1 to {1 << 24} pixels, got {self.width} x {self.height}")
        if not 0 < self.fov_y_rad < np.pi:
            raise ValueError(f"fov_y_rad must be in (0, pi), got {self.fov_y_rad}")
        if not 0 < self.near_m < self.far_m:
            raise ValueError(f"needs 0 < near_m < far_m, got {self.near_m} and {self.far_m}")

    @classmethod
    def look_at(cls, position: ArrayLike, target: ArrayLike, up: ArrayLike = (0.0, 0.0, 1.0), **settings: float) -> "Camera":
        """From a position towards a target; `up` is where the picture's upper edge is. settings: the other fields."""
        eye, to = np.asarray(position, dtype=float), np.asarray(target, dtype=float)
        forward = to - eye
        right = np.cross(forward, np.asarray(up, dtype=float))
        if not (np.linalg.norm(forward) > 0 and np.linalg.norm(right) > 1e-9 * np.linalg.norm(forward)):
            raise ValueError("the target must be away from the position, and not straight up or down from it")
        forward, right = forward / np.linalg.norm(forward), right / np.linalg.norm(right)
        axes = np.stack([right, np.cross(forward, right), forward], axis=1)
        return cls(Pose(eye, _quaternion(axes)), **settings)  # type: ignore[arg-type]

    @property
    def focal_px(self) -> float:
        return float(0.5 * self.height / np.tan(0.5 * self.fov_y_rad))

    def rays(self) -> np.ndarray:
        """[h, w, 3] directions in the world through the centres of the pixels, with a z of 1 in the camera's frame."""
        u, v = np.meshgrid(np.arange(self.width) + 0.5, np.arange(self.height) + 0.5)
        x, y = (u - 0.5 * self.width) / self.focal_px, (v - 0.5 * self.height) / self.focal_px
        return np.stack([x, y, np.ones_like(x)], axis=-1) @ self.pose.rotation_matrix().T

    def points(self, view: View) -> np.ndarray:
        """[n, 3] the points of the world that are seen, row by row."""
        seen = np.isfinite(view.depth)
        return np.asarray(self.pose.position + view.depth[seen][:, None] * self.rays()[seen])

    def see(self, topology: Mapping[str, BodyTopology], observation: Optional[Observation] = None,
            bodies: Optional[Sequence[str]] = None) -> View:
        """The view of these bodies (default: all). Where the observation has no surface positions of a body, it is seen as the scene
        placed it: static bodies are."""
        names = tuple(topology) if bodies is None else tuple(bodies)
        for name in names:
            if name not in topology:
                raise ValueError(f"no body {name!r}; there are: {', '.join(topology)}")
        meshes = []
        for name in names:
            seen = observation.bodies.get(name) if observation is not None else None
            positions = seen.surface_positions if seen is not None and seen.surface_positions is not None else topology[name].positions
            meshes.append((np.asarray(positions, dtype=float), topology[name].triangles))
        corners, owner = self._triangles(meshes)
        return self._shaded(corners, owner, names)

    def depth(self, meshes: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """[h, w] m along the camera's z to what it sees of meshes: positions [n,3] in the world and triangles [m,3]. inf where it sees none."""
        return self._nearest(self._triangles(meshes)[0])[0]

    def _triangles(self, meshes: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """[n, 3, 3] corners in the camera's frame, nothing nearer than near_m, and the mesh of each."""
        inverse = self.pose.inverse()
        corners = [inverse.apply(positions)[triangles] for positions, triangles in meshes]
        owner = np.repeat(np.arange(len(meshes)), [len(c) for c in corners])
        all_corners = np.concatenate(corners) if corners else np.zeros((0, 3, 3))
        return _clipped(all_corners, owner, self.near_m)

    def _shaded(self, corners: np.ndarray, owner: np.ndarray, names: tuple[str, ...]) -> View:
        depth, triangle = self._nearest(corners)
        seen = triangle >= 0
        colour = np.tile(np.asarray(self.background, dtype=float), (self.height, self.width, 1))
        segment = np.full(depth.shape, -1, dtype=np.int32)
        if seen.any():
            chosen = corners[triangle[seen]]
            segment[seen] = owner[triangle[seen]]
            normal = np.cross(chosen[:, 1] - chosen[:, 0], chosen[:, 2] - chosen[:, 0])
            u, v = np.nonzero(seen)[1] + 0.5, np.nonzero(seen)[0] + 0.5
            ray = np.stack([(u - 0.5 * self.width) / self.focal_px, (v - 0.5 * self.height) / self.focal_px, np.ones_like(u)], axis=1)
            cosine = np.abs(np.einsum("ij,ij->i", normal, ray)) / (np.linalg.norm(normal, axis=1) * np.linalg.norm(ray, axis=1) + 1e-300)
            light = self.ambient + (1 - self.ambient) * cosine
            colour[seen] = light[:, None] * np.asarray(self.palette)[segment[seen] % len(self.palette)]
        return View(depth, segment, np.round(255 * np.clip(colour, 0, 1)).astype(np.uint8), names)

    def _nearest(self, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Depth and triangle of every pixel, of equal depths the first triangle's."""
        depth = np.full(self.width * self.height, np.inf)
        triangle = np.full(depth.shape, -1, dtype=np.int64)
        for index, pixel, z in self._hits(corners):
            order = np.lexsort((index, z, pixel))
            first = np.concatenate([[True], np.diff(pixel[order]) > 0]) if len(order) else np.zeros(0, dtype=bool)
            best = order[first]
            nearer = z[best] < depth[pixel[best]]
            best = best[nearer]
            depth[pixel[best]] = z[best]
            triangle[pixel[best]] = index[best]
        return depth.reshape(self.height, self.width), triangle.reshape(self.height, self.width)

    def _hits(self, corners: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Triangles, pixels and depths where the ray of a pixel meets a triangle, in portions."""
        flat = self.focal_px * corners[:, :, :2] / corners[:, :, 2:] + 0.5 * np.array([self.width, self.height])
        size = np.array([self.width, self.height])
        low = np.clip(np.ceil(flat.min(axis=1) - 0.5), 0, size).astype(np.int64)
        high = np.clip(np.floor(flat.max(axis=1) - 0.5) + 1, 0, size).astype(np.int64)
        extent = np.maximum(high - low, 0)
        pairs = extent[:, 0] * extent[:, 1]
        used = np.nonzero(pairs)[0]
        end = np.cumsum(pairs[used])
        start = 0
        while start < len(used):
            before = end[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(end, before + _PAIRS_AT_ONCE, side="right")))
            yield self._portion(corners, flat, low, extent, used[start:stop])
            start = stop

    def _portion(self, corners: np.ndarray, flat: np.ndarray, low: np.ndarray, extent: np.ndarray,
                 chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts = extent[chosen, 0] * extent[chosen, 1]
        index = np.repeat(chosen, counts)
        local = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
        u = low[index, 0] + local % extent[index, 0]
        v = low[index, 1] + local // extent[index, 0]
        point = np.stack([u + 0.5, v + 0.5], axis=1)
        a, b, c = flat[index, 0], flat[index, 1], flat[index, 2]
        area = _cross(b - a, c - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.stack([_cross(b - point, c - point), _cross(c - point, a - point), _cross(a - point, b - point)], axis=1) / area[:, None]
            # Along a plane 1 / z is linear in the picture.
            z = 1 / np.einsum("ij,ij->i", weights, 1 / corners[index, :, 2])
        inside = (weights >= 0).all(axis=1) & np.isfinite(z) & (z >= self.near_m * (1 - 1e-12)) & (z <= self.far_m)
        return index[inside], (v * self.width + u)[inside], z[inside]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _clipped(corners: np.ndarray, owner: np.ndarray, near: float) -> tuple[np.ndarray, np.ndarray]:
    """Triangles cut at z = near: what is in front of it."""
    front = corners[:, :, 2] >= near
    whole = front.all(axis=1)
    made, owners = [corners[whole]], [owner[whole]]
    for t in np.nonzero(front.any(axis=1) & ~whole)[0]:
        polygon = []
        for k in range(3):
            p, q = corners[t, k], corners[t, (k + 1) % 3]
            if p[2] >= near:
                polygon.append(p)
            if (p[2] >= near) != (q[2] >= near):
                polygon.append(p + (near - p[2]) / (q[2] - p[2]) * (q - p))
        for k in range(1, len(polygon) - 1):
            made.append(np.array([[polygon[0], polygon[k], polygon[k + 1]]]))
            owners.append(owner[t:t + 1])
    return np.concatenate(made), np.concatenate(owners)


def _quaternion(r: np.ndarray) -> np.ndarray:
    """w x y z of a rotation matrix: the eigenvector of Bar-Itzhack's symmetric matrix (2000) for its largest eigenvalue."""
    k = np.array([[r[0, 0] - r[1, 1] - r[2, 2], r[1, 0] + r[0, 1], r[2, 0] + r[0, 2], r[2, 1] - r[1, 2]],
                  [0, r[1, 1] - r[0, 0] - r[2, 2], r[2, 1] + r[1, 2], r[0, 2] - r[2, 0]],
                  [0, 0, r[2, 2] - r[0, 0] - r[1, 1], r[1, 0] - r[0, 1]],
                  [0, 0, 0, r.trace()]]) / 3
    x, y, z, w = np.linalg.eigh(k, UPLO="U")[1][:, -1]
    return np.array([w, x, y, z])
