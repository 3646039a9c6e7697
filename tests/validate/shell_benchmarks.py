"""Curved thin shells of the literature, whose displacements the mesh resolves by stretching and bending at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import sheets
from scene_runs import Measure, SceneRun
from scene_text import SceneText
from shell_statics import _still, shell_fields

FAR = 100.0  # m: length of springs that act along one direction only
SMALL = 0.01  # share of the published load, so that displacements stay linear; results are divided by it


def _displaced(vertices: np.ndarray) -> tuple[str, Measure]:
    return "displaced", lambda times, positions: {"start": vertices.tolist(), "end": positions[-1].tolist()}


def _along(text: SceneText, body: str, name: str, point: np.ndarray, axis: int, stiffness: float) -> None:
    """Holds a point in one direction: a spring so long that motion across it meets no resistance."""
    far = point.copy()
    far[axis] += FAR
    a, b = (f"{{ x: {p[0]!r} y: {p[1]!r} z: {p[2]!r} }}" for p in (point.tolist(), far.tolist()))
    text.line(f'joints {{ name: "{name}" body_a: "{body}" spring {{ point_m {a} point_b_m {b} spring_n_m: {stiffness!r} }} }}')


def _diaphragm(text: SceneText, body: str, vertices: np.ndarray, ends: np.ndarray, stiffness: float) -> None:
    """Rigid diaphragms across x: vertices of the ends stay in their plane's places and may move along x."""
    for v in ends:
        for axis in (1, 2):
            _along(text, body, f"hold{v}_{axis}", vertices[v], axis, stiffness)


def scordelis_lo(cells: int) -> tuple[SceneRun, np.ndarray, float]:
    """The roof of Scordelis and Lo 1964 (E 4.32e8, nu 0, R 25, L 50, t 0.25, 40 degrees, 90 per area): vertices in the middle of its free
    borders, which sink by 0.3024 (MacNeal and Harder 1985)."""
    radius, length, angle, thickness, youngs = 25.0, 50.0, math.radians(40), 0.25, 4.32e8
    flat, triangles = sheets.right_grid(length, 2 * angle * radius, cells, cells)
    turn = flat[:, 1] / radius
    vertices = np.stack([flat[:, 0], radius * np.sin(turn), radius * (np.cos(turn) - 1)], axis=1)
    text = SceneText("roof")
    text.gravity = (0, 0, -1.0)
    text.shell("roof", (vertices, triangles), fields=shell_fields(thickness, 90.0 * SMALL, youngs * thickness, youngs * thickness**3 / 12))
    ends = np.nonzero((flat[:, 0] < 1e-9) | (flat[:, 0] > length - 1e-9))[0]
    _diaphragm(text, "roof", vertices, ends, 1e9)
    _still(text, 1e-7)
    middle = np.nonzero((np.abs(flat[:, 0] - length / 2) < 1e-9) & (np.abs(turn) > angle - 1e-9))[0]
    return SceneRun(f"roof {cells}", text, 1.0, 3.0, (), *_displaced(vertices)), middle, 0.3024 * SMALL


def pinched_cylinder(around: int, along: int) -> tuple[SceneRun, np.ndarray, float]:
    """The cylinder of MacNeal and Harder 1985 (E 3e6, nu 0.3, R 300, L 600, t 3, two opposite forces of 1, rigid diaphragms): the two
    vertices under the forces, which approach the axis by 1.8248e-5."""
    radius, length, thickness, youngs, poisson = 300.0, 600.0, 3.0, 3e6, 0.3
    load = 1e4  # the displacement is a sixteenth of the thickness
    turn = 2 * math.pi * np.arange(around) / around
    vertices = np.array([[length * i / along, radius * math.sin(t), radius * math.cos(t)] for i in range(along + 1) for t in turn])
    triangles = []
    for i in range(along):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            triangles += [(a, a + around, b + around), (a, b + around, b)]
    text = SceneText("cylinder")
    text.gravity = (0, 0, 0)
    stretching, bending = youngs * thickness, youngs * thickness**3 / (12 * (1 - poisson**2))
    text.shell("cylinder", (vertices, np.array(triangles)), fields=shell_fields(thickness, 1e-3, stretching, bending), material="poissons_ratio: 0.3")
    _diaphragm(text, "cylinder", vertices, np.array([*range(around), *range(along * around, (along + 1) * around)]), 1e8)
    pinched = along // 2 * around + np.array([0, around // 2])
    far = 1e6
    for k, v in enumerate(pinched):
        x, y, z = vertices[v].tolist()
        text.line(f'joints {{ name: "pinch{k}" body_a: "cylinder" spring {{ point_m {{ x: {x!r} y: {y!r} z: {z!r} }} '
                  f'point_b_m {{ x: {x!r} y: {y!r} z: {z - math.copysign(far, z)!r} }} spring_n_m: {load / far!r} rest_length_m: 0 }} }}')
    _still(text, 1e-7)
    return SceneRun(f"pinched cylinder {around} x {along}", text, 1.0, 3.0, (), *_displaced(vertices)), pinched, 1.8248e-5 * load


def sinking(report: dict[str, Any], at: np.ndarray, radial: bool) -> float:
    """Mean displacement of vertices downwards, or towards the x axis."""
    before, after = (np.asarray(report["measured"][k])[at] for k in ("start", "end"))
    if radial:
        return float(np.mean(np.hypot(before[:, 1], before[:, 2]) - np.hypot(after[:, 1], after[:, 2])))
    return float(np.mean(before[:, 2] - after[:, 2]))
