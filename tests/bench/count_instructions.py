#!/usr/bin/python3
"""Counts the instructions of whole runs of a few scenes (valgrind --tool=callgrind) and compares them with the recorded figures.

The scenes are the low-resolution grasp, with the paper's material and with the default one, a twist of rods, and a bin of objects at
rest. Times on a shared machine say little about a change of a few percent; instruction counts of a deterministic run do. The recorded
figures are in instructions.json beside this file: a change that makes one grow on purpose writes them anew (--record) and says why.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from eipc_cli import SCENES, default_cli  # noqa: E402
from settled_bin import write_settled  # noqa: E402

RECORDED = Path(__file__).resolve().parent / "instructions.json"
SCENE = SCENES / "bubble_teddy_low.textproto"
STEP_S = 0.02
LARGEST_GROWTH = 0.02


@dataclass(frozen=True)
class Run:
    scene: Path
    dt_s: float = STEP_S

    @property
    def name(self) -> str:
        return self.scene.name


def guarded(folder: Path) -> list[Run]:
    """The runs that are counted, the longest first; what the repository has no scene of is written into `folder`. ValueError as of
    write_settled."""
    return [Run(SCENES / "bubble_teddy_low_sound.textproto"), Run(SCENES / "rods_twist.textproto", 0.05), Run(SCENE),
            Run(write_settled(folder).path)]


def count(binary: Path, settings: Sequence[str] = (), run: Run = Run(SCENE)) -> int:
    """Instructions of the whole program, loading included; settings override fields of the scene. RuntimeError when a run fails."""
    overrides = [word for setting in settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory(prefix="eipc-instructions-") as scratch:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/callgrind.out", str(binary), "run", str(run.scene), "--dt",
             str(run.dt_s), "--threads", "1", "--report", f"{scratch}/report.json", *overrides],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env={**os.environ, "EIPC_CACHE": f"{scratch}/cache"})  # stiffnesses that are kept would not be counted
    total = re.search(r"Collected\s*:\s*(\d+)", result.stderr)
    if result.returncode != 0 or not total:
        raise RuntimeError(f"valgrind or the run failed (status {result.returncode}): {result.stderr.strip()[-500:]}")
    return int(total.group(1))


def count_all(binary: Path) -> dict[str, int]:
    """Of every guarded run, as many at once as there are cores (or JOBS): counts do not depend on what else runs."""
    jobs = int(os.environ.get("JOBS") or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="eipc-scenes-") as folder, ThreadPoolExecutor(jobs) as pool:
        runs = guarded(Path(folder))
        return dict(zip((run.name for run in runs), pool.map(lambda run: count(binary, run=run), runs)))


def compared(counts: Mapping[str, int], recorded: Mapping[str, int]) -> tuple[list[str], bool]:
    """A line for each scene, and whether none takes too many. A scene without a recorded figure does not pass."""
    lines, passed = [], True
    for name, figure in counts.items():
        if name not in recorded:
            lines.append(f"{name}: {figure:,} instructions, none recorded: MISSING")
            passed = False
            continue
        growth = figure / recorded[name] - 1
        passed = passed and growth <= LARGEST_GROWTH
        lines.append(f"{name}: {figure:,} instructions, recorded {recorded[name]:,}, {100 * growth:+.2f} % "
                     f"(at most {100 * LARGEST_GROWTH:+.0f} %): {'ok' if growth <= LARGEST_GROWTH else 'TOO MANY'}")
    return lines, passed


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the figures to instructions.json instead of comparing")
    parser.add_argument("--eipc", type=Path, default=default_cli(), help="the eipc program")
    arguments = parser.parse_args(argv)
    if shutil.which("valgrind") is None:
        print("count_instructions: valgrind is not installed: ./dev setup profiling", file=sys.stderr)
        return 2
    try:
        instructions = count_all(arguments.eipc)
    except (RuntimeError, ValueError) as error:
        print(f"count_instructions: {error}", file=sys.stderr)
        return 2
    if arguments.record:
        RECORDED.write_text(json.dumps(instructions, indent=2) + "\n")
        print("recorded " + ", ".join(f"{figure:,} ({name})" for name, figure in instructions.items()))
        return 0
    lines, passed = compared(instructions, json.loads(RECORDED.read_text()))
    print("\n".join(lines))
    if not passed:
        print("If this is the price of something wanted: ./dev instructions --record, and say what in the commit.", file=sys.stderr)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
