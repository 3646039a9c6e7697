#!/usr/bin/python3
"""Random grasps, one a seed: two fingers close on an object on the floor, lift it and shake it.

    random_grasps.py --seed N [--keep FOLDER]     runs one grasp and says how it ended; --keep leaves its scene there
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import solids  # noqa: E402
from eipc_cli import EipcCli, RunError, default_cli  # noqa: E402
from scene_text import SceneText  # noqa: E402
from step_log import read_steps  # noqa: E402

STEPS = 100


@dataclass(frozen=True)
class GraspResult:
    """failure: empty, or what went wrong (an intersection, a crash, a value that is not finite). free: steps in which every finger
    arrived where it was commanded to go; free_converged: of these, those that converged. iterations: of Newton's method in each step."""

    seed: int
    steps: int
    failure: str
    converged: int
    inversions: int
    free: int = 0
    free_converged: int = 0
    iterations: tuple[int, ...] = ()


def _solid(rng: np.random.Generator, size: float) -> tuple[str, solids.Mesh]:
    """A shape about `size` across, and how it moves: affine, or deformable on a tetrahedral grid or in a cage."""
    shape = rng.integers(7)
    a, b, c = size * rng.uniform(0.3, 1, 3)
    if shape == 0:
        return "full_space", solids.tet_grid(a, b, c, tuple(rng.integers(1, 3, 3)))
    if shape == 1:
        return "full_space", solids.tet_grid(a, b, 0.1 * c, (2, 2, 1))
    meshes = [solids.box(a, b, c), solids.sphere(size / 2, 8), solids.cylinder(a / 2, c, 8),
              solids.lathe([(0, -c / 2), (a / 2, 0), (0, c / 2)], int(rng.integers(3, 8))),
              solids.prism([(-a / 2, -c / 2), (a / 2, -c / 2), (a / 2, -c / 4), (-a / 4, -c / 4), (-a / 4, c / 2), (-a / 2, c / 2)], b)]
    return ("embedded" if rng.random() < 0.25 else "affine"), meshes[shape - 2]


def grasp_scene(seed: int) -> tuple[SceneText, float]:
    """The scene of a seed, and its step size."""
    rng = np.random.default_rng(seed)
    dt = float(rng.choice([0.02, 0.01, 0.005, 0.0025]))
    size = float(10 ** rng.uniform(-2.2, -1))
    dhat = float(size * 10 ** rng.uniform(-3, -1.3))
    text = SceneText(f"grasp{seed}")
    kind, mesh = _solid(rng, size)
    rpy = tuple(rng.uniform(-math.pi, math.pi, 3))
    reach = float(np.linalg.norm(mesh[0], axis=1).max())
    model = str(rng.choice(["LINEAR_COROTATED", "FIXED_COROTATED", "STABLE_NEO_HOOKEAN", "LOG_BARRIER_NEO_HOOKEAN"]))
    text.static("floor", solids.sheet(20 * size, 2), (0.1 * size, 0.07 * size, 0))
    text.moving("object", kind, mesh, (0, 0, reach + 2 * dhat), rpy, youngs_modulus_pa=float(10 ** rng.uniform(3, 10)),
                density_kg_m3=float(10 ** rng.uniform(1.5, 4)), poissons_ratio=float(rng.uniform(0, 0.48)),
                model="" if kind == "affine" else model, velocity=tuple(rng.uniform(-0.3, 0.3, 3)), spin=tuple(rng.uniform(-5, 5, 3)))
    _fingers(rng, text, dt, size, reach, dhat)
    text.contact(float(rng.choice([0.0, rng.uniform(0, 2)])), dhat=dhat, eps_v=float(10 ** rng.uniform(-4, -2)))
    text.line('contact_pairs { body_a: "left" body_b: "right" enabled: false }')
    return text, dt


def _fingers(rng, text: SceneText, dt: float, size: float, reach: float, dhat: float) -> None:
    """Close in a fifth of the run at up to 1 m/s, stay, lift, shake; how deep they press is drawn too."""
    pad = solids.box(0.3 * size, 0.8 * size, 0.8 * size)
    height = 0.4 * size + 4 * dhat + rng.uniform(0, 0.5) * reach
    times = STEPS * dt * np.array([0, 0.2, 0.4, 0.6, 0.7, 0.8, 1.0])
    open_gap = reach + 0.15 * size + 3 * dhat
    closed = max(open_gap - rng.uniform(0.2, 1.2) * open_gap, open_gap - 1.0 * float(times[1]))
    lift = min(rng.uniform(0, 4) * size, 1.0 * float(times[3] - times[2]))
    shake = rng.uniform(-1, 1, 3) * min(size, 1.0 * float(times[4] - times[3]))
    tilt = float(rng.uniform(-0.5, 0.5))
    for side, name in ((-1, "left"), (1, "right")):
        gaps = (open_gap, closed, closed, closed, closed, closed, closed)
        moves = [np.array([side * g, 0, height]) for g in gaps]
        for k in range(3, 7):
            moves[k] = moves[k] + (0, 0, lift)
        moves[4] = moves[4] + shake * (1, 1, 0.5)
        moves[5] = moves[5] - shake * (1, 1, -0.5)
        keys = [(float(t), tuple(map(float, p)), (0.0, 0.0, tilt if k > 3 else 0.0)) for k, (t, p) in enumerate(zip(times, moves))]
        text.kinematic(name, pad, keys)


def run_grasp(cli: EipcCli, seed: int, folder: Path) -> GraspResult:
    text, dt = grasp_scene(seed)
    path = text.write(folder / f"grasp{seed}")
    steps = path.with_suffix(".tsv")
    try:
        report = cli.run(path, dt, STEPS * dt, audit=True, steps=steps)
    except RunError as error:
        return GraspResult(seed, 0, str(error), 0, 0)
    table = read_steps(steps)
    numbers = np.array([table[name] for name in ("kinetic_j", "elastic_j", "gravity_j", "barrier_j", "residual_m_s")])
    audit = report["audit"]
    failure = ""
    if audit["intersections"] or audit["forbidden_inversions"]:
        failure = f"{audit['intersections']} intersections, {audit['forbidden_inversions']} forbidden inversions"
    elif not np.isfinite(numbers).all():
        failure = "a value is not finite"
    elif report["exit_status"] != 0 or report["steps"] != STEPS:
        failure = f"exit status {report['exit_status']} after {report['steps']} steps"
    converged, free = table["outcome"] == "converged", table["missed_targets"] == 0
    return GraspResult(seed, report["steps"], failure, int(converged.sum()), audit["inversions"], int(free.sum()), int((converged & free).sum()),
                       tuple(int(n) for n in table["newton_iterations"]))


def reproduction(seed: int) -> str:
    return f"/usr/bin/python3 tests/validate/random_grasps.py --seed {seed}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--eipc", type=Path, default=default_cli())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eipc-grasp-") as scratch:
        result = run_grasp(EipcCli(arguments.eipc), arguments.seed, arguments.keep or Path(scratch))
    print(f"seed {result.seed}: {result.failure or 'sound'}; {result.steps} steps, {result.converged} converged, "
          f"{result.inversions} inverted elements")
    return 1 if result.failure else 0


if __name__ == "__main__":
    sys.exit(main())
