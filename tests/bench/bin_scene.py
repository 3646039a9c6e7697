"""A bin of household objects: affine bodies of about 2,000 triangles each, dropped in layers into an open static bin.

The meshes are those that eipc-models writes (models/household.h). Objects come in turn, densities are those of such things, poses
are random but the same for the same number of objects. Each object falls from a cell of its own, wide enough for its bounding ball,
in columns of square layers; a bin for four times as many objects is twice as wide, so that piles are equally deep.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from eipc_cli import REPOSITORY
from obj_files import read_obj, write_obj

GENERATED = REPOSITORY / "models" / "generated"
DENSITIES_KG_M3 = {"mug": 900.0, "bowl": 700.0, "bottle": 600.0, "carton": 300.0, "banana": 950.0, "ball": 400.0, "hammer": 1000.0,
                   "jack": 500.0}
OBJECTS_PER_COLUMN = 6.25  # 25, 100 and 400 objects in 2 x 2, 4 x 4 and 8 x 8 columns
CLEARANCE_M = 0.004        # between neighbouring cells, and of the lowest layer from the floor
WALL_M = 0.02
GRAVITY_M_S2 = 9.81
SEED = 1


@dataclass(frozen=True)
class BinScene:
    path: Path
    objects: int
    triangles: int  # of the objects
    inner_width_m: float


@dataclass(frozen=True)
class _Object:
    name: str
    centre: np.ndarray  # of its bounding box, authored frame, m
    radius: float       # of the ball around it that holds the object, m
    triangles: int


def _read_objects() -> list[_Object]:
    objects = []
    for name in DENSITIES_KG_M3:
        vertices, faces = read_obj(GENERATED / f"{name}.obj")
        centre = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        objects.append(_Object(name, centre, float(np.linalg.norm(vertices - centre, axis=1).max()), len(faces)))
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


def _body(index: int, kind: _Object, at: np.ndarray, q: np.ndarray) -> str:
    def fields(names: str, values: np.ndarray) -> str:
        return " ".join(f"{name}: {value:.17g}" for name, value in zip(names, values))

    return (f'bodies {{ name: "{kind.name}_{index}" affine {{ surface {{ file: "{GENERATED / kind.name}.obj" }} }} '
            f"pose {{ position_m {{ {fields('xyz', at - _turned(q, kind.centre))} }} quaternion {{ {fields('wxyz', q)} }} }} "
            f"material {{ density_kg_m3: {DENSITIES_KG_M3[kind.name]} youngs_modulus_pa: 1e7 }} }}")


def write_bin(folder: Path, count: int) -> BinScene:
    """The scene with its bin's mesh, in `folder`. ValueError when the meshes have not been generated."""
    if not (GENERATED / "manifest.json").exists():
        raise ValueError(f"no meshes in {GENERATED}; generate them with ./dev build")
    kinds, source = _read_objects(), random.Random(SEED)
    columns = max(1, math.ceil(math.sqrt(count / OBJECTS_PER_COLUMN)))
    cell = 2 * max(kind.radius for kind in kinds) + CLEARANCE_M
    width = columns * cell
    layers = math.ceil(count / columns**2)
    lines, triangles = [], 0
    for i in range(count):
        layer, place = divmod(i, columns**2)
        kind, q = kinds[i % len(kinds)], _random_rotation(source)
        room = cell / 2 - CLEARANCE_M / 2 - kind.radius
        corner = np.array([place % columns - columns / 2, place // columns - columns / 2, layer]) * cell + (0, 0, CLEARANCE_M)
        at = corner + cell / 2 + np.array([source.uniform(-room, room) for _ in range(3)])
        lines.append(_body(i, kind, at, q))
        triangles += kind.triangles
    write_obj(folder / f"bin_{count}.obj", *open_bin(width, layers * cell, WALL_M))
    lines.append(f'bodies {{ name: "bin" static_body {{ surface {{ file: "bin_{count}.obj" }} }} }}')
    path = folder / f"bin_{count}.textproto"
    path.write_text("\n".join([
        f'display_name: "a bin of {count} household objects"', *lines,
        "contact { dhat_m: 1e-3 friction_coefficient: 0.5 friction_velocity_m_s: 1e-3 }",
        f"gravity_m_s2 {{ z: {-GRAVITY_M_S2} }}", "schedule { duration_s: 4 dt_s: 0.02 }"]) + "\n")
    return BinScene(path, count, triangles, width)
