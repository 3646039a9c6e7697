"""Small meshes that scenes are made of: closed outward surfaces (vertices [n,3], triangles [m,3]) and tetrahedral grids."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Callable, Sequence

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]  # cells are triangles or tetrahedra


def box(x: float, y: float, z: float) -> Mesh:
    """Around the origin, 12 triangles."""
    vertices = np.array([[(i & 1) - 0.5, (i >> 1 & 1) - 0.5, (i >> 2 & 1) - 0.5] for i in range(8)]) * (x, y, z)
    return vertices, np.array([[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
                               [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]])


def sheet(half: float, cells: int) -> Mesh:
    """Open square at z = 0, normals up."""
    line = np.linspace(-half, half, cells + 1)
    vertices = np.array([[x, y, 0.0] for y in line for x in line])
    m = cells + 1
    corners = [i + m * j for j in range(cells) for i in range(cells)]
    return vertices, np.array([t for a in corners for t in ((a, a + 1, a + m + 1), (a, a + m + 1, a + m))])


def _ears(polygon: np.ndarray) -> list[tuple[int, int, int]]:
    """Triangles of a simple counter-clockwise polygon, by clipping ears."""
    def cross(a: int, b: int, c: int) -> float:
        (ax, ay), (bx, by), (cx, cy) = polygon[a], polygon[b], polygon[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    left, triangles = list(range(len(polygon))), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            inside = any(cross(a, b, p) >= 0 and cross(b, c, p) >= 0 and cross(c, a, p) >= 0 for p in left if p not in (a, b, c))
            if cross(a, b, c) > 0 and not inside:
                triangles.append((a, b, c))
                left.pop(k)
                break
        else:
            raise ValueError("the polygon is not simple or not counter-clockwise")
    return triangles + [tuple(left)]


def prism(polygon: Sequence[tuple[float, float]], depth: float) -> Mesh:
    """A counter-clockwise polygon (x, z), extruded along y by +-depth/2."""
    flat = np.asarray(polygon, float)
    n = len(flat)
    vertices = np.array([[x, y, z] for y in (-depth / 2, depth / 2) for x, z in flat])
    caps = _ears(flat)
    triangles = [(a, b, c) for a, b, c in caps] + [(a + n, c + n, b + n) for a, b, c in caps]
    for i in range(n):
        j = (i + 1) % n
        triangles += [(i, j + n, j), (i, i + n, j + n)]
    return vertices, np.array(triangles)


def lathe(profile: Sequence[tuple[float, float]], segments: int, turn: float = 0.0) -> Mesh:
    """Turns (radius, z) points, from the lower pole to the upper one, about z; both ends lie on the axis (radius 0)."""
    angles = turn + 2 * np.pi * np.arange(segments) / segments
    rings = [[(r * np.cos(a), r * np.sin(a), z) for a in angles] for r, z in profile[1:-1]]
    vertices = [(0, 0, profile[0][1])] + [p for ring in rings for p in ring] + [(0, 0, profile[-1][1])]
    triangles, last = [], len(vertices) - 1
    for i in range(segments):
        j = (i + 1) % segments
        triangles.append((0, 1 + j, 1 + i))
        for k in range(len(rings) - 1):
            a, b = 1 + k * segments, 1 + (k + 1) * segments
            triangles += [(a + i, a + j, b + j), (a + i, b + j, b + i)]
        triangles.append((1 + (len(rings) - 1) * segments + i, 1 + (len(rings) - 1) * segments + j, last))
    return np.array(vertices, float), np.array(triangles)


def sphere(radius: float, segments: int = 10) -> Mesh:
    rings = max(3, segments // 2)
    angles = np.pi * (np.arange(rings + 1) / rings - 0.5)
    return lathe([(0, -radius)] + [(radius * np.cos(a), radius * np.sin(a)) for a in angles[1:-1]] + [(0, radius)], segments)


def cylinder(radius: float, height: float, segments: int = 12) -> Mesh:
    return lathe([(0, -height / 2), (radius, -height / 2), (radius, height / 2), (0, height / 2)], segments)


def voxels(solid: np.ndarray, size: float, thickness: float) -> Mesh:
    """A plate of square columns: solid [nx, ny] says which cells (of side `size`) are filled; centred, `thickness` along z."""
    nx, ny = solid.shape
    index: dict[tuple[int, int, int], int] = {}
    triangles: list[tuple[int, int, int]] = []

    def vertex(i: int, j: int, k: int) -> int:
        return index.setdefault((i, j, k), len(index))

    def quad(a, b, c, d) -> None:
        ids = [vertex(*p) for p in (a, b, c, d)]
        triangles.extend([(ids[0], ids[1], ids[2]), (ids[0], ids[2], ids[3])])

    filled = lambda i, j: 0 <= i < nx and 0 <= j < ny and solid[i, j]  # noqa: E731
    for i, j in itertools.product(range(nx), range(ny)):
        if not solid[i, j]:
            continue
        quad((i, j, 1), (i + 1, j, 1), (i + 1, j + 1, 1), (i, j + 1, 1))
        quad((i, j, 0), (i, j + 1, 0), (i + 1, j + 1, 0), (i + 1, j, 0))
        if not filled(i - 1, j):
            quad((i, j, 0), (i, j, 1), (i, j + 1, 1), (i, j + 1, 0))
        if not filled(i + 1, j):
            quad((i + 1, j, 0), (i + 1, j + 1, 0), (i + 1, j + 1, 1), (i + 1, j, 1))
        if not filled(i, j - 1):
            quad((i, j, 0), (i + 1, j, 0), (i + 1, j, 1), (i, j, 1))
        if not filled(i, j + 1):
            quad((i, j + 1, 0), (i, j + 1, 1), (i + 1, j + 1, 1), (i + 1, j + 1, 0))
    vertices = np.array([((i - nx / 2) * size, (j - ny / 2) * size, (k - 0.5) * thickness) for i, j, k in index])
    return vertices, np.array(triangles)


def thread_radius(core: float, depth: float, pitch: float, offset: float = 0.0) -> Callable[[float, float], float]:
    """Radius of a triangular right-handed thread at (angle, z)."""
    def radius(angle: float, z: float) -> float:
        phase = (z / pitch - angle / (2 * np.pi)) % 1.0
        return core + offset + depth * (1 - abs(2 * phase - 1))
    return radius


def threaded_rod(radius: Callable[[float, float], float], low: float, high: float, segments: int, rows: int) -> Mesh:
    """A rod along z whose skin follows `radius`."""
    heights = np.linspace(low, high, rows + 1)
    angles = 2 * np.pi * np.arange(segments) / segments
    rings = [[(radius(a, z) * np.cos(a), radius(a, z) * np.sin(a), z) for a in angles] for z in heights]
    vertices = [(0, 0, low)] + [p for ring in rings for p in ring] + [(0, 0, high)]
    triangles, last = [], len(vertices) - 1
    for i in range(segments):
        j = (i + 1) % segments
        triangles += [(0, 1 + j, 1 + i), (1 + rows * segments + i, 1 + rows * segments + j, last)]
        for k in range(rows):
            a, b = 1 + k * segments, 1 + (k + 1) * segments
            triangles += [(a + i, a + j, b + j), (a + i, b + j, b + i)]
    return np.array(vertices, float), np.array(triangles)


def threaded_nut(radius: Callable[[float, float], float], outer: float, low: float, high: float, segments: int, rows: int) -> Mesh:
    """A ring along z whose hole follows `radius` and whose outside is a cylinder."""
    heights = np.linspace(low, high, rows + 1)
    angles = 2 * np.pi * np.arange(segments) / segments
    inner = [[(radius(a, z) * np.cos(a), radius(a, z) * np.sin(a), z) for a in angles] for z in heights]
    skin = [[(outer * np.cos(a), outer * np.sin(a), z) for a in angles] for z in (low, high)]
    vertices = np.array([p for ring in inner + skin for p in ring], float)
    bottom, top = (rows + 1) * segments, (rows + 2) * segments
    triangles = []
    for i in range(segments):
        j = (i + 1) % segments
        for k in range(rows):
            a, b = k * segments, (k + 1) * segments
            triangles += [(a + i, b + j, a + j), (a + i, b + i, b + j)]
        triangles += [(bottom + i, bottom + j, top + j), (bottom + i, top + j, top + i)]
        triangles += [(i, j, bottom + j), (i, bottom + j, bottom + i)]
        last = rows * segments
        triangles += [(last + i, top + j, last + j), (last + i, top + i, top + j)]
    return vertices, np.array(triangles)


def tet_grid(x: float, y: float, z: float, cells: tuple[int, int, int]) -> Mesh:
    """A box around the origin of cells[0] x cells[1] x cells[2] bricks, each of six tetrahedra around its diagonal."""
    mx, my, mz = (n + 1 for n in cells)
    grid = [np.linspace(-size / 2, size / 2, n + 1) for size, n in zip((x, y, z), cells)]
    vertices = np.array([[a, b, c] for c in grid[2] for b in grid[1] for a in grid[0]])
    stride = (1, mx, mx * my)
    tets = []
    for k, j, i in itertools.product(range(cells[2]), range(cells[1]), range(cells[0])):
        for axes in itertools.permutations(range(3)):
            path = list(itertools.accumulate((i + mx * (j + my * k), *(stride[a] for a in axes))))
            even = axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
            tets.append(path if even else [path[0], path[2], path[1], path[3]])
    return vertices, np.array(tets)


def _cap_point(direction: np.ndarray, arc: float) -> np.ndarray:
    """On the cap through the unit sphere's circle at `arc` from the pole (0, 0, -1), bulging up; flat at the equator (arc pi / 2).

    direction: unit [n,3] in the upper half space, z = 0 on the circle.
    """
    from_top = np.arccos(np.clip(direction[:, 2], 0, 1))
    flat = arc / (np.pi / 2)
    out = np.sin(arc) * ((1 - flat) * np.sin(from_top) + flat * from_top / (np.pi / 2))
    across = np.hypot(direction[:, 0], direction[:, 1])
    unit = direction[:, :2] / np.where(across > 0, across, 1)[:, None]
    rim = -np.cos(arc)
    return np.column_stack([unit * out[:, None], rim + (flat - 1 - rim) * direction[:, 2]])


def extrude(triangles: np.ndarray, count: int) -> np.ndarray:
    """Tetrahedra of the prisms between a layer of triangles and the same `count` vertices further on, cut alike from both sides."""
    a, b, c = np.sort(triangles, axis=1).T
    prisms = ((a, b, c, c + count), (a, b, b + count, c + count), (a, a + count, b + count, c + count))
    return np.concatenate([np.column_stack(tet) for tet in prisms])


def half_ball(radius: float, cells: int, core: float) -> Mesh:
    """The half z <= 0 of a ball, tetrahedra, finest at the pole z = -radius.

    Around the pole lies a half cube of cells x cells x cells / 2 bricks, bent to `core` metres along the sphere; from there on
    shells up to the equator, each thicker than the last, so that cells are as wide as high everywhere.
    """
    cube, tets = tet_grid(2, 2, 1, (cells, cells, cells // 2))
    cube[:, 2] += 0.5
    size = np.abs(cube).max(axis=1)
    direction = cube / np.linalg.norm(cube, axis=1).clip(1e-12)[:, None]
    points = np.array([(0, 0, -1.0) if m == 0 else _cap_point(d[None], m * core / radius)[0] for m, d in zip(size, direction)])
    skin_of = np.flatnonzero(size > 1 - 1e-9)
    faces = np.sort(np.concatenate([tets[:, list(f)] for f in itertools.combinations(range(4), 3)]), axis=1)
    faces, times = np.unique(faces, axis=0, return_counts=True)
    outer = (times == 1) & (size[faces] > 1 - 1e-9).all(axis=1) & (cube[faces][:, :, 2].max(axis=1) > 1e-9)
    on_skin = np.full(len(cube), -1)
    on_skin[skin_of] = np.arange(len(skin_of))
    skin, count = on_skin[faces[outer]], len(skin_of)
    layers = max(1, round(math.log(math.pi / 2 * radius / core) / math.log(1 + math.pi / 2 / cells)))
    arcs = core / radius * (math.pi / 2 * radius / core) ** (np.arange(1, layers + 1) / layers)
    first = len(points) - count  # so that the shells' vertices, the core's skin first, are numbered in one run
    order = np.concatenate([np.setdiff1d(np.arange(len(points)), skin_of), skin_of])
    renumber = np.empty(len(points), int)
    renumber[order] = np.arange(len(points))
    points = np.concatenate([points[order]] + [_cap_point(direction[skin_of], arc) for arc in arcs])
    tets = np.concatenate([renumber[tets]] + [extrude(skin + first + k * count, count) for k in range(layers)])
    x = points[tets]
    flipped = np.einsum("ij,ij->i", np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), x[:, 3] - x[:, 0]) < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return points * radius, tets


def geodesic(level: int) -> Mesh:
    """Unit sphere: an icosahedron with every triangle cut into four, `level` times (20 * 4**level triangles)."""
    golden = (1 + 5**0.5) / 2
    points = [tuple(np.roll((0.0, a, b * golden), k)) for k in range(3) for a in (-1, 1) for b in (-1, 1)]
    vertices = [np.array(p) / np.linalg.norm(p) for p in points]
    edge = min(np.linalg.norm(vertices[0] - v) for v in vertices[1:]) * 1.01
    near = lambda i, j: np.linalg.norm(vertices[i] - vertices[j]) < edge  # noqa: E731
    triangles = []
    for i, j, k in itertools.combinations(range(12), 3):
        if near(i, j) and near(j, k) and near(i, k):
            outward = np.dot(np.cross(vertices[j] - vertices[i], vertices[k] - vertices[i]), vertices[i]) > 0
            triangles.append((i, j, k) if outward else (i, k, j))
    for _ in range(level):
        middle: dict[tuple[int, int], int] = {}

        def halve(a: int, b: int) -> int:
            key = (min(a, b), max(a, b))
            if key not in middle:
                vertices.append((vertices[a] + vertices[b]) / np.linalg.norm(vertices[a] + vertices[b]))
                middle[key] = len(vertices) - 1
            return middle[key]

        fine = []
        for a, b, c in triangles:
            ab, bc, ca = halve(a, b), halve(b, c), halve(c, a)
            fine += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        triangles = fine
    return np.array(vertices), np.array(triangles)


def _prism_tets(low: Sequence[int], high: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Three tetrahedra of a prism whose neighbours choose the same diagonals: those from the corner with the lower index."""
    order = sorted(range(3), key=lambda k: low[k])
    a, b, c = (low[k] for k in order)
    d, e, f = (high[k] for k in order)
    return [(a, b, c, f), (a, b, f, e), (a, e, f, d)]


