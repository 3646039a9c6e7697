"""Objects that cages stand for, in tetrahedra, and the loads of soft pads on them, for the study of coarse spaces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

import numpy as np

import solids
from scene_text import SceneText, held
from solids import Mesh

SIZE_M = 0.1  # the longest side of every object
YOUNGS_PA, POISSON, DENSITY = 5e4, 0.45, 1000.0
PAD_YOUNGS_PA = 5e4
STEP_S = 0.02
DHAT_M = 1e-3
PAD_DEPTH_M, PAD_LAYERS = 0.02, 3
PAD_CELL_M, LEAST_CELLS = 0.009, 6  # side of the cells of a pad's face at most, and how many along each side of it at least


def _scaled(vertices: np.ndarray) -> np.ndarray:
    """About the middle of the bounding box, the longest side SIZE_M."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return (vertices - (low + high) / 2) * (SIZE_M / (high - low).max())


def _radii(surface: Mesh, directions: np.ndarray) -> np.ndarray:
    """How far from the origin the surface lies along each direction (the farthest crossing)."""
    vertices, triangles = surface
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    out = np.zeros(len(directions))
    for n, d in enumerate(directions):
        p = np.cross(d, c - a)
        det = np.einsum("ij,ij->i", b - a, p)
        det = np.where(np.abs(det) < 1e-30, 1e-30, det)
        u = np.einsum("ij,ij->i", -a, p) / det
        q = np.cross(-a, b - a)
        v, t = q @ d / det, np.einsum("ij,ij->i", c - a, q) / det
        hit = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9) & (t > 0)
        out[n] = t[hit].max() if hit.any() else 0
    return out


def read_surface(path: Path) -> Mesh:
    """Vertices and triangles of an OBJ, or of a binary STL with equal corners joined."""
    if path.suffix == ".stl":
        data = path.read_bytes()
        count = int(np.frombuffer(data, "<u4", 1, 80)[0])
        facet = np.dtype([("n", "<f4", 3), ("x", "<f4", (3, 3)), ("a", "<u2")])
        corners = np.frombuffer(data, facet, count, 84)["x"].reshape(-1, 3).astype(float)
        vertices, index = np.unique(corners, axis=0, return_inverse=True)
        return vertices, index.reshape(-1, 3)
    vertices, triangles = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(w) for w in words[1:4]])
        elif words[:1] == ["f"]:
            ids = [int(w.split("/")[0]) - 1 for w in words[1:]]
            triangles += [(ids[0], ids[k], ids[k + 1]) for k in range(1, len(ids) - 1)]
    return np.array(vertices), np.array(triangles)


def star(surface: Mesh) -> Mesh:
    """Tetrahedra of a body that its middle sees all of: layers towards the middle."""
    vertices, triangles = surface
    vertices = _scaled(vertices)
    shares = [0.3, 0.6, 0.82, 1.0]
    points, tets = solids.layered_ball(2, shares, middle=True)
    size = np.linalg.norm(points, axis=1)
    directions = points / np.where(size > 0, size, 1)[:, None]
    sphere = solids.geodesic(2)[0]
    radius = np.append(np.tile(_radii((vertices, triangles), sphere), len(shares)), 0)
    return _scaled(directions * (size * radius)[:, None]), tets


def tube() -> Mesh:
    """Hollow, open at both ends: radius to thickness 4."""
    segments, rows, layers = 16, 9, 2
    grid, tets = solids.tet_grid(1, 1, 1, (segments, rows, layers))
    angle = 2 * np.pi * (grid[:, 0] + 0.5)
    r = 0.03 + 0.005 * 2 * (grid[:, 2])  # 0.025 to 0.035
    points = np.column_stack([r * np.cos(angle), r * np.sin(angle), SIZE_M * grid[:, 1]])
    keys: dict[tuple[int, ...], int] = {}
    index = np.array([keys.setdefault(tuple(np.round(p / 1e-7).astype(int)), len(keys)) for p in points])
    used = np.array([points[np.flatnonzero(index == k)[0]] for k in range(len(keys))])
    return used, solids.upright(used, index[tets])


def finger() -> Mesh:
    """Slender, tapered and bent, as of a soft hand."""
    points, tets = solids.tet_grid(1, 1, 1, (4, 4, 16))
    s = points[:, 2] + 0.5
    width = 0.26 - 0.1 * s
    x, y = points[:, 0] * width + 0.12 * s**2, points[:, 1] * width * 0.9
    out = _scaled(np.column_stack([x, y, s]))
    return out, solids.upright(out, tets)


def bracket() -> Mesh:
    """L-shaped."""
    points, tets = solids.tet_grid(1, 1, 0.6, (9, 9, 5))
    centre = points[tets].reshape(-1, 6, 4, 3).mean(axis=(1, 2))
    kept = tets.reshape(-1, 6, 4)[(centre[:, 0] < -0.5 + 4 / 9) | (centre[:, 1] < -0.5 + 4 / 9)].reshape(-1, 4)
    used, kept = np.unique(kept, return_inverse=True)
    return _scaled(points[used]), kept.reshape(-1, 4)


