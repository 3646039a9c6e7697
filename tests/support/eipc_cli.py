"""Runs the `eipc` command line for benchmarks and validation studies, and finds what they need."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
SCENES = REPOSITORY / "models" / "scenes"
GRASP_MODELS = ("full", "medium", "low")
GRASP_STEPS_S = (0.02, 0.01, 0.005)
# Materials of soft bodies; the first is the paper's.
MATERIALS = ("LINEAR_COROTATED", "FIXED_COROTATED", "STABLE_NEO_HOOKEAN", "LOG_BARRIER_NEO_HOOKEAN", "MOONEY_RIVLIN", "ST_VENANT_KIRCHHOFF")


class RunError(Exception):
    """A run gave no report; the message holds the program's own words."""


def default_cli() -> Path:
    """The `eipc` of EIPC_CLI (set by ./dev), else of the release build."""
    return Path(os.environ.get("EIPC_CLI") or REPOSITORY / "build" / "release" / "bin" / "eipc")


def default_server() -> Path:
    """The `eipc-server` of EIPC_SERVER (set by ./dev), else of the release build."""
    return Path(os.environ.get("EIPC_SERVER") or REPOSITORY / "build" / "release" / "bin" / "eipc-server")


def default_data() -> Optional[Path]:
    """Folder of the real meshes: EIPC_DATA, else ../shared/data beside the checkout; None when there is none."""
    for folder in (os.environ.get("EIPC_DATA"), REPOSITORY.parent / "shared" / "data"):
        if folder and Path(folder).is_dir():
            return Path(folder)
    return None


@dataclass(frozen=True)
class GraspCase:
    """The teddy grasp at one resolution, on generated or real meshes, with one time step."""

    model: str
    real: bool
    dt_s: float

    @property
    def name(self) -> str:
        return f"{self.model}{'_real' if self.real else ''}-{self.dt_s:g}"

    @property
    def scene(self) -> Path:
        return SCENES / f"bubble_teddy_{self.model}{'_real' if self.real else ''}.textproto"


def grasp_cases(data: Optional[Path]) -> list[GraspCase]:
    """The nine runs, and the nine on real meshes when their data is there."""
    return [GraspCase(model, real, dt) for real in ([False, True] if data else [False]) for model in GRASP_MODELS
            for dt in GRASP_STEPS_S]


def grasp_material(material: str) -> tuple[str, ...]:
    """Settings that give the bear and the pads of a grasp this material."""
    return _of_soft_bodies(f"model={material}")


def grasp_damping(beta_s: float) -> tuple[str, ...]:
    """Settings that give the bear and the pads of a grasp damping in proportion to their stiffness."""
    return _of_soft_bodies(f"rayleigh_beta_s={beta_s:g}")


def _of_soft_bodies(setting: str) -> tuple[str, ...]:
    return tuple(f"bodies[{body}].material.{setting}" for body in ("teddy", "bubble_left", "bubble_right"))


@dataclass(frozen=True)
class EipcCli:
    """The command line program; `data` is handed on as --data."""

    binary: Path
    data: Optional[Path] = None

    def check(self) -> None:
        """Raises RunError when the program is not there."""
        if not self.binary.is_file():
            raise RunError(f"no program at {self.binary}; build it with ./dev build")

    def run(self, scene: Path, dt_s: float, duration_s: Optional[float] = None, threads: int = 1, audit: bool = False,
            settings: Sequence[str] = (), trajectory: Optional[Path] = None, steps: Optional[Path] = None,
            step_limit_s: float = 0.0) -> dict[str, Any]:
        """`eipc run`: its report, with the program's exit status added as exit_status. Raises RunError without a report."""
        with tempfile.TemporaryDirectory(prefix="eipc-run-") as scratch:
            report = Path(scratch) / "report.json"
            command = [str(self.binary), "run", str(scene), "--dt", repr(dt_s), "--threads", str(threads), "--report", str(report)]
            command += ["--duration", repr(duration_s)] if duration_s is not None else []
            command += ["--audit"] if audit else []
            command += ["--data", str(self.data)] if self.data else []
            command += [word for setting in settings for word in ("--set", setting)]
            command += ["--trajectory", str(trajectory)] if trajectory else []
            command += ["--steps", str(steps)] if steps else []
            command += ["--step-limit", repr(step_limit_s)] if step_limit_s else []
            result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            try:
                document = json.loads(report.read_text())
            except (OSError, ValueError):
                words = (result.stderr.strip() or result.stdout.strip() or "no output").splitlines()[-1]
                raise RunError(f"{' '.join(command[1:4])}: exit status {result.returncode}, no report: {words}") from None
        return {**document, "exit_status": result.returncode}
