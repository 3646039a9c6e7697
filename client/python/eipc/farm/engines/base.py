"""What an evaluation asks of an engine: to run the worker with some cases, and to say when it has ended."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Callable, Optional, Protocol, Sequence

_WORDS_BYTES = 1 << 14  # of the end of a log


@dataclass(frozen=True)
class Ended:
    """status: the worker's exit status; None where only the engine's words are known. words: the end of what was printed, or the
    engine's reason."""

    status: Optional[int]
    words: str = ""


class Engine(Protocol):
    """Runs workers; one job has the cases of one worker. Which results there are, the folder says, not the engine."""

    name: str
    capacity: int  # jobs at a time

    def submit(self, folder: Path, cases: Sequence[int]) -> Any:
        """Starts a job. Raises EvaluationError where the engine takes none."""

    def poll(self, job: Any) -> Optional[Ended]:
        """None while it runs or waits."""

    def cancel(self, job: Any) -> None:
        """Ends it, if it has not ended."""

    def close(self) -> None:
        """No job is left."""


def submit_all(engine: Engine, folder: Path, jobs: Sequence[Sequence[int]]) -> list[Any]:
    """Handles of several jobs, which an engine that has arrays of jobs starts as one, and which take more cases where it can give them."""
    if feeder_of(engine) is not None:
        start: Any = engine.submit
        return [start(folder, cases, more=True) for cases in jobs]
    together = getattr(engine, "submit_array", None)
    if together is not None and len(jobs) > 1:
        return list(together(folder, jobs))
    return [engine.submit(folder, cases) for cases in jobs]


def feeder_of(engine: Engine) -> Optional[Callable[[Any, Sequence[int]], None]]:
    """feed(job, cases) of an engine whose running workers take more cases, which they run after those that they have; none: they end
    after those. A job that is submitted with more=True ends after it has got an empty list."""
    feed: Optional[Callable[[Any, Sequence[int]], None]] = getattr(engine, "feed", None)
    return feed


def words_of(cases: Sequence[int]) -> str:
    return ",".join(map(str, cases))


def worker_command(folder: Path, cases: Sequence[int], servers: Sequence[str] = (), python: str = "") -> list[str]:
    """python: the interpreter on the machine that runs it; default this one."""
    words = [python or sys.executable, "-m", "eipc.farm.worker", str(folder.resolve()), "--cases", words_of(cases)]
    return words + [word for server in servers for word in ("--server", server)]


def last_words(path: Path) -> str:
    """The end of a log, for messages."""
    try:
        with open(path, "rb") as log:
            return words_at_end(log)
    except OSError:
        return ""


def words_at_end(file: IO[bytes], lines: int = 5) -> str:
    """The last lines of a file, of which no more than the end is read: policies may print much. Raises OSError."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _WORDS_BYTES))
    return " | ".join(file.read(_WORDS_BYTES).decode(errors="replace").strip().splitlines()[-lines:])
