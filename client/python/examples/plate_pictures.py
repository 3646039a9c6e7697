"""The pictures of docs/howto/finray.md: a scene at some of its times. By default models/scenes/finray_plate.textproto:
pinched, carried, placed, released.

Usage: plate_pictures.py OUTPUT_FOLDER [SCENE] [--times S ...] [--eye X Y Z] [--target X Y Z] (the command line is EIPC_CLI, else the release build).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))

from eipc.viz.camera import Camera  # noqa: E402
from eipc.viz.png import write_png  # noqa: E402
from eipc.viz.render import Ground, Item, render  # noqa: E402
from scene_frames import run_scene  # noqa: E402

COLORS = {"finger_left": (0.13, 0.14, 0.16), "finger_right": (0.13, 0.14, 0.16), "plate": (0.90, 0.88, 0.83), "rack": (0.55, 0.60, 0.66),
          "stand": (0.60, 0.45, 0.30), "block": (0.85, 0.45, 0.25), "table": (0.62, 0.58, 0.50)}
WIDTH, HEIGHT = 420, 400


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("scene", type=Path, nargs="?", default=REPOSITORY / "models" / "scenes" / "finray_plate.textproto")
    parser.add_argument("--times", type=float, nargs="+", default=[1.2, 3.0, 4.2, 6.0], metavar="S")
    parser.add_argument("--eye", type=float, nargs=3, default=[0.10, -0.75, 0.36], metavar=("X", "Y", "Z"))
    parser.add_argument("--target", type=float, nargs=3, default=[-0.04, 0.0, 0.17], metavar=("X", "Y", "Z"), help="the middle of the picture")
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    folder, scene = arguments.folder, arguments.scene
    frames = run_scene(scene)
    camera = Camera(tuple(arguments.eye), tuple(arguments.target), vertical_fov_deg=36)
    panels = []
    for time in arguments.times:
        items = [Item(x, triangles, color=COLORS[name]) for name, x, triangles in frames.bodies_at(time) if name in COLORS]
        panels.append(render(items, camera, WIDTH, HEIGHT, Ground(0.0, center=(0, 0))))
    folder.mkdir(parents=True, exist_ok=True)
    write_png(folder / f"{scene.stem}.png", np.concatenate(panels, axis=1))


if __name__ == "__main__":
    main()
