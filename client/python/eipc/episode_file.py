"""The place of an episode in its folder: a marker while it is recorded, its file once it is finished.

A file has its name when it is whole, so that the end of the process that wrote it takes nothing from it. Only then, and by another
thread, it is put on the disk, and its marker goes when it is there: what the end of the machine left of a file whose marker is there is
checked by the next recorder (found_lost).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Callable, Mapping, Optional

import numpy as np

from .disk_queue import DiskQueue
from .durable import PART, sync_folder
from .episode import FORMAT, episode_path
from .errors import EpisodeError
from .npz import write_npz
from .recorded_scene import read_arrays


@dataclass(frozen=True)
class LostEpisode:
    """What was known of an episode when it began."""

    number: int
    seed: Optional[int]
    task: str
    scene: str


class EpisodeFile:
    """known: number, seed, task and scene of the episode."""

    def __init__(self, folder: Path, known: Mapping[str, Any], disk: DiskQueue) -> None:
        """Marks the episode as begun. Raises EpisodeError when what was recorded before could not be put on the disk."""
        self.path, self._disk = episode_path(folder, known["number"]), disk
        self._marker = marker_path(self.path)
        self._marked = False
        disk.check()
        try:
            file = open(self._marker, "wb")
            file.write(json.dumps(dict(known)).encode())
            file.flush()
            disk.put(lambda: self._put_marker(file))
        except BaseException:
            self.forget()
            raise

    def __repr__(self) -> str:
        return f"EpisodeFile({self.path.name})"

    def check(self) -> None:
        """Raises EpisodeError when something that was recorded could not be put on the disk."""
        self._disk.check()

    def write(self, arrays: Mapping[str, np.ndarray], agree: Callable[[], None] = lambda: None) -> None:
        """Writes the file. agree: called when the bytes are written and before the file has its name; nothing is left of it when that
        raises. Raises OSError when the file cannot be written, and EpisodeError as check() does."""
        if not self._marked:
            self._disk.flush()  # no file without a marker, whatever ends the machine
        file = _named_file(self.path, arrays, agree)
        self._disk.put(lambda: self._put_file(file))

    def forget(self) -> None:
        """The episode is not kept."""
        self._marker.unlink(missing_ok=True)

    def _put_marker(self, file: BinaryIO) -> None:
        _sync(file)
        sync_folder(self.path.parent)
        self._marked = True

    def _put_file(self, file: BinaryIO) -> None:
        _sync(file)
        sync_folder(self.path.parent)
        self._marker.unlink(missing_ok=True)


def marker_path(path: Path) -> Path:
    return path.with_suffix(".open")


def found_lost(marker: Path) -> Optional[LostEpisode]:
    """What an episode was whose recorder ended before its marker went, when its file is not there or not whole; its marker is renamed
    then, so that it is said once. None: the file is whole, and on the disk now."""
    path = marker.with_suffix(".npz")
    try:
        read_arrays(path, "episode", FORMAT)
        with open(path, "rb") as file:
            os.fsync(file.fileno())
        marker.unlink()
        return None
    except EpisodeError:
        path.unlink(missing_ok=True)
    number = int(marker.stem.rpartition("_")[2])
    try:
        known = json.loads(marker.read_text(encoding="utf-8"))
    except ValueError:  # the recorder or the machine ended while the marker was written
        known = {"seed": None, "task": "", "scene": ""}
    marker.rename(marker.with_suffix(".lost"))
    return LostEpisode(number, known["seed"], known["task"], known["scene"])


def _named_file(path: Path, arrays: Mapping[str, np.ndarray], agree: Callable[[], None]) -> BinaryIO:
    """A whole file, still open."""
    scratch = path.with_name(path.name + PART)
    file = open(scratch, "wb")
    try:
        write_npz(file, arrays)
        file.flush()
        agree()
        os.replace(scratch, path)
    except BaseException:
        file.close()
        scratch.unlink(missing_ok=True)
        raise
    return file


def _sync(file: BinaryIO) -> None:
    with file:
        os.fsync(file.fileno())
