"""Workers as processes of this machine, each with a server of its own or with one of those given."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from ..errors import EvaluationError
from .base import Ended, last_words, words_at_end, words_of, worker_command

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[3])


@dataclass
class LocalJob:
    process: "subprocess.Popen[bytes]"
    log: Path
    server: str


class LocalEngine:
    """servers: addresses, each of which serves one worker at a time, and the workers of others when those are lost; none: every worker
    starts its own. feed: gives more cases to a worker that runs (engines.base.feeder_of); None where workers have several servers, to
    the first of which only another worker comes back."""

    name = "local"

    def __init__(self, workers: int, servers: Sequence[str] = ()) -> None:
        self.capacity = len(servers) if servers else workers
        self._free = list(servers)
        self._servers = list(servers)
        self._jobs = 0
        self.feed = self._feed if len(servers) < 2 else None

    def __repr__(self) -> str:
        return f"LocalEngine({self.capacity} workers)"

    def submit(self, folder: Path, cases: Sequence[int], more: bool = False) -> LocalJob:
        """more: the worker does not end before `feed` says so."""
        self._jobs += 1
        server = self._free.pop(0) if self._servers else ""
        mine = [server, *(other for other in self._servers if other != server)] if server else []
        return start_worker(folder, cases, mine, self._jobs, more)

    def poll(self, job: LocalJob) -> Optional[Ended]:
        ended = poll_worker(job)
        if ended is not None:
            self._give_back(job)
        return ended

    def cancel(self, job: LocalJob) -> None:
        end_worker(job)
        self._give_back(job)

    def close(self) -> None:
        """Nothing is left to do."""

    def _feed(self, job: LocalJob, cases: Sequence[int]) -> None:
        """More cases for a worker, which spares the start of another one; none: there will be no more, and it ends after those that it has.
        What a worker that has ended was given is left, as what it had."""
        lines = job.process.stdin
        if lines is None or lines.closed:
            return
        try:
            if cases:
                lines.write(f"{words_of(cases)}\n".encode())
            else:
                lines.close()
        except BrokenPipeError:
            pass  # it has ended, which poll will say

    def _give_back(self, job: LocalJob) -> None:
        if job.server:
            self._free.append(job.server)
            job.server = ""


def start_worker(folder: Path, cases: Sequence[int], servers: Sequence[str], number: int, more: bool = False) -> LocalJob:
    """A worker process, whose session ends with it. number: of the jobs of this process, for its log. more: it takes more cases by its
    standard input, and ends with that."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    log = logs / f"worker-{os.getpid()}-{number}.log"
    try:
        with open(log, "wb") as out:
            process = subprocess.Popen([*worker_command(folder, cases, servers), *(["--more"] if more else [])], bufsize=0,
                                       stdin=subprocess.PIPE if more else subprocess.DEVNULL, stdout=out, stderr=out,
                                       env=worker_environment(), start_new_session=True)
    except OSError as error:
        raise EvaluationError(f"a worker cannot be started: {error.strerror}") from error
    return LocalJob(process, log, servers[0] if servers else "")


def poll_worker(job: LocalJob) -> Optional[Ended]:
    if not _end_group(job.process):
        return None
    _close(job)
    return Ended(job.process.wait(), last_words(job.log))


def end_worker(job: LocalJob) -> None:
    _close(job)
    if job.process.poll() is not None:
        return
    # With the server that it started: they are a session of their own.
    os.killpg(job.process.pid, signal.SIGTERM)
    os.killpg(job.process.pid, signal.SIGCONT)  # it may be stopped
    try:
        job.process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(job.process.pid, signal.SIGKILL)
        job.process.wait()


def _close(job: LocalJob) -> None:
    if job.process.stdin is not None:
        job.process.stdin.close()


def _end_group(process: "subprocess.Popen[bytes]") -> bool:
    """Whether a worker has ended; what it left behind, such as a server, is ended then. The worker is not yet waited for, so that its
    number stays its own."""
    if process.returncode is None:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return False
        os.killpg(process.pid, signal.SIGTERM)
    return True


def worker_environment() -> dict[str, str]:
    """This process's, in which the worker finds this package and the modules of this folder."""
    path = [_PACKAGE_ROOT, os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1"}


def run_worker(command: list[str], environment: dict[str, str], folder: str) -> tuple[int, str]:
    """In a process of an engine on any machine: the worker's exit status and last words."""
    with tempfile.TemporaryFile() as out:  # a pipe would stay open as long as a server that was left behind
        process = subprocess.Popen(command, env={**os.environ, **environment}, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=out, start_new_session=True)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        _end_group(process)
        status = process.wait()
        return status, words_at_end(out)