def layered_ball(level: int, radii: Sequence[float], middle: bool = False) -> Mesh:
    """Tetrahedra between spheres of these radii, growing; with `middle`, also from the centre to the first one: a full ball."""
    sphere, triangles = geodesic(level)
    n = len(sphere)
    vertices = np.concatenate([r * sphere for r in radii] + ([np.zeros((1, 3))] if middle else []))
    tets = []
    for layer in range(len(radii) - 1):
        for t in triangles:
            tets += _prism_tets([v + layer * n for v in t], [v + (layer + 1) * n for v in t])
    if middle:
        tets += [(len(vertices) - 1, *t) for t in triangles]
    return vertices, upright(vertices, np.array(tets))


def upright(vertices: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """The same tetrahedra, each with a positive volume."""
    corners = vertices[tets]
    volume = np.einsum("ij,ij->i", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), corners[:, 3] - corners[:, 0])
    out = tets.copy()
    out[volume < 0] = out[volume < 0][:, [0, 2, 1, 3]]
    return out


def hollow_box(outer: float, cells: int, wall_cells: int = 1) -> Mesh:
    """A cube around the origin with a cubic cavity, of cells**3 bricks less those inside, each brick of six tetrahedra."""
    vertices, tets = tet_grid(outer, outer, outer, (cells, cells, cells))
    size = outer / cells
    limit = outer / 2 - wall_cells * size
    centre = vertices[tets].reshape(-1, 6, 4, 3).mean(axis=(1, 2))
    tets = tets.reshape(-1, 6, 4)[np.abs(centre).max(axis=1) > limit].reshape(-1, 4)
    used, tets = np.unique(tets, return_inverse=True)
    return vertices[used], tets.reshape(-1, 4)


def write_mesh(path: Path, mesh: Mesh) -> None:
    """OBJ for triangles, legacy VTK for tetrahedra, by the cells' width; the suffix must fit."""
    vertices, cells = mesh
    if cells.shape[1] == 3:
        lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in cells.tolist()]
    else:
        lines = ["# vtk DataFile Version 3.0", path.stem, "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(vertices)} double"]
        lines += [f"{x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
        lines += [f"CELLS {len(cells)} {5 * len(cells)}"] + ["4 " + " ".join(map(str, cell)) for cell in cells.tolist()]
        lines += [f"CELL_TYPES {len(cells)}"] + ["10"] * len(cells)
    path.write_text("\n".join(lines) + "\n")
