"""The surfaces of a scene over a run of it, for the examples that draw scenes at some of their times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))

import eipc  # noqa: E402


@dataclass(frozen=True)
class SceneFrames:
    """times_s [T]; positions [T,V,3] of all surfaces, world frame, m; topology: of each body, in the order of its vertices."""

    times_s: np.ndarray
    positions: np.ndarray
    topology: dict[str, Any]

    def bodies_at(self, time_s: float) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Name, positions [V,3] and triangles [F,3] of each body in the state nearest to a time."""
        x, first = self.positions[int(np.argmin(np.abs(self.times_s - time_s)))], 0
        for name, body in self.topology.items():
            last = first + len(body.positions)
            yield name, x[first:last], body.triangles
            first = last


def run_scene(scene: Path) -> SceneFrames:
    """By the command line (EIPC_CLI, else that of the release build), and a server for the topology."""
    cli = os.environ.get("EIPC_CLI") or str(REPOSITORY / "build" / "release" / "bin" / "eipc")
    with tempfile.TemporaryDirectory() as scratch:
        positions = Path(scratch) / "positions"
        subprocess.run([cli, "run", str(scene), "--trajectory", str(positions), "--report", f"{scratch}/report.json"], check=True)
        head, data = positions.read_bytes().split(b"\n", 1)
    header = json.loads(head)
    with eipc.launch() as server, server.client() as client:
        topology = client.create_scene(scene).topology()
    return SceneFrames(np.array(header["times"]), np.frombuffer(data, "<f8").reshape(-1, header["vertices"], 3), topology)
