"""`eipc diff`: where two recorded runs part."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any, Optional

from ..diff import Difference, first_difference
from ..episode import Episode, episode_paths
from ..errors import EpisodeError


def add_commands(commands: Any) -> None:
    diff = commands.add_parser("diff", help="where two recorded episodes part: step, quantity, values",
                               description="Names the first step at which two episodes differ, and the first quantity there, causes before "
                               "effects: scene, actions, cages, poses, forces, receipts. Exit status 1 when they differ.")
    diff.add_argument("first", type=Path, metavar="A", help="an episode, or a folder of a recorder")
    diff.add_argument("second", type=Path, metavar="B", help="the other; episodes of two folders are compared by their numbers")
    diff.add_argument("--tolerance", type=float, default=0.0, help="numbers that differ by no more are equal; default: bit for bit")
    diff.add_argument("--json", action="store_true", help="print JSON")
    diff.add_argument("--page", type=Path, metavar="FILE", help="write a page that shows the two episodes side by side (.html)")
    diff.set_defaults(command=_diff)


def _diff(options: argparse.Namespace) -> int:
    if not options.tolerance >= 0:
        raise EpisodeError(f"--tolerance is {options.tolerance}; it is at least 0")
    found = {f"{one} {other}": _compare(one, other, options.tolerance) for one, other in _pairs(options.first, options.second)}
    if options.page is not None:
        _write_page(options)
    if options.json:
        print(json.dumps({pair: dataclasses.asdict(difference) if difference else None for pair, difference in found.items()}, indent=1))
    else:
        for pair, difference in found.items():
            print(f"{pair}: {difference or 'the same'}")
    return 1 if any(found.values()) else 0


def _write_page(options: argparse.Namespace) -> None:
    from ..viz import write_comparison_page
    if options.first.is_dir():
        raise EpisodeError("--page shows two episodes; name two files")
    write_comparison_page(Episode.load(options.first), Episode.load(options.second), options.page, tolerance=options.tolerance)


def _compare(first: Path, second: Path, tolerance: float) -> Optional[Difference]:
    return first_difference(Episode.load(first), Episode.load(second), tolerance)


def _pairs(first: Path, second: Path) -> list[tuple[Path, Path]]:
    if first.is_dir() != second.is_dir():
        raise EpisodeError("compare two files or two folders")
    if not first.is_dir():
        return [(first, second)]
    names = [{path.name for path in episode_paths(folder)} for folder in (first, second)]
    if names[0] != names[1] or not names[0]:
        alone = sorted(names[0] ^ names[1])
        raise EpisodeError(f"{first} and {second} do not hold the same episodes" + (f"; only one has {', '.join(alone[:5])}" if alone else ""))
    return [(first / name, second / name) for name in sorted(names[0])]
