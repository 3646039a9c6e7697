"""Files that are whole or absent, whatever ends the process or the machine while they are written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Callable

PART = ".part"  # what an unfinished file ends with


def write_durably(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Calls write(file) on a temporary file, and gives it its name once it is on the disk. An existing file is replaced."""
    scratch = path.with_name(path.name + PART)
    write_synced(scratch, write)
    try:
        os.replace(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_synced(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Calls write(file) on a file to be given its name by the caller: its contents are on the disk then, its own name need not be."""
    try:
        with open(path, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Puts the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
