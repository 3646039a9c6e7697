"""The programs that a wheel carries (scripts/build_wheel.py), as commands of the environment that it is installed into."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PROGRAMS = Path(__file__).resolve().parent / "bin"


def run_eipc() -> int:
    """`eipc`, the command line."""
    os.environ.setdefault("EIPC_PYTHON", sys.executable)  # for the commands that are written in Python
    return _become("eipc")


def run_server() -> int:
    """`eipc-server`."""
    return _become("eipc-server")


def _become(name: str) -> int:
    program = _PROGRAMS / name
    try:
        os.execv(program, [str(program), *sys.argv[1:]])
    except OSError as error:
        print(f"{name}: {program} cannot be run ({error.strerror}); install the wheel of ./dev wheel again", file=sys.stderr)
        return 126
