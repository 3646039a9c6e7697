"""Records episodes: a closed file each, so that a recorder that is killed loses at most the episodes it was in.

    with eipc.Recorder("out/episodes") as recorder:
        with recorder.episode(session, seed=7, task="lift the bear") as episode:
            for _ in range(100):
                observation = episode.step(0.02, targets=...)
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any, Optional, Union

from numpy.typing import DTypeLike
import numpy as np

from .disk_queue import DiskQueue
from .durable import PART, sync_folder
from .episode import episode_paths
from .episode_file import EpisodeFile, LostEpisode, found_lost
from .episode_writer import EpisodeWriter
from .errors import EpisodeError
from .recorded_scene import RecordedScene, scene_of_folder
from .session import Session

_NUMBER = re.compile(r"episode_(\d+)\.(?:npz|open|lost)")


class LostEpisodeWarning(UserWarning):
    """A recorder found episodes that an earlier one had begun and not finished."""


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
        self._disk = DiskQueue()
        self._scenes: dict[str, RecordedScene] = {}
        self.lost = self._find_lost()
        self._next = 1 + max((number for number, _ in self._numbered()), default=-1)
        if self.lost:
            warnings.warn(f"{self.folder}: not finished and lost: " + "; ".join(_in_words(lost) for lost in self.lost),
                          LostEpisodeWarning, stacklevel=2)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self.close()
        except EpisodeError:
            if kind is None:  # else the first error is the one to report
                raise

    def __repr__(self) -> str:
        return f"Recorder({str(self.folder)!r}, {len(episode_paths(self.folder))} episodes)"

    def sync(self) -> None:
        """Waits until all episodes that are finished are on the disk, so that the end of the machine takes none of them. Raises
        EpisodeError when they cannot be put there."""
        self._disk.flush()

    def close(self) -> None:
        """Does the same, and lets another recorder use the folder."""
        if self._lock < 0:
            return
        self._disk.close()
        os.close(self._lock)
        self._lock = -1
        self._disk.check()

    def episode(self, session: Session, seed: Optional[int] = None, task: str = "", world: int = 0) -> EpisodeWriter:
        """Begins an episode where a world of the session is now. Several may be recorded at a time, of one world each.

        seed: of whatever was drawn for it. task: what is to be done, in words. Leaving its `with` block finishes the
        episode; leaving it by an exception discards it. Raises EpisodeError when earlier ones cannot be put on the disk.
        """
        if self._lock < 0:
            raise EpisodeError(f"{self.folder}: the recorder is closed")
        number, self._next = self._next, self._next + 1
        known = {"number": number, "seed": seed, "task": task, "scene": session.scene}
        file = EpisodeFile(self.folder, known, self._disk)
        try:
            return EpisodeWriter(file, session, world, known, self._scene(session), self.positions_dtype)
        except BaseException:
            file.forget()
            raise

    def _scene(self, session: Session) -> RecordedScene:
        if session.scene not in self._scenes:
            self._scenes[session.scene] = scene_of_folder(self.folder, session._client, session.scene)
        return self._scenes[session.scene]

    def _numbered(self) -> list[tuple[int, Path]]:
        matches = ((_NUMBER.fullmatch(path.name), path) for path in sorted(self.folder.iterdir()))
        return [(int(match.group(1)), path) for match, path in matches if match]

    def _find_lost(self) -> tuple[LostEpisode, ...]:
        """Unfinished files go, and so do markers of files that are whole."""
        for path in self.folder.glob("*" + PART):
            path.unlink()
        markers = [path for _, path in self._numbered() if path.suffix == ".open"]
        lost = tuple(found for found in map(found_lost, markers) if found is not None)
        sync_folder(self.folder)
        return lost


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
