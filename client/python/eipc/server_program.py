"""Finds the eipc-server that launch() starts when it is given none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import List, Tuple

from .errors import ServerStartError

VARIABLE = "EIPC_SERVER"
_NAME = "eipc-server"
_PACKAGE = Path(__file__).resolve().parent


def find_server(package: Path = _PACKAGE) -> Path:
    """The server that EIPC_SERVER names, else that of the package, of the checkout's release build or of PATH.

    package: the folder of the package. Raises ServerStartError that lists where it searched. A variable that names no
    program is an error as well: another server than the one asked for would hide the mistake.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not _is_program(Path(named)):
            raise ServerStartError(f"{VARIABLE} names {named}, which is not an executable file: correct the variable or unset it")
        return Path(named).absolute()  # a bare name would be searched on PATH
    places = _places(package)
    for _, path in places:
        if _is_program(path):
            return path
    on_path = shutil.which(_NAME)
    if on_path:
        return Path(on_path).absolute()
    searched = [f"{VARIABLE} (not set)", *(f"{path} ({what})" for what, path in places), f"PATH ({os.environ.get('PATH', '')})"]
    raise ServerStartError(f"no {_NAME} found; searched: " + "; ".join(searched) +
                           f". Build it (./dev build), set {VARIABLE}, or give launch() its path")


def _places(package: Path) -> List[Tuple[str, Path]]:
    places = [("in the package", package / "bin" / _NAME)]
    checkout = package.parents[2] if len(package.parents) > 2 else None
    if checkout and package.parent == checkout / "client" / "python":
        places.append(("build of the checkout", checkout / "build" / "release" / "bin" / _NAME))
    return places


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
