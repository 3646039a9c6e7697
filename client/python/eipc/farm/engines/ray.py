"""Workers as tasks of a Ray cluster. Written after Ray's documented interface (init, remote, wait, get, cancel) and tested against a
stand-in of it: Ray is not in Debian."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional, Sequence

from ..errors import EvaluationError
from .base import Ended, worker_command
from .local import run_worker, worker_environment


class RayEngine:
    """options: the cluster's address; none: what ray.init() finds. The folder must be on a file system that its nodes share."""

    name = "ray"

    def __init__(self, workers: int, options: Sequence[str] = ()) -> None:
        try:
            import ray
        except ImportError:
            raise EvaluationError("Ray is not installed; it is not in Debian: pip install ray") from None
        self._ray, self.capacity = ray, workers
        if not ray.is_initialized():
            ray.init(address=options[0] if options else None)
        self._remote = ray.remote(num_cpus=1, max_retries=0)(run_worker)

    def __repr__(self) -> str:
        return f"RayEngine({self.capacity} workers)"

    def submit(self, folder: Path, cases: Sequence[int]) -> Any:
        return self._remote.remote(worker_command(folder, cases), {"PYTHONPATH": worker_environment()["PYTHONPATH"]}, os.getcwd())

    def poll(self, job: Any) -> Optional[Ended]:
        ready, _ = self._ray.wait([job], timeout=0)
        if not ready:
            return None
        try:
            status, words = self._ray.get(job)
        except Exception as error:  # of the task's node, worker or cancellation
            return Ended(None, f"Ray: {type(error).__name__}: {error}")
        return Ended(status, words)

    def cancel(self, job: Any) -> None:
        self._ray.cancel(job, force=True)

    def close(self) -> None:
        """The cluster is its owner's."""
