"""Renders triangle meshes over a ground plane: z-buffer, smooth shading, soft shadows, ambient occlusion, supersampling."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Optional, Sequence

import numpy as np

from ..shown import brief
from .camera import Camera
from .lights import Lighting, Occluders, sky_directions, sun_directions
from .normals import corner_normals
from .raster import Fragments, rasterize

Color = tuple[float, float, float]


@brief
@dataclass(frozen=True, eq=False)
class Item:
    """A mesh to draw: vertices [n,3] m, triangles [m,3], colour (sRGB, 0..1; one for all or one a vertex, [n,3]), wire: strength of its
    edges, 0..1."""

    vertices: np.ndarray
    triangles: np.ndarray
    color: Color | np.ndarray
    wire: float = 0.0
    gloss: float = 0.15
    crease_deg: float = 55.0


@dataclass(frozen=True)
class Ground:
    """A plane z = height_m that fades into the background; grid lines every grid_m (0: none)."""

    height_m: float = 0.0
    color: Color = (0.87, 0.87, 0.86)
    grid_m: float = 0.05
    center: tuple[float, float] = (0.0, 0.0)
    fade_m: float = 0.9


@dataclass(eq=False)
class _Surface:
    """Shading inputs of the pixels that show something: points, normals, colours, gloss, all [k,...].

    background: share of the background's colour that shows through, [k].
    """

    pixel: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    color: np.ndarray
    gloss: np.ndarray
    background: np.ndarray


def _joined(surfaces: Sequence[_Surface]) -> _Surface:
    return _Surface(*(np.concatenate([getattr(s, f.name) for s in surfaces]) for f in fields(_Surface)))


def _linear(color: Sequence[float] | np.ndarray) -> np.ndarray:
    return np.asarray(color, dtype=np.float64) ** 2.2


def render(items: Sequence[Item], camera: Camera, width: int = 1000, height: int = 800, ground: Optional[Ground] = None,
           lighting: Lighting = Lighting(), supersampling: int = 2,
           background: tuple[Color, Color] = ((0.90, 0.93, 0.96), (0.985, 0.985, 0.98))) -> np.ndarray:
    """Returns a picture [height,width,3] of uint8 (sRGB). background: colours at the upper and lower edge."""
    w, h = width * supersampling, height * supersampling
    vertices, triangles, owner = _merge(items)
    fragments = rasterize(camera.project(vertices, w, h), triangles, w, h, perspective=True)
    rays = camera.rays(w, h)
    ramp = np.linspace(0, 1, h)[:, None, None]
    image = np.broadcast_to((1 - ramp) * _linear(background[0]) + ramp * _linear(background[1]), (h, w, 3)).copy()

    occluders = Occluders(vertices, triangles, lighting.map_size)
    surfaces = [_mesh_surface(items, owner, vertices, triangles, fragments, camera, w, h)]
    if ground is not None:
        surfaces.append(_ground_surface(ground, camera, rays, fragments, image))
    surface = _joined(surfaces)
    if len(surface.pixel):
        flat = image.reshape(-1, 3)
        shaded = _shade(surface, occluders, lighting, np.asarray(camera.eye, dtype=float))
        flat[surface.pixel] = shaded + surface.background[:, None] * (flat[surface.pixel] - shaded)
    small = image.reshape(height, supersampling, width, supersampling, 3).mean(axis=(1, 3))
    return (255 * np.clip(small, 0, 1) ** (1 / 2.2) + 0.5).astype(np.uint8)


def _merge(items: Sequence[Item]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All meshes as one: vertices, triangles, item index of each triangle."""
    vertices, triangles, owner, first = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0, dtype=int)], 0
    for index, item in enumerate(items):
        vertices.append(np.asarray(item.vertices, dtype=np.float64))
        triangles.append(np.asarray(item.triangles, dtype=np.int64) + first)
        owner.append(np.full(len(item.triangles), index))
        first += len(item.vertices)
    return np.concatenate(vertices), np.concatenate(triangles), np.concatenate(owner)


def _mesh_surface(items: Sequence[Item], owner: np.ndarray, vertices: np.ndarray, triangles: np.ndarray,
                  fragments: Fragments, camera: Camera, width: int, height: int) -> _Surface:
    pixel = np.flatnonzero(fragments.triangle.ravel() >= 0)
    triangle = fragments.triangle.ravel()[pixel]
    screen_weights = fragments.weights.reshape(-1, 3)[pixel].astype(np.float64)
    screen = camera.project(vertices, width, height)[triangles] if len(triangles) else np.zeros((0, 3, 3))
    # Perspective-correct weights: screen-space weights over depth, normalized.
    weights = screen_weights / screen[triangle, :, 2]
    weights /= weights.sum(axis=1, keepdims=True)
    normals_of = np.concatenate([corner_normals(np.asarray(item.vertices, dtype=np.float64), np.asarray(item.triangles),
                                                item.crease_deg) for item in items]) if items else np.zeros((0, 3, 3))
    points = np.einsum("kc,kcd->kd", weights, vertices[triangles[triangle]])
    normals = np.einsum("kc,kcd->kd", weights, normals_of[triangle])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    item = owner[triangle]
    color = np.einsum("kc,kcd->kd", weights, _vertex_colors(items)[triangles[triangle]])
    wire = np.array([i.wire for i in items])[item] if items else np.zeros(0)
    color = color * (1 - wire * _edge_cover(screen, triangle, screen_weights))[:, None]
    gloss = np.array([i.gloss for i in items])[item] if items else np.zeros(0)
    return _Surface(pixel, points, normals, color, gloss, np.zeros(len(pixel)))


