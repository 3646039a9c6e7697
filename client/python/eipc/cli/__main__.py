"""Exit status: 0 done, 1 the answer is no (episodes with errors; states that differ), 2 it could not be carried out."""

from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

from ..errors import EipcError
from ..farm import cli as farm
from . import bench, diff, export, learn, record, replay, verify, view


def main(argv: Optional[Sequence[str]] = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if verify.is_of_episode(words):
        words[0] = verify.NAME
    options = _parser().parse_args(words)
    try:
        return int(options.command(options))
    except (EipcError, ValueError) as error:
        print(f"eipc {options.name}: {error}", file=sys.stderr)
    except BrokenPipeError:
        return 2  # who reads the output has seen enough
    except OSError as error:
        print(f"eipc {options.name}: {error.filename or 'writing'}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        hint = "; the same command goes on from here" if options.name == "evaluate" else ""
        print(f"\neipc {options.name}: stopped{hint}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="eipc", description="Records and evaluates policies, and shows, compares and exports what they did.")
    commands = parser.add_subparsers(dest="name", required=True)
    for part in (record, replay, diff, export, learn, bench, view, verify, farm):
        part.add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
