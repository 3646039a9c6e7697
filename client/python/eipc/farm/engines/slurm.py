"""Workers as Slurm jobs: sbatch, squeue, scontrol, scancel. A preempted or requeued job runs its remaining cases again."""

from __future__ import annotations

import json
import os
import re
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
    """A job of one task for each worker, those that are submitted together as an array. options: sbatch's, such as --partition=short or --mem=2G. The folder must be on a file
    system that the nodes share."""

    name = "slurm"

    def __init__(self, workers: int, options: Sequence[str] = ()) -> None:
        if shutil.which("sbatch") is None:
            raise EvaluationError("sbatch is not on PATH: Slurm is not installed here (Debian: slurm-client)")
        self.capacity, self._options, self._arrays = workers, tuple(options), 0

    def __repr__(self) -> str:
        return f"SlurmEngine({self.capacity} workers, {' '.join(self._options)})"

    def submit(self, folder: Path, cases: Sequence[int]) -> SlurmJob:
        logs = _logs(folder)
        job = self._sbatch(folder, shlex.join(worker_command(folder, cases)), [f"--output={logs}/slurm-%j.log"])
        return SlurmJob(job, logs / f"slurm-{job}.log")

    def submit_array(self, folder: Path, jobs: Sequence[Sequence[int]]) -> list[SlurmJob]:
        """An array job with a task for each of `jobs`. Which cases a task has is in a file, as are its arguments when it is requeued."""
        logs = _logs(folder)
        cases = logs / f"array-{os.getpid()}-{self._arrays}.json"
        self._arrays += 1
        cases.write_text(json.dumps([list(map(int, job)) for job in jobs]))
        command = shlex.join(worker_command(folder, [0]))
        words = command.rsplit(" ", 1)[0] + f' "@{cases}:$SLURM_ARRAY_TASK_ID"'
        job = self._sbatch(folder, words, [f"--array=0-{len(jobs) - 1}", f"--output={logs}/slurm-%A_%a.log"])
        return [SlurmJob(f"{job}_{task}", logs / f"slurm-{job}_{task}.log") for task in range(len(jobs))]

    def _sbatch(self, folder: Path, command: str, more: Sequence[str]) -> str:
        words = ["sbatch", "--parsable", "--requeue", "--open-mode=append", "--ntasks=1", "--job-name=eipc-evaluate",
                 f"--chdir={os.getcwd()}", "--export=ALL", *more, *self._options]
        job = _run(words, f"#!/bin/sh\nexec {command}\n", worker_environment()).split(";")[0].strip()
        if not job.isdigit():
            raise EvaluationError(f"sbatch did not say which job it submitted: {job!r}")
        return job

    def poll(self, job: SlurmJob) -> Optional[Ended]:
        result = subprocess.run(["scontrol", "show", "job", job.id, "--oneliner"], capture_output=True, text=True, check=False)
        if result.returncode != 0:  # forgotten a while after its end
            return Ended(None, last_words(job.log)) if "Invalid job id" in result.stderr else None
        fields = dict(word.split("=", 1) for word in result.stdout.split() if "=" in word)
        state = fields.get("JobState", "")
        if state not in _OVER:
            return None
        code = re.fullmatch(r"(\d+):(\d+)", fields.get("ExitCode", ""))  # status:signal
        words = last_words(job.log)
        if state not in ("COMPLETED", "FAILED") or code is None:
            return Ended(None, f"Slurm: {state} {fields.get('Reason', '')} {words}".strip())
        return Ended(-int(code.group(2)) if int(code.group(2)) else int(code.group(1)), words)

    def cancel(self, job: SlurmJob) -> None:
        subprocess.run(["scancel", job.id], capture_output=True, check=False)

    def close(self) -> None:
        """Nothing is left to do."""


def _logs(folder: Path) -> Path:
    logs = folder.resolve() / "logs"
    logs.mkdir(exist_ok=True)
    return logs


def _run(words: list[str], text: str, environment: dict[str, str]) -> str:
    result = subprocess.run(words, input=text, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise EvaluationError(f"{words[0]} failed: {(result.stderr or result.stdout).strip()}")
    return result.stdout
