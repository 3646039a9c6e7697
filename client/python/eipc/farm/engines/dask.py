"""Workers as tasks of a Dask cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional, Sequence

from ..errors import EvaluationError
from .base import Ended, worker_command
from .local import run_worker, worker_environment


class DaskEngine:
    """options: the scheduler's address, such as tcp://host:8786; none: a cluster of `workers` processes on this machine. The folder
    must be on a file system that its workers share. client: a distributed.Client that is there already."""

    name = "dask"

    def __init__(self, workers: int, options: Sequence[str] = (), client: Any = None) -> None:
        if client is None:
            try:
                import distributed
            except ImportError:
                raise EvaluationError("Dask is not installed (Debian: python3-distributed)") from None
            Client: Any = distributed.Client  # has no types
            if options:
                client = Client(options[0], timeout=20)
            else:
                client = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        self.capacity, self._client = workers, client

    def __repr__(self) -> str:
        return f"DaskEngine({self.capacity} workers, {self._client!r})"

    def submit(self, folder: Path, cases: Sequence[int]) -> Any:
        path = {"PYTHONPATH": worker_environment()["PYTHONPATH"]}
        # Tasks are started again by us, who know which cases are left, not by Dask.
        return self._client.submit(run_worker, worker_command(folder, cases), path, os.getcwd(), pure=False, retries=0)

    def poll(self, job: Any) -> Optional[Ended]:
        if job.status in ("pending", "processing"):
            return None
        if job.status == "finished":
            status, words = job.result()
            return Ended(status, words)
        reason = job.exception() if job.status == "error" else None
        return Ended(None, f"Dask: {job.status}" + (f": {reason}" if reason is not None else ""))

    def cancel(self, job: Any) -> None:
        job.cancel(force=True)

    def close(self) -> None:
        self._client.close()
