#!/usr/bin/python3
"""Writes the page of a made-up recording whose every figure is known: two pads squeeze a soft ball, lift it and turn it.

    made_recording.py PAGE.html [--subdivisions N] [--empty]

The ball has 20 * 4^N triangles (N = 3) and a cage of 27 nodes; --empty leaves all bodies out. At t seconds after the start, of 1 s in 50
steps: the ball is thinner along y by the factor 1 - 0.2 min(2 t, 1) and its centre at z = 0.05 + 0.06 max(2 t - 1, 0); each pad presses
with 8 min(2 t, 1) N at the ball's sides and carries 1.5 N once the ball is lifted. Where the pads press, at the vertices with
|y| > 0.8 of the radius, the pressure is 1000 min(2 t, 1) Pa, and the friction 250 Pa once the ball is lifted; then it slides at 10 mm/s with
three quarters of the normal force at contacts that hold. The von Mises stress is 4000 min(2 t, 1) Pa in every element with a corner beyond
y = 0, and half of that in the others.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client" / "python"))
import generate_protos  # noqa: E402

generate_protos.generate_if_needed()

import eipc  # noqa: E402
from eipc.arrays import to_message  # noqa: E402
from eipc.embedding import Embedding  # noqa: E402
from eipc.recorded_scene import RecordedScene  # noqa: E402
from eipc.v1 import scene_pb2  # noqa: E402
from eipc.viz import write_episode_page  # noqa: E402

STEPS, DT = 50, 0.02
RADIUS, CELLS = 0.04, 2
NAMES = ["ball", "left pad", "right pad", "ground"]


def icosphere(subdivisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vertices [n,3] and triangles [20 * 4^subdivisions,3], outward."""
    g = (1 + 5 ** 0.5) / 2
    points = [np.array(p) / np.hypot(1, g) for p in
              [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1),
               (-g, 0, -1), (-g, 0, 1)]]
    triangles = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
                 (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]
    for _ in range(subdivisions):
        middles: dict[tuple[int, int], int] = {}

        def middle(a: int, b: int) -> int:
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(points)
                points.append((points[a] + points[b]) / np.linalg.norm(points[a] + points[b]))
            return middles[key]

        triangles = [t for a, b, c in triangles for ab, bc, ca in [(middle(a, b), middle(b, c), middle(c, a))]
                     for t in [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]]
    return np.array(points), np.array(triangles, dtype=np.int32)


def cage_of(surface: np.ndarray) -> tuple[np.ndarray, Embedding]:
    """Nodes of a grid of cubes around [-1,1]^3, and the surface in the six tetrahedra of each cube (an order of the coordinates each)."""
    side = CELLS + 1
    nodes = np.array([(x, y, z) for x in range(side) for y in range(side) for z in range(side)]) * (2.2 / CELLS) - 1.1
    scaled = (surface + 1.1) * (CELLS / 2.2)
    cell = np.minimum(scaled.astype(int), CELLS - 1)
    part = scaled - cell
    order = np.argsort(-part, axis=1, kind="stable")
    corners, weights = [cell], [1 - np.take_along_axis(part, order, 1)[:, 0]]
    for k in range(3):
        corners.append(corners[-1] + np.eye(3, dtype=int)[order[:, k]])
        inner = np.take_along_axis(part, order, 1)
        weights.append(inner[:, k] - (inner[:, k + 1] if k < 2 else 0))
    numbers = np.stack([corner @ [side * side, side, 1] for corner in corners], axis=1).astype(np.int32)
    return nodes, Embedding(numbers, np.stack(weights, axis=1))


def box(low: list[float], high: list[float]) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([t for a, b, c, d in quads for t in [(a, b, c), (a, c, d)]], dtype=np.int32)


