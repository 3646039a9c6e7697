#!/usr/bin/python3
"""Writes a page that compares two made-up runs of a cube that rises by 1 mm a step of 0.02 s: made_comparison.py PAGE.html [--equal]

The first has 10 steps. The second has 12, and from its step 4 on the cube is 0.2 m further along y; with --equal both have 10 and are the
same.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "client" / "python"), str(ROOT / "client" / "python" / "tests")]
import generate_protos  # noqa: E402

generate_protos.generate_if_needed()

import numpy as np  # noqa: E402
from eipc.viz import write_comparison_page  # noqa: E402
from made_episodes import made_episode  # noqa: E402


def main() -> None:
    page, equal = Path(sys.argv[1]), "--equal" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        first = made_episode(Path(scratch) / "first")
        steps = 10 if equal else 12
        second = made_episode(Path(scratch) / "second", number=1, steps=steps)
        if not equal:
            second.arrays["cage_0"] = second["cage_0"] + np.where(np.arange(steps + 1) >= 4, 0.2, 0)[:, None, None] * [0, 1, 0]
        write_comparison_page(first, second, page)


if __name__ == "__main__":
    main()
