"""A bin of household objects: affine bodies of about 2,000 triangles each, dropped into an open static bin.

The meshes are those that eipc-models writes (models/household.h). Objects come in turn, densities are those of such things, poses
are random but the same for the same number of objects. Each object is held a little above what lies below it, at the lowest of a few
random places, and let go together with all others. A bin for four times as many objects is twice as wide, so that piles are equally
deep. Bins in which everything already rests are made of where a run of one bin has left its objects, side by side.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Sequence

import numpy as np
from eipc_cli import REPOSITORY
from obj_files import read_obj, write_obj

GENERATED = REPOSITORY / "models" / "generated"
DENSITIES_KG_M3 = {"mug": 900.0, "bowl": 700.0, "bottle": 600.0, "carton": 300.0, "banana": 950.0, "ball": 400.0, "hammer": 1000.0,
                   "jack": 500.0}
AREA_M2 = 0.004        # of the floor, per object
TRIES = 30             # places tried for each object
CLEARANCE_M = 0.004    # of an object from what lies below it and from the walls
CELL_M = 0.005         # of the grid of heights, about as wide as triangles are
WALL_HEIGHT_M = 0.5
WALL_M = 0.02          # thickness
STIFFNESS_N_M3 = 1e9   # of the barrier: as where the surface of the grasp is refined
GRAVITY_M_S2 = 9.81
SEED = 1


@dataclass(frozen=True)
class BinScene:
    path: Path
    objects: int
    triangles: int  # of the objects


@dataclass(frozen=True)
class _Object:
    name: str
    vertices: np.ndarray  # around the middle of its bounding box, m
    middle: np.ndarray    # of that, in the authored frame, m
    centre: np.ndarray    # of mass, from the middle, m
    triangles: int


def _centre_of_mass(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Of the solid that a closed surface bounds."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c))  # 6 x, of the tetrahedra to the origin
    return (volumes[:, None] * (a + b + c) / 4).sum(axis=0) / volumes.sum()


def _read_objects() -> list[_Object]:
    objects = []
    for name in DENSITIES_KG_M3:
        vertices, faces = read_obj(GENERATED / f"{name}.obj")
        middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        centre = _centre_of_mass(vertices - middle, faces)
        objects.append(_Object(name, vertices - middle, middle, centre, len(faces)))
    return objects


def open_bin(width: float, height: float, wall: float) -> tuple[np.ndarray, np.ndarray]:
    """A square tray around the z axis, its floor at z = 0: inner width and height, thickness of floor and walls, m. Closed."""
    def ring(half: float, z: float) -> list[tuple[float, float, float]]:
        return [(-half, -half, z), (half, -half, z), (half, half, z), (-half, half, z)]

    inner, outer = width / 2, width / 2 + wall
    vertices = ring(outer, -wall) + ring(outer, height) + ring(inner, height) + ring(inner, 0.0)
    faces = [(0, 2, 1), (0, 3, 2), (12, 13, 14), (12, 14, 15)]  # below, and the floor
    for low in (0, 4, 8):  # outside, rim, inside
        for i in range(4):
            a, b = low + i, low + (i + 1) % 4
            faces += [(a, b, b + 4), (a, b + 4, a + 4)]
    return np.array(vertices), np.array(faces)


def _random_rotation(source: random.Random) -> np.ndarray:
    """A unit quaternion w x y z, uniform over rotations."""
    q = np.array([source.gauss(0, 1) for _ in range(4)])
    return q / np.linalg.norm(q)


def _turned(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    across = 2 * np.cross(q[1:], p)
    return p + q[0] * across + np.cross(q[1:], across)


class _Heights:
    """How high things reach above the cells of a square floor: what is let down vertically onto them meets nothing on its path."""

    def __init__(self, width: float) -> None:
        self.width = width
        self._top = np.zeros((math.ceil(width / CELL_M) + 2,) * 2)

    def _cells(self, points: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Those of the points and those around them: triangles reach from a point no farther than that."""
        i, j = (np.floor(points[:, :2] / CELL_M + 0.5 * self._top.shape[0]).astype(int)).T
        last = self._top.shape[0] - 1
        return [(np.clip(i + di, 0, last), np.clip(j + dj, 0, last)) for di in (-1, 0, 1) for dj in (-1, 0, 1)]

    def over(self, points: np.ndarray) -> float:
        """How far the points must be lifted so as to lie above everything."""
        return max(float((self._top[cells] - points[:, 2]).max()) for cells in self._cells(points))

    def add(self, points: np.ndarray) -> None:
        for cells in self._cells(points):
            np.maximum.at(self._top, cells, points[:, 2])


