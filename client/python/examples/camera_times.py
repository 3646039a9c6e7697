#!/usr/bin/python3
"""What a picture costs: drawn by the server, by eipc.camera where the client runs, and by VTK, as a table.

Usage: camera_times.py [SERVER]     of models/scenes/bubble_teddy_low.textproto and of the same with a ball of 40,000 triangles beside it

A row is a scene and a size; figures are medians of ROUNDS, milliseconds. `depth`, `all`: the server's time for depth and segmentation, and
for colour too: of a call of GetState with the picture, less that of one without. `client`: Camera.see of surfaces that are there
already. `VTK`: viz.render of the same, with its shadows.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Callable

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))

import eipc  # noqa: E402
from eipc import viz  # noqa: E402
from eipc.camera import Camera  # noqa: E402
from eipc.v1 import scene_pb2  # noqa: E402

SCENE = REPOSITORY / "models" / "scenes" / "bubble_teddy_low.textproto"
SIZES = ((64, 64), (320, 240))
ROUNDS = 31
EYE, TARGET = np.array([0.6, 0.1, 0.3]), np.array([0.0, 0.0, 0.1])


def ball(radius: float, rings: int = 101, around: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and 2 around (rings - 1) outward triangles of a sphere."""
    theta, phi = np.pi * np.arange(1, rings) / rings, 2 * np.pi * np.arange(around) / around
    circles = np.array([[np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)] for t in theta for p in phi])
    vertices = radius * np.vstack([circles, [[0, 0, 1], [0, 0, -1]]])
    top, bottom = len(circles), len(circles) + 1
    triangles = []
    for j in range(around):
        k = (j + 1) % around
        triangles += [(top, j, k), (bottom, (rings - 2) * around + k, (rings - 2) * around + j)]
        for i in range(rings - 2):
            a, b = i * around, (i + 1) * around
            triangles += [(a + j, b + j, b + k), (a + j, b + k, a + k)]
    return vertices, np.array(triangles, dtype=np.int32)


def with_ball(path: Path) -> scene_pb2.Scene:
    """The scene with a large kinematic ball of 40,000 triangles beside it."""
    scene = eipc.load_scene(path)
    body = scene.bodies.add(name="ball")
    body.kinematic.surface.CopyFrom(eipc.mesh_from_arrays(*ball(0.08)))
    body.pose.position_m.x, body.pose.position_m.y, body.pose.position_m.z = 0.1, 0.4, 0.2
    return scene


def median_ms(work: Callable[[], object]) -> float:
    work()
    took = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        took.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(took)


def row(scene: eipc.Scene, session: eipc.Session, size: tuple[int, int]) -> tuple[float, float, float, float]:
    camera = Camera.look_at(EYE, TARGET, width=size[0], height=size[1], fov_y_rad=0.8)
    plain = eipc.Observe(poses=False, solver_report=False)
    depth, everything = (eipc.Observe(poses=False, solver_report=False, cameras={"eye": eipc.CameraSense(camera, colour=colour)})
                         for colour in (False, True))
    without, with_depth, with_all = (median_ms(lambda observe=observe: session.state(observe)) for observe in (plain, depth, everything))
    seen, topology = session.state(eipc.Observe(surface_positions=True)), scene.topology()
    items = [viz.Item(body.surface_positions, topology[name].triangles, (0.8, 0.6, 0.4)) for name, body in seen.bodies.items()]
    view = viz.Camera(eye=tuple(EYE), target=tuple(TARGET), vertical_fov_deg=float(np.degrees(0.8)))
    return (with_depth - without, with_all - without, median_ms(lambda: camera.see(topology, seen)),
            median_ms(lambda: viz.render(items, view, *size, lighting=viz.Lighting(), supersampling=1)))


def main() -> None:
    server_program = sys.argv[1:2] or [REPOSITORY / "build" / "release" / "bin" / "eipc-server"]
    print(f"{'scene':22} {'triangles':>9} {'size':>8} {'depth':>8} {'all':>8} {'client':>8} {'VTK':>8}   ms, medians of {ROUNDS}")
    with eipc.launch_server(server_program[0]) as server, server.client() as client:
        for name, source in ((SCENE.stem, SCENE), ("with a ball", with_ball(SCENE))):
            scene = client.create_scene(source)
            triangles = sum(len(body.triangles) for body in scene.topology().values())
            with scene.create_session() as session:
                session.step(0.01)
                for size in SIZES:
                    figures = "".join(f" {figure:8.2f}" for figure in row(scene, session, size))
                    print(f"{name:22} {triangles:9} {size[0]:>4}x{size[1]:<3}{figures}", flush=True)


if __name__ == "__main__":
    main()
