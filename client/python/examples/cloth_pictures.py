"""The pictures of docs/howto/cloth.md: scenes with cloth at some of their times, side by side.

Usage: cloth_pictures.py OUTPUT_FOLDER [NAME | SCENE.textproto ...] (the command line is EIPC_CLI, else the release build). Without names, all
that the page shows: those of models/scenes, and the tube of cloth that `./dev validate papers.garment` bends. A scene of one's own: --times,
--eye and --target say when and from where.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("client/python", "tests/support", "tests/validate")]

import eipc  # noqa: E402
from eipc.viz.camera import Camera  # noqa: E402
from eipc.viz.png import write_png  # noqa: E402
from eipc.viz.render import Ground, Item, render  # noqa: E402
from papers_garment import BENDING_S, FRICTIONS, STEP, garment  # noqa: E402
from scene_frames import run_scene  # noqa: E402

Point = tuple[float, float, float]
CLOTH, HARD, FINGER = (0.45, 0.62, 0.80), (0.62, 0.58, 0.50), (0.20, 0.21, 0.24)
COLORS = {"ball": (0.85, 0.45, 0.25), "bar": HARD, "table": HARD, "capsule": (0.85, 0.68, 0.58)}
WIDTH, HEIGHT, WIRE = 420, 400, 0.12
BELOW_M = 0.002  # the plane that is drawn, below what lies on it


@dataclass(frozen=True)
class View:
    """Times, s; from where, towards where, m."""

    times: tuple[float, ...]
    eye: Point
    target: Point


VIEWS = {
    "towel_bar": View((0.8, 1.7, 3.0), (0.72, 0.78, 0.50), (0.16, 0.0, 0.14)),
    "towel_fold": View((0.2, 0.9, 1.5, 3.0), (0.36, 0.62, 0.40), (0.04, 0.0, 0.03)),
    "towel_flatten": View((0.5, 1.3, 1.8, 3.0), (0.36, 0.54, 0.41), (0.0, 0.0, 0.0)),
    "bag_load": View((0.1, 0.8, 3.0), (-0.26, 0.42, 0.46), (0.0, 0.0, 0.13)),
    "garment": View((0.0, BENDING_S), (-0.37, 0.46, 0.29), (-0.02, 0.0, 0.15)),
    "sleeve_capsule": View((0.0, 1.0, 2.0, 3.0), (-0.36, 0.46, 0.36), (0.0, 0.0, 0.11)),
}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=f"{', '.join(VIEWS)}, or a file")
    parser.add_argument("--times", type=float, nargs="+", metavar="S")
    parser.add_argument("--eye", type=float, nargs=3, metavar=("X", "Y", "Z"))
    parser.add_argument("--target", type=float, nargs=3, metavar=("X", "Y", "Z"), help="the middle of the picture")
    return parser.parse_args()


def strip(scene: Path, view: View) -> np.ndarray:
    """The scene at the times of a view, a panel each; time 0 is the state after the first step."""
    frames = run_scene(scene)
    message = eipc.load_scene(scene)
    thin = {body.name for body in message.bodies if body.WhichOneof("kind") == "shell"}
    camera, panels = Camera(view.eye, view.target, vertical_fov_deg=36), []
    low = 0.0 if "ground" in frames.topology else float(frames.positions[..., 2].min())
    for time in view.times:
        items = [Item(x, triangles, CLOTH if name in thin else COLORS.get(name, FINGER), wire=WIRE if name in thin else 0.0)
                 for name, x, triangles in frames.bodies_at(time) if name != "ground"]
        panels.append(render(items, camera, WIDTH, HEIGHT, Ground(low - BELOW_M)))
    return np.concatenate(panels, axis=1)


def garment_strip(view: View) -> np.ndarray:
    """As the paper shows it: the start, and the bend with little and with much friction."""
    panels = []
    with tempfile.TemporaryDirectory() as scratch:
        for k, friction in enumerate(FRICTIONS):
            text = garment("small", friction, None)
            text.line(f"schedule {{ duration_s: {BENDING_S!r} dt_s: {STEP!r} }}")
            panels.append(strip(text.write(Path(scratch)), View(view.times[1 if k else 0:], view.eye, view.target)))
    return np.concatenate(panels, axis=1)


def main() -> None:
    arguments = parsed()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.scenes or VIEWS:
        scene = REPOSITORY / "models" / "scenes" / f"{name}.textproto" if name in VIEWS else Path(name)
        view = VIEWS.get(name, VIEWS["towel_bar"])
        view = View(tuple(arguments.times or view.times), tuple(arguments.eye or view.eye), tuple(arguments.target or view.target))
        write_png(arguments.folder / f"cloth_{scene.stem}.png", garment_strip(view) if name == "garment" else strip(scene, view))


if __name__ == "__main__":
    main()
