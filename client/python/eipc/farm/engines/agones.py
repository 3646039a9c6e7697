"""Workers on this machine, each with a server that Agones hands out: a GameServerAllocation made by kubectl."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from ..backoff import Backoff
from ..errors import EvaluationError
from .base import Ended
from .local import LocalJob, end_worker, poll_worker, start_worker

_PATIENCE_S = 600.0  # an autoscaler may have to start machines
_NO_SERVER = 6  # as the worker says it


@dataclass
class AgonesJob:
    """Waits for a server until it has a worker."""

    folder: Path
    cases: tuple[int, ...]
    since: float
    worker: Optional[LocalJob] = None
    attempts: int = 0
    next_at: float = 0.0
    words: str = ""


@dataclass
class AgonesEngine:
    """options: fleet=NAME (default eipc), namespace=NAME (default eipc), port=NAME (default grpc); others are kubectl's, such as
    --context=test. A server goes back to its fleet by itself when the worker's session ends; one that is lost is replaced by Agones, and
    its cases by another allocation. Workers reach servers with the credentials of EIPC_TOKEN_FILE and EIPC_CA_FILE."""

    workers: int
    options: Sequence[str] = ()
    clock: Callable[[], float] = time.monotonic
    backoff: Backoff = field(default_factory=lambda: Backoff(1.0, 15.0, random.Random()))
    name: str = "agones"

    def __post_init__(self) -> None:
        if shutil.which("kubectl") is None:
            raise EvaluationError("kubectl is not on PATH (Debian: kubernetes-client)")
        self.capacity, self._jobs = self.workers, 0
        self._names = {"fleet": "eipc", "namespace": "eipc", "port": "grpc"}
        self._kubectl = []
        for word in self.options:
            name, _, value = word.partition("=")
            if name in self._names:
                self._names[name] = value
            elif word.startswith("-"):
                self._kubectl.append(word)
            else:
                raise EvaluationError(f"--engine-option {word}: there are {', '.join(f'{n}=NAME' for n in self._names)} and kubectl's own")

    def submit(self, folder: Path, cases: Sequence[int]) -> AgonesJob:
        job = AgonesJob(folder, tuple(cases), self.clock())
        self._try(job)
        return job

    def poll(self, job: AgonesJob) -> Optional[Ended]:
        if job.worker is not None:
            return poll_worker(job.worker)
        if self.clock() - job.since > _PATIENCE_S:
            return Ended(_NO_SERVER, f"Agones gave no server of the fleet {self._names['fleet']}: {job.words}")
        if self.clock() >= job.next_at:
            self._try(job)
        return None

    def cancel(self, job: AgonesJob) -> None:
        if job.worker is not None:
            end_worker(job.worker)

    def close(self) -> None:
        """Servers go back to their fleet by themselves."""

    def _try(self, job: AgonesJob) -> None:
        address, job.words = self._allocate()
        if address:
            self._jobs += 1
            job.worker = start_worker(job.folder, job.cases, [address], self._jobs)
            return
        job.next_at = self.clock() + self.backoff.delay(job.attempts)
        job.attempts += 1

    def _allocate(self) -> tuple[str, str]:
        """HOST:PORT, or "" and why there is none. Raises EvaluationError where kubectl cannot ask."""
        command = ["kubectl", *self._kubectl, "create", "-f", "-", "-o", "json"]
        done = subprocess.run(command, input=json.dumps(self.request()), capture_output=True, text=True, check=False)
        if done.returncode:
            raise EvaluationError(f"kubectl cannot allocate a game server: {done.stderr.strip()}")
        try:
            status = json.loads(done.stdout)["status"]
            if status["state"] != "Allocated":  # UnAllocated: none is ready; Contention: somebody else got it
                return "", str(status["state"])
            ports = {port["name"]: port["port"] for port in status["ports"]}
            return f"{status['address']}:{ports[self._names['port']]}", ""
        except (ValueError, KeyError, TypeError) as error:
            raise EvaluationError(f"the allocation's answer has not the form of Agones' documentation: {type(error).__name__} {error}") from None

    def request(self) -> dict[str, Any]:
        """The GameServerAllocation."""
        return {"apiVersion": "allocation.agones.dev/v1", "kind": "GameServerAllocation",
                "metadata": {"generateName": "eipc-", "namespace": self._names["namespace"]},
                "spec": {"scheduling": "Packed", "selectors": [
                    {"matchLabels": {"agones.dev/fleet": self._names["fleet"]}, "gameServerState": "Ready"}]}}
