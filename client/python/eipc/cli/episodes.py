"""Episodes that a command names: files, or folders of a recorder."""

from __future__ import annotations

from pathlib import Path
from typing import Iterable, Iterator

from ..episode import Episode, episode_paths
from ..errors import EpisodeError


def paths_of(named: Iterable[Path]) -> list[Path]:
    """The files, in order. Raises EpisodeError for a folder without any."""
    found: list[Path] = []
    for path in named:
        inside = episode_paths(path) if path.is_dir() else [path]
        if not inside:
            raise EpisodeError(f"{path}: holds no episodes")
        found += inside
    return found


def load_all(named: Iterable[Path]) -> Iterator[Episode]:
    return map(Episode.load, paths_of(named))
