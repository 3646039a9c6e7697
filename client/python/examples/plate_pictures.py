"""Pictures of models/scenes/finray_plate.textproto, the picture of docs/howto/finray.md: pinched, carried, placed, released.

Usage: plate_pictures.py OUTPUT_FOLDER [SCENE] (the command line is EIPC_CLI, else the release build).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))

from cage_pictures import read_cage, read_obj  # noqa: E402
from eipc.viz.camera import Camera  # noqa: E402
from eipc.viz.png import write_png  # noqa: E402
from eipc.viz.render import Ground, Item, render  # noqa: E402

TIMES_S = (1.2, 3.0, 4.2, 6.0)
COLORS = {"finger_left": (0.13, 0.14, 0.16), "finger_right": (0.13, 0.14, 0.16), "plate": (0.90, 0.88, 0.83), "rack": (0.55, 0.60, 0.66),
          "stand": (0.60, 0.45, 0.30)}
WIDTH, HEIGHT = 420, 400


def bodies(scene: Path) -> list[tuple[str, np.ndarray, int]]:
    """Name, triangles and number of vertices of each body's surface, in the scene's order."""
    found = []
    for name, file in re.findall(r'bodies \{\s*name: "(\w+)".*?file: "([^"]+)"', scene.read_text(), re.DOTALL):
        path = scene.parent / file
        vertices, triangles = read_cage(path) if path.suffix == ".vtk" else read_obj(path)
        used = np.unique(triangles)
        found.append((name, np.searchsorted(used, triangles), len(used)))
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    scene = Path(sys.argv[2]) if len(sys.argv) > 2 else REPOSITORY / "models" / "scenes" / "finray_plate.textproto"
    cli = os.environ.get("EIPC_CLI") or str(REPOSITORY / "build" / "release" / "bin" / "eipc")
    with tempfile.TemporaryDirectory() as scratch:
        positions = Path(scratch) / "positions"
        subprocess.run([cli, "run", str(scene), "--trajectory", str(positions), "--report", f"{scratch}/report.json"], check=True)
        head, data = positions.read_bytes().split(b"\n", 1)
    header = json.loads(head)
    times, frames = np.array(header["times"]), np.frombuffer(data, "<f8").reshape(-1, header["vertices"], 3)
    camera = Camera(eye=(0.10, -0.75, 0.36), target=(-0.04, 0.0, 0.17), vertical_fov_deg=36)
    panels = []
    for time in TIMES_S:
        x, first, items = frames[int(np.argmin(np.abs(times - time)))], 0, []
        for name, triangles, count in bodies(scene):
            if name in COLORS:
                items.append(Item(x[first:first + count], triangles, color=COLORS[name]))
            first += count
        panels.append(render(items, camera, WIDTH, HEIGHT, Ground(0.0, center=(0, 0))))
    folder.mkdir(parents=True, exist_ok=True)
    write_png(folder / f"{scene.stem}.png", np.concatenate(panels, axis=1))


if __name__ == "__main__":
    main()
