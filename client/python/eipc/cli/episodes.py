"""Episodes that a command names: files, or folders of a recorder."""

from __future__ import annotations

from pathlib import Path
from typing import Iterable, Iterator

from ..client import Client
from ..episode import Episode, episode_paths
from ..errors import EpisodeError
from ..recorder import Recorder
from ..session_log import read_log, record_again

SESSION_LOG = ".eipcrec"  # what the viewer's page saves of a session that is recorded


def paths_of(named: Iterable[Path]) -> list[Path]:
    """The files, in order. Raises EpisodeError for a folder without any."""
    found: list[Path] = []
    for path in named:
        inside = episode_paths(path) if path.is_dir() else [path]
        if not inside:
            raise EpisodeError(f"{path}: holds no episodes")
        found += inside
    return found


def take_log_again(path: Path, client: Client, recorder: Recorder, threads: int = 1) -> Path:
    """Records what a session recorded as an episode, and says where its states are not those of the session. Raises EpisodeError."""
    try:
        log = path.read_bytes()
    except OSError as error:
        raise EpisodeError(f"{path}: cannot be read ({error.strerror})") from None
    run = read_log(log)
    episode, parted = record_again(run, client, recorder, task=path.stem, threads=threads)
    build = client.server_info().build
    if parted is None:
        print(f"{path}: {len(run.steps)} requests, every state the same", flush=True)
    else:
        causes = [f"the server is of build {build}, not {run.build}"] if build != run.build else []
        causes += ["time limits ended steps"] if any(step.limited for step in run.steps) else []
        print(f"{path}: {len(run.steps)} requests, another state from request {parted} on{': ' if causes else ''}{' and '.join(causes)}", flush=True)
    return episode


def load_all(named: Iterable[Path]) -> Iterator[Episode]:
    return map(Episode.load, paths_of(named))
