"""Triangle meshes in OBJ files: vertices [n, 3] in metres, faces [m, 3]."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            faces.append([int(word.split("/")[0]) - 1 for word in words[1:4]])
    return np.array(vertices), np.array(faces)


def write_obj(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    lines = [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in faces + 1]
    path.write_text("\n".join(lines) + "\n")
