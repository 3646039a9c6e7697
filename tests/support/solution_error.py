"""What a run's tolerances cost in accuracy: its results against those of the same step size solved to 1e-7 m/s."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eipc_cli import EipcCli, GraspCase
from surface_positions import differences, read_surface_positions

TIGHT = ("solver.newton_tolerance_m_s=1e-7",)


@dataclass(frozen=True)
class SolutionError:
    """Largest distance of a surface vertex at any step, m; forces over the weight held, or over the largest force; intersections
    that the exact audit of every state found."""

    position_m: float
    holding_force: float
    pair_force: float
    intersections: int

    @property
    def force(self) -> float:
        return max(self.holding_force, self.pair_force)


def holding_force_difference(usual: dict, tight: dict) -> float:
    """Of the mean vertical force on the held body between two reports, over its weight."""
    apart = abs(usual["holding"]["mean_vertical_force_n"] - tight["holding"]["mean_vertical_force_n"])
    return apart / tight["holding"]["weight_n"]


def pair_force_difference(usual: dict, tight: dict) -> float:
    """Largest difference of the force between two bodies at the end of the run, over the largest such force."""
    def forces(report: dict) -> dict[str, np.ndarray]:
        return {pair: np.add(entry["normal_n"], entry["friction_n"]) for pair, entry in report["contact_forces"].items()}

    a, b = forces(usual), forces(tight)
    zero = np.zeros(3)
    largest = max((float(np.linalg.norm(force)) for force in b.values()), default=0.0)
    apart = max((float(np.linalg.norm(a.get(pair, zero) - b.get(pair, zero))) for pair in {*a, *b}), default=0.0)
    return apart / largest if largest > 0 else apart


def measure_solution_error(cli: EipcCli, case: GraspCase, threads: int = 1) -> SolutionError:
    """Runs the case twice more: as it is, with the audit, and tight. Raises RunError."""
    with tempfile.TemporaryDirectory(prefix="eipc-error-") as folder:
        files = Path(folder) / "usual", Path(folder) / "tight"
        usual = cli.run(case.scene, case.dt_s, threads=threads, audit=True, trajectory=files[0])
        tight = cli.run(case.scene, case.dt_s, threads=threads, settings=TIGHT, trajectory=files[1])
        apart = differences(read_surface_positions(files[0]), read_surface_positions(files[1]), slice(None))
        position = float(np.sqrt(np.max(np.sum(np.square(apart), axis=2))))
    return SolutionError(position, holding_force_difference(usual, tight), pair_force_difference(usual, tight),
                         usual["audit"]["intersections"])