def _place(kind: _Object, heights: _Heights, source: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Position of the middle of an object and its rotation, in the world."""
    q = _random_rotation(source)
    turned = _turned(q, kind.vertices)
    room = heights.width / 2 - CLEARANCE_M - np.abs(turned[:, :2]).max(axis=0)
    places = []
    for _ in range(TRIES):
        at = np.array([source.uniform(-room[0], room[0]), source.uniform(-room[1], room[1]), 0.0])
        at[2] = heights.over(turned + at) + CLEARANCE_M
        places.append(at)
    lowest = min(places, key=lambda at: at[2])
    heights.add(turned + lowest)
    return lowest, q


def _body(index: int, kind: _Object, at: np.ndarray, q: np.ndarray) -> str:
    def fields(names: str, values: np.ndarray) -> str:
        return " ".join(f"{name}: {value:.17g}" for name, value in zip(names, values))

    return (f'bodies {{ name: "{kind.name}_{index}" affine {{ surface {{ file: "{GENERATED / kind.name}.obj" }} }} '
            f"pose {{ position_m {{ {fields('xyz', at - _turned(q, kind.middle))} }} quaternion {{ {fields('wxyz', q)} }} }} "
            f"material {{ density_kg_m3: {DENSITIES_KG_M3[kind.name]} youngs_modulus_pa: 1e7 }} }}")


def write_bin(folder: Path, count: int) -> BinScene:
    """The scene with its bin's mesh, in `folder`. ValueError when the meshes have not been generated."""
    if not (GENERATED / "manifest.json").exists():
        raise ValueError(f"no meshes in {GENERATED}; generate them with ./dev build")
    kinds, source = _read_objects(), random.Random(SEED)
    width = math.sqrt(AREA_M2 * count)
    heights = _Heights(width)
    lines, triangles = [], 0
    for i in range(count):
        kind = kinds[i % len(kinds)]
        lines.append(_body(i, kind, *_place(kind, heights, source)))
        triangles += kind.triangles
    lines.append(_bin("bin", count, folder, 0.0))
    return BinScene(_write_scene(folder / f"bin_{count}.textproto", f"a bin of {count} household objects", lines), count, triangles)


def write_resting(folder: Path, count: int, bodies: Mapping[str, Mapping[str, Sequence[float]]], copies: int) -> BinScene:
    """So many bins for `count` objects each, side by side; in each the objects are where `bodies` of a run report says."""
    kinds = _read_objects()
    pitch = math.sqrt(AREA_M2 * count) + 3 * WALL_M
    lines, triangles = [], 0
    for copy in range(copies):
        for i in range(count):
            kind = kinds[i % len(kinds)]
            body = bodies[f"{kind.name}_{i}"]
            q = np.array(body["orientation_wxyz"])
            at = np.array(body["position_m"]) - _turned(q, kind.centre) + np.array([copy * pitch, 0.0, 0.0])
            lines.append(_body(copy * count + i, kind, at, q))
            triangles += kind.triangles
        lines.append(_bin(f"bin_{copy}", count, folder, copy * pitch))
    path = folder / f"resting_{copies}x{count}.textproto"
    return BinScene(_write_scene(path, f"{copies} bins of {count} objects at rest", lines), copies * count, triangles)


def _bin(name: str, count: int, folder: Path, at_x: float) -> str:
    mesh = f"bin_{count}.obj"
    write_obj(folder / mesh, *open_bin(math.sqrt(AREA_M2 * count), WALL_HEIGHT_M, WALL_M))
    return f'bodies {{ name: "{name}" static_body {{ surface {{ file: "{mesh}" }} }} pose {{ position_m {{ x: {at_x:.17g} }} }} }}'


def _write_scene(path: Path, title: str, lines: Sequence[str]) -> Path:
    path.write_text("\n".join([
        f'display_name: "{title}"', *lines,
        f"contact {{ dhat_m: 1e-3 area_stiffness_n_m3: {STIFFNESS_N_M3} friction_coefficient: 0.5 friction_velocity_m_s: 1e-3 }}",
        f"gravity_m_s2 {{ z: {-GRAVITY_M_S2} }}", "schedule { duration_s: 4 dt_s: 0.02 }"]) + "\n")
    return path