def forces(closed: np.ndarray, lifted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal and friction forces [T+1,4,3] N of the pads on the ball and of the ball on the pads."""
    normal, friction = np.zeros((STEPS + 1, 4, 3)), np.zeros((STEPS + 1, 4, 3))
    for pair, sign in ((0, 1), (1, -1)):
        normal[:, pair, 1] = sign * 8 * closed
        friction[:, pair, 2] = np.where(lifted > 0, 1.5, 0)
    normal[:, 2:], friction[:, 2:] = -normal[:, :2], -friction[:, :2]
    return normal, friction


def touch(sphere: np.ndarray, nodes: np.ndarray, closed: np.ndarray, lifted: np.ndarray, pairs: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of what the ball feels, and the tetrahedra of its cage."""
    pressed = np.flatnonzero(np.abs(sphere[:, 1]) > 0.8)
    touching = np.flatnonzero(closed > 0)
    begin = np.concatenate([[0], np.cumsum(np.where(closed > 0, len(pressed), 0))])
    side = CELLS + 1
    tets = []
    for corner in itertools.product(range(CELLS), repeat=3):
        for order in itertools.permutations(range(3)):
            path = [np.array(corner)]
            for axis in order:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            tets.append([int(place @ [side * side, side, 1]) for place in path])
    cells = np.array(tets, dtype=np.int32)
    share = np.where((nodes[cells][..., 1] > 1e-9).any(axis=1), 1.0, 0.5)
    slides = np.where(closed[:, None] > 0, np.where(lifted[:, None] > 0, 0.01, 0), np.nan) * np.ones(pairs)
    return {"traction_begin_0": begin, "traction_vertices_0": np.tile(pressed, len(touching)),
            "normal_traction_pa_0": np.repeat(1000 * closed[touching], len(pressed)),
            "friction_traction_pa_0": np.repeat(np.where(lifted[touching] > 0, 250.0, 0), len(pressed)),
            "slip_speed_m_s_0": np.repeat(np.where(lifted[touching] > 0, 0.01, 0), len(pressed)) * np.tile(sphere[pressed, 2] > 0, len(touching)),
            "von_mises_pa_0": 4000 * closed[:, None] * share, "slip_m_s": slides, "sticking": np.where(lifted[:, None] > 0, 0.75, 1) + 0 * slides}, cells


def made_episode(subdivisions: int, empty: bool) -> tuple[eipc.Episode, np.ndarray]:
    """The episode and the time of computing each step."""
    t = DT * np.arange(STEPS + 1)
    closed, lifted = np.minimum(2 * t, 1), np.maximum(2 * t - 1, 0)
    sphere, triangles = icosphere(subdivisions)
    nodes, embedding = cage_of(sphere)
    center = np.stack([0 * t, 0 * t, 0.05 + 0.06 * lifted], axis=1)
    angle = 0.5 * lifted
    turn = np.stack([np.stack([np.cos(angle), 0 * t, np.sin(angle)], 1), np.tile([0.0, 1.0, 0.0], (len(t), 1)),
                     np.stack([-np.sin(angle), 0 * t, np.cos(angle)], 1)], axis=1)
    thin = np.stack([1 + 0.05 * closed, 1 - 0.2 * closed, 1 + 0.05 * closed], axis=1)
    ball = center[:, None] + np.einsum("tij,tnj->tni", turn, RADIUS * thin[:, None] * nodes)
    pad, pad_triangles = box([-0.025, -0.006, -0.025], [0.025, 0.006, 0.025])
    half = RADIUS * (1 - 0.2 * closed) + 0.006 + 1e-4 + 0.01 * (closed == 0)
    pads = [center[:, None] + pad + np.stack([0 * t, sign * half, 0 * t], axis=1)[:, None] for sign in (-1, 1)]
    ground, ground_triangles = box([-0.3, -0.3, -0.02], [0.3, 0.3, 0])
    cages = [ball, *pads, np.empty((STEPS + 1, 0, 3))]
    surfaces = [embedding.surface(ball[0]), pads[0][0], pads[1][0], ground]
    topology = {name: eipc.BodyTopology(faces, surface)
                for name, faces, surface in zip(NAMES, [triangles, pad_triangles, pad_triangles, ground_triangles], surfaces)}
    of_nodes = Embedding(np.repeat(np.arange(8, dtype=np.int32)[:, None], 4, axis=1), np.tile([1.0, 0, 0, 0], (8, 1)))
    kept = [] if empty else list(range(4))
    normal, friction = forces(closed, lifted)
    arm = np.stack([0 * t, -RADIUS * (1 - 0.2 * closed), 0 * t], axis=1)  # from the ball's centre to where the left pad touches
    pairs = [("ball", "left pad"), ("ball", "right pad"), ("left pad", "ball"), ("right pad", "ball")]
    if empty:
        normal, friction, pairs = normal[:, :0], friction[:, :0], []
    moment = np.zeros_like(normal)
    friction_moment = np.cross(np.stack([arm, -arm, 0 * arm, 0 * arm], axis=1), friction) if not empty else moment
    touching = (closed > 0).astype(int)
    arrays = {f"cage_{b}": cages[b] for b in kept}
    arrays.update(
        time_s=t, body_names=np.array([NAMES[b] for b in kept], dtype=np.str_), action=np.zeros((STEPS, 0)),
        position_m=np.stack([center, pads[0].mean(axis=1), pads[1].mean(axis=1), np.zeros_like(center)], axis=1)[:, kept],
        wrench_pairs=np.array(pairs, dtype=np.str_).reshape(-1, 2), normal_force_n=normal, friction_force_n=friction,
        normal_moment_nm=moment, friction_moment_nm=friction_moment, contacts=np.stack([40 * touching, 10 * touching], axis=1),
        min_distance_m=np.where(closed > 0, 1e-4, np.inf), receipt_newton_iterations=3 + np.arange(STEPS) % 4,
        receipt_outcome=np.where(np.arange(STEPS) == 29, 2, 1),
        meta=np.array(json.dumps({"scene": "scenes/made", "seed": 7, "task": "squeeze <the ball> & lift it", "success": True, "build": "none"})))
    message = scene_pb2.Scene()
    if not empty:
        felt, cells = touch(sphere, nodes, closed, lifted, len(pairs))
        arrays.update(felt)
        message.bodies.add(name="ball").embedded.cage_mesh.arrays.cells.CopyFrom(to_message(cells))
    episode = eipc.Episode(Path("episode_000000.npz"), arrays)
    embeddings = {"ball": embedding, "left pad": of_nodes, "right pad": of_nodes}
    episode._scene = RecordedScene("scenes/made", "", message, {}, topology, embeddings)
    return episode, np.full(STEPS, 0.005)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--subdivisions", type=int, default=3)
    parser.add_argument("--empty", action="store_true")
    arguments = parser.parse_args()
    episode, wall = made_episode(arguments.subdivisions, arguments.empty)
    write_episode_page(episode, arguments.page, step_wall_s=wall)


if __name__ == "__main__":
    main()
