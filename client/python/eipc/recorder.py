"""Records episodes: a closed file each, so that a recorder that is killed loses at most the episodes it was in.

    with eipc.Recorder("out/episodes") as recorder:
        with recorder.episode(session, seed=7, task="lift the bear") as episode:
            for _ in range(100):
                observation = episode.step(0.02, targets=...)
"""

from __future__ import annotations

import json
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from numpy.typing import DTypeLike
import numpy as np

from .durable import PART, sync_folder, write_durably
from .episode import episode_path, episode_paths
from .episode_writer import EpisodeWriter
from .errors import EpisodeError
from .session import Session

_NUMBER = re.compile(r"episode_(\d+)\.(?:npz|open|lost)")


class LostEpisodeWarning(UserWarning):
    """A recorder found episodes that an earlier one had begun and not finished."""


@dataclass(frozen=True)
class LostEpisode:
    """What was known of an episode when it began."""

    number: int
    seed: Optional[int]
    task: str
    scene: str


class Recorder:
    """A folder that episodes are recorded into; one recorder at a time uses it. Use as a context manager or call close().

    lost: the episodes that an earlier recorder left unfinished, found when this one began, which also warns of them.
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]"], positions_dtype: DTypeLike = np.float64) -> None:
        """positions_dtype: of cage positions, float64 or float32. Raises EpisodeError when another recorder uses the folder."""
        self.folder = Path(folder)
        self.positions_dtype = positions_dtype
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.folder / ".lock")
        self.lost = self._find_lost()
        self._next = 1 + max((number for number, _ in self._numbered()), default=-1)
        if self.lost:
            warnings.warn(f"{self.folder}: not finished and lost: " + "; ".join(_in_words(lost) for lost in self.lost),
                          LostEpisodeWarning, stacklevel=2)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Recorder({str(self.folder)!r}, {len(episode_paths(self.folder))} episodes)"

    def close(self) -> None:
        """Lets another recorder use the folder."""
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def episode(self, session: Session, seed: Optional[int] = None, task: str = "", world: int = 0) -> EpisodeWriter:
        """Begins an episode where a world of the session is now. Several may be recorded at a time, of one world each.

        seed: of whatever was drawn for it. task: what is to be done, in words. Leaving its `with` block finishes the
        episode; leaving it by an exception discards it.
        """
        if self._lock < 0:
            raise EpisodeError(f"{self.folder}: the recorder is closed")
        number, self._next = self._next, self._next + 1
        marker = self._marker(number)
        known = {"number": number, "seed": seed, "task": task, "scene": session.scene}
        write_durably(marker, lambda file: file.write(json.dumps(known).encode()))
        try:
            return EpisodeWriter(self.folder, session, world, known, self.positions_dtype, on_end=lambda: self._forget(marker))
        except BaseException:
            self._forget(marker)
            raise

    def _forget(self, marker: Path) -> None:
        marker.unlink(missing_ok=True)
        sync_folder(self.folder)

    def _marker(self, number: int) -> Path:
        return episode_path(self.folder, number).with_suffix(".open")

    def _numbered(self) -> list[tuple[int, Path]]:
        matches = ((_NUMBER.fullmatch(path.name), path) for path in sorted(self.folder.iterdir()))
        return [(int(match.group(1)), path) for match, path in matches if match]

    def _find_lost(self) -> tuple[LostEpisode, ...]:
        """Markers without an episode are renamed, so that they are reported once; unfinished files go."""
        for path in self.folder.glob("*" + PART):
            path.unlink()
        lost = []
        for number, path in self._numbered():
            if path.suffix != ".open":
                continue
            if episode_path(self.folder, number).exists():
                path.unlink()  # it was finished, and its recorder killed right after
                continue
            known = json.loads(path.read_text(encoding="utf-8"))
            lost.append(LostEpisode(number, known["seed"], known["task"], known["scene"]))
            path.rename(path.with_suffix(".lost"))
        sync_folder(self.folder)
        return tuple(lost)


def _locked(path: Path) -> int:
    """A file that is locked until it is closed or the process ends."""
    try:
        import fcntl  # not at the top: the client itself works on other systems too
    except ImportError as error:
        raise EpisodeError("recording needs a POSIX system (file locks); the rest of the client does not") from error
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise EpisodeError(f"{path.parent}: another recorder uses this folder; close it or record into another one") from None
    return handle


def _in_words(lost: LostEpisode) -> str:
    return f"episode {lost.number} (seed {lost.seed}, task {lost.task!r}, {lost.scene})"
