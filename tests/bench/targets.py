"""What the benchmark promises: targets of the grasp's rows, throughput of worlds, and cost against the surface's resolution."""

from __future__ import annotations

import re
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Optional, Sequence

import numpy as np
from eipc_cli import REPOSITORY, SCENES, EipcCli
from obj_files import read_obj, write_obj
from step_log import read_steps


@dataclass(frozen=True)
class Target:
    """One promise: `value` must be at least (or, with at_most, at most) `limit`."""

    name: str
    value: float
    limit: float
    unit: str
    at_most: bool = False

    @property
    def met(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    def cells(self) -> list[str]:
        return [self.name, f"{self.value:.2f}", f"{'<=' if self.at_most else '>='} {self.limit:g}", self.unit,
                "met" if self.met else "missed"]


def grasp_targets(rows: Sequence[dict]) -> list[Target]:
    """Targets of the rows that were measured: real-time factors at h = 0.02 s and the cost of a full-space Newton iteration."""
    by_name = {row["name"]: row for row in rows}
    targets = []
    for suffix in ("", "_real"):
        for model, factor in (("low", 10.0), ("medium", 5.0), ("full", 1.5)):
            row = by_name.get(f"{model}{suffix}-0.02")
            if row:
                targets.append(Target(f"{model}{suffix}, h = 0.02 s", row["real_time_factor"], factor, "x real time"))
        row = by_name.get(f"full{suffix}-0.02")
        if row:
            targets.append(Target(f"full{suffix}, a Newton iteration", row["ms_per_newton_iteration"], 3.0, "ms", at_most=True))
    return targets


def worlds_target(cli: EipcCli, runs: int) -> Target:
    """Throughput of two independent low-resolution grasps at once over that of one; both alone in their process."""
    scene = SCENES / "bubble_teddy_low.textproto"
    ratios = []
    for _ in range(runs):
        alone = cli.run(scene, 0.02)["wall_s"]
        with ThreadPoolExecutor(2) as pool:
            together = [report["wall_s"] for report in pool.map(lambda _: cli.run(scene, 0.02), range(2))]
        ratios.append(sum(alone / wall for wall in together))
    return Target("two independent grasps at once", statistics.median(ratios), 1.9, "x the throughput of one")


def memory_targets(program: Path) -> list[Target]:
    """What tests/tools/step_memory_test.cc prints of the low-resolution grasp. Raises ValueError where it cannot be asked."""
    if not program.exists():
        raise ValueError(f"{program} is missing: build it (ninja tools_step_memory_test)")
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    figures = {name: float(value) for name, value in re.findall(r"^FIGURE (\w+) (\d+)$", done.stdout, re.MULTILINE)}
    rows = (("world_bytes", "memory of one more world", 4.0, 2.0**20, "MiB"),
            ("allocations_warm", "allocations in the steps of a warm world", 0.0, 1.0, ""))
    missing = [name for name, *_ in rows if name not in figures]
    if missing:
        raise ValueError(f"{program} printed no {', '.join(missing)}: {done.stdout[-400:]}{done.stderr[-400:]}")
    return [Target(title, figures[name] / scale, limit, unit, at_most=True) for name, title, limit, scale, unit in rows]


def _subdivided(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each triangle in four by its edges' midpoints: the same surface."""
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    unique, index = np.unique(edges, axis=0, return_inverse=True)
    middle = vertices[unique].mean(axis=1)
    ab, bc, ca = (len(vertices) + part for part in np.split(index.reshape(-1), 3))
    a, b, c = faces.T
    new = np.concatenate([np.stack(corner, axis=1) for corner in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return np.concatenate([vertices, middle]), new


def _scene_with_surface(surface: Path) -> str:
    """The low-resolution grasp, area weighted, whose bear has another surface under the same cage."""
    text = (SCENES / "bubble_teddy_low.textproto").read_text()
    text = text.replace("../generated/teddy_surface.obj", str(surface))
    text = text.replace("../generated/", f"{REPOSITORY / 'models' / 'generated'}/")
    return re.sub(r"barrier_form: PER_PAIR\s+pair_stiffness_n_m: \S+", "barrier_form: AREA_WEIGHTED\n  area_stiffness_n_m3: 1e9", text)


def refined_grasp(folder: Path, levels: int) -> Path:
    """The scene of the low-resolution grasp whose bear's surface is cut `levels` times, each time into four times as many triangles."""
    vertices, faces = read_obj(REPOSITORY / "models" / "generated" / "teddy_surface.obj")
    for _ in range(levels):
        vertices, faces = _subdivided(vertices, faces)
    surface, scene = folder / f"surface_{levels}.obj", folder / f"grasp_{levels}.textproto"
    write_obj(surface, vertices, faces)
    scene.write_text(_scene_with_surface(surface))
    return scene


def _without_ground(scene: str) -> str:
    """The same with the ground so far below that nothing touches anything for 0.5 s."""
    lowered = scene.replace("pose { position_m { x: 0 y: 0 z: -0.005 } }", "pose { position_m { x: 0 y: 0 z: -2 } }")
    if lowered == scene:
        raise ValueError("the grasp's ground is not where this benchmark expects it")
    return lowered


def refinement_target(rows: Sequence[dict]) -> Optional[Target]:
    """What 64 times as many triangles cost in the median step while nothing touches. The first step, which searches from nothing,
    and the mean are in the table."""
    for row in rows:
        if row["triangles"] == 64 * rows[0]["triangles"]:
            return Target(f"{row['triangles']} triangles, out of contact, median step", row["free_median_ms"] / rows[0]["free_median_ms"],
                          1.5, f"x the time with {rows[0]['triangles']}", at_most=True)
    return None


def _free_fall(cli: EipcCli, scene: Path, runs: int) -> dict[str, float]:
    """Times of the steps of 0.5 s, ms: medians over the runs of the first, the median and the mean."""
    walls = []
    for _ in range(runs):
        steps = scene.with_suffix(".tsv")
        cli.run(scene, 0.02, duration_s=0.5, steps=steps)
        walls.append(1e3 * np.asarray(read_steps(steps)["wall_s"]))
    return {name: statistics.median(float(figure(w)) for w in walls)
            for name, figure in (("free_first_ms", lambda w: w[0]), ("free_median_ms", np.median), ("free_ms_per_step", np.mean))}


def refinement_rows(cli: EipcCli, levels: Iterable[int], runs: int, duration_s: Optional[float] = None) -> list[dict]:
    """The surface in 1, 4, 16, ... times as many triangles under one cage: in free fall for 0.5 s, and in the whole grasp."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="eipc-refinement-") as folder:
        for level in levels:
            scene = refined_grasp(Path(folder), level)
            faces = read_obj(Path(folder) / f"surface_{level}.obj")[1]
            falling = Path(folder) / f"falling_{level}.textproto"
            falling.write_text(_without_ground(scene.read_text()))
            free = _free_fall(cli, falling, runs)
            whole = cli.run(scene, 0.02, duration_s=duration_s)
            rows.append({"triangles": len(faces), **free, "ms_per_step": 1e3 * whole["wall_s"] / whole["steps"],
                         "contacts": whole["contacts"]["mean"], "newton": whole["newton_iterations"]["mean"]})
    return rows