def _vertex_colors(items: Sequence[Item]) -> np.ndarray:
    """Linear colours of all items' vertices, [n,3]."""
    colors = [np.broadcast_to(_linear(item.color), (len(item.vertices), 3)) for item in items]
    return np.concatenate(colors) if colors else np.zeros((0, 3))


def _edge_cover(screen: np.ndarray, triangle: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How much of a pixel a mesh edge covers: 1 on the edge, 0 from about 1.6 pixels away."""
    xy = screen[:, :, :2]
    opposite = np.linalg.norm(xy[:, [2, 0, 1]] - xy[:, [1, 2, 0]], axis=2)
    a, b = xy[:, 1] - xy[:, 0], xy[:, 2] - xy[:, 0]
    heights = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])[:, None] / np.maximum(opposite, 1e-9)
    distance = (weights * heights[triangle]).min(axis=1)
    return np.clip(1.6 - distance, 0, 1)


def _ground_surface(ground: Ground, camera: Camera, rays: np.ndarray, fragments: Fragments, image: np.ndarray) -> _Surface:
    eye = np.asarray(camera.eye, dtype=float)
    down = rays[..., 2].ravel()
    with np.errstate(divide="ignore"):
        depth = np.where(down < -1e-9, (ground.height_m - eye[2]) / np.minimum(down, -1e-9), np.inf)
    pixel = np.flatnonzero((depth > 0) & (depth < fragments.depth.ravel()) & np.isfinite(depth))
    points = eye + depth[pixel, None] * rays.reshape(-1, 3)[pixel]
    reach = np.linalg.norm(points[:, :2] - np.asarray(ground.center), axis=1)
    fade = 1 - np.exp(-((reach / ground.fade_m) ** 2))
    keep = fade < 0.999
    pixel, points, fade, depth_kept = pixel[keep], points[keep], fade[keep], depth[pixel[keep]]
    color = np.broadcast_to(_linear(ground.color), points.shape).copy()
    if ground.grid_m > 0:
        # A line is about a pixel and a half wide wherever it is: its width grows with depth.
        half = 1.5 * depth_kept * np.linalg.norm(rays[0, 0] - rays[0, 1])
        offset = np.abs((points[:, :2] / ground.grid_m + 0.5) % 1.0 - 0.5) * ground.grid_m
        line = np.clip(1.2 - offset / half[:, None], 0, 1).max(axis=1)
        color *= (1 - 0.16 * line)[:, None]
    normals = np.broadcast_to(np.array([0.0, 0, 1]), points.shape)
    return _Surface(pixel, points, normals, color, np.zeros(len(pixel)), fade)


def _shade(surface: _Surface, occluders: Occluders, lighting: Lighting, eye: np.ndarray) -> np.ndarray:
    """Linear colours [k,3]: sun (diffuse and a soft highlight), sky weighted by what it can see, a bounce from below."""
    normals, points = surface.normals.astype(np.float32), surface.points.astype(np.float32)
    view = eye.astype(np.float32) - points
    view /= np.linalg.norm(view, axis=1, keepdims=True)
    near = np.flatnonzero(occluders.near(points))

    def lit(direction: np.ndarray) -> np.ndarray:
        """How much light a direction brings, by its angle and what shades the point: [k]."""
        amount = np.clip(normals @ direction.astype(np.float32), 0, 1)
        amount[near] *= occluders.visible(points[near], normals[near], direction)
        return amount

    sun, sky = np.zeros(len(points), np.float32), np.zeros(len(points), np.float32)
    directions = sun_directions(lighting)
    for direction in directions:
        sun += lit(direction) / len(directions)
    for direction in sky_directions(lighting.sky_samples):
        sky += lit(direction) * (2 / lighting.sky_samples)
    towards_sun = np.asarray(lighting.sun, dtype=np.float32) / np.linalg.norm(lighting.sun)
    half = view + towards_sun
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    highlight = np.minimum(3 * sun, 1) * np.clip(np.einsum("ij,ij->i", normals, half), 0, 1) ** 40
    rim = (1 - np.clip(np.einsum("ij,ij->i", normals, view), 0, 1)) ** 4 * sky
    bounce = 0.5 * (1 - normals[:, 2])
    light = (0.78 * sun[:, None] * np.array([1.0, 0.965, 0.91]) + 0.50 * sky[:, None] * np.array([0.93, 0.97, 1.0]) +
             0.13 * bounce[:, None] * np.array([1.0, 0.98, 0.95]))
    return surface.color * light + surface.gloss[:, None] * (0.9 * highlight + 0.35 * rim)[:, None]
