"""Pictures of docs/howto/cages.md: original, collision surface and cage of five generated objects, two of them damaged.

Usage: cage_pictures.py OUTPUT_FOLDER (the command line is EIPC_CLI, else the release build).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))

from eipc.viz.camera import Camera  # noqa: E402
from eipc.viz.png import write_png  # noqa: E402
from eipc.viz.render import Item, render  # noqa: E402

Mesh = tuple[np.ndarray, np.ndarray]
SIZE = 300


def revolved(profile: list[tuple[float, float]], sides: int = 40) -> Mesh:
    """A closed profile of (radius, height), turned about z."""
    angles = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    vertices = np.array([(r * np.cos(a), r * np.sin(a), z) for a in angles for r, z in profile])
    n, triangles = len(profile), []
    for i in range(sides):
        for j in range(n):
            a, b = i * n + j, (i + 1) % sides * n + j
            c, d = (i + 1) % sides * n + (j + 1) % n, i * n + (j + 1) % n
            triangles += [(a, b, c), (a, c, d)]
    return vertices, np.array(triangles)


def torus() -> Mesh:
    return revolved([(0.07 + 0.022 * np.cos(t), 0.022 * np.sin(t)) for t in np.linspace(0, 2 * np.pi, 24, endpoint=False)])


def bowl() -> Mesh:
    outer = [(0.08 * np.sin(t), 0.08 - 0.08 * np.cos(t)) for t in np.linspace(0.02, 1.45, 16)]
    inner = [(0.074 * np.sin(t), 0.08 - 0.074 * np.cos(t)) for t in np.linspace(1.45, 0.02, 16)]
    return revolved(outer + inner)


def dumbbell_with_a_hole() -> Mesh:
    heights = np.linspace(0.002, 0.158, 40)
    radii = 0.012 + 0.03 * (np.exp(-((heights - 0.03) / 0.022) ** 2) + np.exp(-((heights - 0.13) / 0.022) ** 2))
    vertices, triangles = revolved([(0.001, 0.0)] + list(zip(radii, heights)) + [(0.001, 0.16)])
    return vertices, triangles[60:]  # a strip is missing, and the poles are open


def crossing_boxes() -> Mesh:
    corners = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
    faces = np.array([(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2),
                      (1, 3, 7), (1, 7, 5)])
    sizes = [(0.08, 0.02, 0.02), (0.02, 0.05, 0.02), (0.02, 0.02, 0.06)]
    return np.vstack([corners * size for size in sizes]), np.vstack([faces + 8 * k for k in range(3)])


def read_obj(path: Path) -> Mesh:
    rows = [line.split() for line in path.read_text().splitlines()]
    return (np.array([row[1:4] for row in rows if row and row[0] == "v"], float),
            np.array([[int(word.split("/")[0]) - 1 for word in row[1:4]] for row in rows if row and row[0] == "f"]))


def read_cage(path: Path) -> Mesh:
    """Boundary of the tets of a legacy VTK file."""
    words = path.read_text().split()
    at = words.index("POINTS")
    count = int(words[at + 1])
    vertices = np.array(words[at + 3:at + 3 + 3 * count], float).reshape(-1, 3)
    at = words.index("CELLS")
    tets = np.array(words[at + 3:at + 3 + int(words[at + 2])], int).reshape(-1, 5)[:, 1:]
    faces = np.vstack([tets[:, list(f)] for f in ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))])
    _, first, times = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return vertices, faces[first[times == 1]]


def picture(name: str, mesh: Mesh, folder: Path, cli: str, vertices: int) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / f"{name}.obj"
        source.write_text("".join(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in mesh[0]) +
                          "".join("f %d %d %d\n" % tuple(triangle + 1) for triangle in mesh[1]))
        report = Path(scratch) / "report.json"
        subprocess.run([cli, "cage", str(source), "--vertices", str(vertices), "--out", scratch + "/out", "--report", str(report), "--cache",
                        scratch + "/cache"], check=True)
        surface, cage = read_obj(Path(scratch) / "out" / "surface.obj"), read_cage(Path(scratch) / "out" / "cage.vtk")
        document = json.loads(report.read_text())
    middle = (cage[0].min(axis=0) + cage[0].max(axis=0)) / 2
    span = float(np.linalg.norm(cage[0].max(axis=0) - cage[0].min(axis=0)))
    camera = Camera(eye=tuple(middle + span * np.array([1.1, -1.2, 0.9])), target=tuple(middle), vertical_fov_deg=32)
    panels = [render([Item(*part, color=color, wire=wire)], camera, SIZE, SIZE)
              for part, color, wire in ((mesh, (0.80, 0.55, 0.35), 0.5), (surface, (0.35, 0.55, 0.80), 0.3), (cage, (0.55, 0.72, 0.50), 1.0))]
    write_png(folder / f"cage_{name}.png", np.concatenate(panels, axis=1))
    made = document["cage"]
    return f"{name}: {document['repair']['method']}, {made['vertices']} vertices, {made['tets']} tets, {made['min_dihedral_deg']:.0f} deg"


def main() -> None:
    folder = Path(sys.argv[1])
    cli = os.environ.get("EIPC_CLI") or str(REPOSITORY / "build" / "release" / "bin" / "eipc")
    objects = {"teddy": (read_obj(REPOSITORY / "models" / "generated" / "teddy_surface.obj"), 34), "torus": (torus(), 60), "bowl": (bowl(), 120),
               "dumbbell": (dumbbell_with_a_hole(), 40), "cross": (crossing_boxes(), 60)}
    for name, (mesh, vertices) in objects.items():
        print(picture(name, mesh, folder, cli, vertices), flush=True)


if __name__ == "__main__":
    main()
