#!/usr/bin/python3
"""A bin of nine household objects at rest. Where they lie is stored in settled_bin.json beside this file.

    tests/bench/settled_bin.py [--eipc PROGRAM]

drops the objects anew and stores where they then rest: after a change of the meshes, of bin_scene.py, or of what rests.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from bin_scene import BinScene, write_bin, write_resting  # noqa: E402
from eipc_cli import EipcCli, RunError, default_cli  # noqa: E402

PLACEMENTS = Path(__file__).resolve().parent / "settled_bin.json"
OBJECTS = 9
STEP_S = 0.02
FALL_S = 6.0      # until nothing moves any more
DIGITS = 9         # of stored positions, m, and quaternions


def write_settled(folder: Path) -> BinScene:
    """The scene in `folder`. ValueError when the meshes have not been generated, OSError when nothing is stored."""
    return write_resting(folder, OBJECTS, json.loads(PLACEMENTS.read_text()), copies=1)


def settle(cli: EipcCli) -> dict[str, dict[str, list[float]]]:
    """Where each object's centre of mass lies in the end, m, and its orientation. RunError, and ValueError as above."""
    with tempfile.TemporaryDirectory(prefix="eipc-settle-") as folder:
        report = cli.run(write_bin(Path(folder), OBJECTS).path, STEP_S, duration_s=FALL_S)
    fields = ("position_m", "orientation_wxyz")
    return {name: {field: [round(value, DIGITS) for value in body[field]] for field in fields}
            for name, body in report["bodies"].items() if name != "bin"}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--eipc", type=Path, default=default_cli(), help="the eipc program")
    cli = EipcCli(parser.parse_args(argv).eipc)
    try:
        cli.check()
        placements = settle(cli)
    except (RunError, ValueError) as error:
        print(f"settled_bin: {error}", file=sys.stderr)
        return 1
    PLACEMENTS.write_text("{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(body)}" for name, body in placements.items()) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
