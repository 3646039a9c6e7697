"""Waits for the disk in a thread of its own, so that who writes files need not."""

from __future__ import annotations

import queue
import threading
from typing import Callable, Optional

from .errors import EpisodeError

MOST_WAITING = 16


class DiskQueue:
    """Takes tasks that put files on the disk, one after another in the order in which they come. At most MOST_WAITING of them wait:
    put() waits then. Once one has failed no other is begun, and every call says so."""

    def __init__(self) -> None:
        self._tasks: "queue.Queue[Optional[Callable[[], None]]]" = queue.Queue(MOST_WAITING)
        self._thread: Optional[threading.Thread] = None
        self._failure: Optional[Exception] = None

    def __repr__(self) -> str:
        return f"DiskQueue({self._tasks.qsize()} waiting)"

    def put(self, task: Callable[[], None]) -> None:
        """Has a task done. Raises EpisodeError as check() does."""
        self.check()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="eipc-disk", daemon=True)
            self._thread.start()
        self._tasks.put(task)

    def check(self) -> None:
        """Raises EpisodeError when a task has failed."""
        if self._failure is not None:
            raise EpisodeError(f"what was recorded could not be put on the disk ({self._failure}); episodes whose markers (.open) are still "
                               "there may be lost with the machine") from self._failure

    def flush(self) -> None:
        """Waits until all that was put is done. Raises EpisodeError when it is not."""
        self._tasks.join()
        self.check()

    def close(self) -> None:
        """Waits likewise and ends the thread; raises nothing."""
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                if task is None:
                    return
                if self._failure is None:
                    task()
            except Exception as error:  # whatever it is, the caller must know
                self._failure = error
            finally:
                self._tasks.task_done()