def pear() -> Mesh:
    """Round, narrow above."""
    points, tets = solids.layered_ball(2, [0.3, 0.6, 0.82, 1.0], middle=True)
    z = points[:, 2]
    out = _scaled(points * np.column_stack([1 - 0.4 * z, 1 - 0.4 * z, 1.25 * np.ones(len(z))]))
    return out, solids.upright(out, tets)


def objects(data: Optional[Path]) -> dict[str, Mesh]:
    """By name. Household shapes need the data folder."""
    out = {"tube": tube(), "finger": finger(), "bracket": bracket(), "pear": pear()}
    if data is not None:
        ycb = data / "household" / "ycb"
        for name, file in (("apple", "013_apple_google16k.stl"), ("lemon", "014_lemon_google16k.stl"), ("brick", "YcbFoamBrick.obj"),
                           ("mustard bottle", "YcbMustardBottle.obj")):
            out[name] = star(read_surface(ycb / file))
    return out


@dataclass(frozen=True)
class Load:
    """Two bodies close on the object along its axis (0 the shortest side of its box, 2 the longest) and hold it.

    pad: side of the soft pads as a share of the object's side there; None: rigid plates. turn: of one pad about the axis, degrees.
    """

    name: str
    axis: int
    pad: Optional[float]
    closing: float  # of the object's side along the axis, both bodies together
    turn: float = 0.0


LOADS = (Load("wide pads", 0, 1.6, 0.30), Load("small pads", 0, 0.5, 0.30), Load("small pads, long side", 1, 0.5, 0.20),
         Load("pads that turn", 0, 0.9, 0.20, 30.0))
PLATES = Load("plates", 0, None, 0.15)
CLOSE_S, HOLD_S = 0.5, 0.1


def turned_to_x(mesh: Mesh, axis: int) -> Mesh:
    """The side that is `axis`-th by length turned to x, right-handed."""
    vertices, cells = mesh
    order = np.argsort(np.ptp(vertices, axis=0), kind="stable")
    first = int(order[axis])
    cycle = [first, (first + 1) % 3, (first + 2) % 3]
    return vertices[:, cycle], cells


def pad_mesh(side: np.ndarray, load: Load, cut: int = 1) -> Mesh:
    """Of one pad or plate, around the origin, for an object with these sides of its box, turned by turned_to_x. cut: into how many parts each side
    of the cells of a pad's face is cut."""
    if load.pad is None:
        return solids.box(0.01, 2 * side[1], 2 * side[2])
    width = load.pad * min(side[1], side[2]) if load.pad < 1 else None
    y, z = (width, width) if width else (load.pad * side[1], load.pad * side[2])
    rows, columns = (cut * max(LEAST_CELLS, math.ceil(length / PAD_CELL_M)) for length in (y, z))
    return solids.tet_grid(PAD_DEPTH_M, y, z, (PAD_LAYERS, rows, columns))


def scene(name: str, mesh: Mesh, load: Load, coarse_space: str, vertices: int, poisson: float = POISSON, calibrated: bool = False, cut: int = 1) -> SceneText:
    """The load on the object in that coarse space ("FULL": in full space); friction 0.5, no gravity. cut: of pad_mesh."""
    text = SceneText(name)
    text.gravity = (0, 0, 0)
    mesh = turned_to_x(mesh, load.axis)
    side = np.ptp(mesh[0], axis=0)
    gap = 1.1e-3
    inner = f"cage_vertices: {vertices} coarse_space: {coarse_space}" + (" calibration {}" if calibrated else "")
    full = coarse_space == "FULL"
    text.moving("object", "full_space" if full else "embedded", mesh, youngs_modulus_pa=YOUNGS_PA, density_kg_m3=DENSITY,
                poissons_ratio=poisson, model="STABLE_NEO_HOOKEAN", coarse="" if full else inner)
    stroke = load.closing * side[0] / 2 + gap
    pressing = pad_mesh(side, load, cut)
    depth, y, z = np.ptp(pressing[0], axis=0)
    for sign, pad in ((-1, "left"), (1, "right")):
        start = sign * (side[0] / 2 + gap + depth / 2)
        if load.pad is None:
            text.kinematic(pad, pressing, _keys(start, start - sign * stroke, 0))
            continue
        back = sign * depth / 2
        low, high = sorted((back - sign * 1e-6, back + sign * 1e-6))
        keys = _keys(start, start - sign * (stroke + 0.25 * depth), load.turn if sign > 0 else 0)
        text.moving(pad, "full_space", pressing, keys[0][1], youngs_modulus_pa=PAD_YOUNGS_PA, density_kg_m3=DENSITY, poissons_ratio=0.4,
                    model="STABLE_NEO_HOOKEAN", extra=held("back", (low, -y, -z), (high, y, z), keys))
    text.contact(0.5, dhat=DHAT_M)
    return text


def _keys(start: float, end: float, turn: float) -> list[tuple[float, Sequence[float], Sequence[float]]]:
    at = [(0.0, start, 0.0), (CLOSE_S, end, math.radians(turn)), (CLOSE_S + HOLD_S, end, math.radians(turn))]
    return [(t, (x, 0, 0), (angle, 0, 0)) for t, x, angle in at]
