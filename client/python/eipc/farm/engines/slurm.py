"""Workers as Slurm jobs: sbatch, squeue, scontrol, scancel. A preempted or requeued job runs its remaining cases again."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from ..errors import EvaluationError
from .base import Ended, last_words, worker_command
from .local import worker_environment

_OVER = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"}


@dataclass
class SlurmJob:
    id: str
    log: Path


class SlurmEngine:
    """One job of one task for each worker. options: sbatch's, such as --partition=short or --mem=2G. The folder must be on a file
    system that the nodes share."""

    name = "slurm"

    def __init__(self, workers: int, options: Sequence[str] = ()) -> None:
        if shutil.which("sbatch") is None:
            raise EvaluationError("sbatch is not on PATH: Slurm is not installed here (Debian: slurm-client)")
        self.capacity, self._options = workers, tuple(options)

    def submit(self, folder: Path, cases: Sequence[int]) -> SlurmJob:
        logs = folder.resolve() / "logs"
        logs.mkdir(exist_ok=True)
        script = "#!/bin/sh\nexec " + shlex.join(worker_command(folder, cases)) + "\n"
        words = ["sbatch", "--parsable", "--requeue", "--open-mode=append", "--ntasks=1", "--job-name=eipc-evaluate",
                 f"--chdir={os.getcwd()}", f"--output={logs}/slurm-%j.log", "--export=ALL", *self._options]
        job = _run(words, script, worker_environment()).split(";")[0].strip()
        if not job.isdigit():
            raise EvaluationError(f"sbatch did not say which job it submitted: {job!r}")
        return SlurmJob(job, logs / f"slurm-{job}.log")

    def poll(self, job: SlurmJob) -> Optional[Ended]:
        result = subprocess.run(["scontrol", "show", "job", job.id, "--oneliner"], capture_output=True, text=True, check=False)
        if result.returncode != 0:  # forgotten a while after its end
            return Ended(None, last_words(job.log)) if "Invalid job id" in result.stderr else None
        fields = dict(word.split("=", 1) for word in result.stdout.split() if "=" in word)
        state = fields.get("JobState", "")
        if state not in _OVER:
            return None
        status = fields.get("ExitCode", "").split(":")[0]
        words = last_words(job.log)
        return Ended(int(status) if state in ("COMPLETED", "FAILED") and status.isdigit() else None,
                     words if state in ("COMPLETED", "FAILED") else f"Slurm: {state} {fields.get('Reason', '')} {words}".strip())

    def cancel(self, job: SlurmJob) -> None:
        subprocess.run(["scancel", job.id], capture_output=True, check=False)

    def close(self) -> None:
        """Nothing is left to do."""


def _run(words: list[str], text: str, environment: dict[str, str]) -> str:
    result = subprocess.run(words, input=text, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise EvaluationError(f"{words[0]} failed: {(result.stderr or result.stdout).strip()}")
    return result.stdout
