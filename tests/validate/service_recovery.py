"""How soon sessions are back after `kill -9`, whatever the age of their journals."""

from __future__ import annotations

import os
import random
import signal
import statistics
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

import eipc
from service_fronts import processor_seconds, server_pid
from service_launch import launch

ACTIVE, IDLE = 8, 56
DT_S = 0.01
# Of one request.
MOST_SUBSTEPS = 4
# From what each kill has left; the machine may have something else to do at a moment.
STARTS = 5


@dataclass
class Start:
    """Starts on what a killed server left. stepped_s: the age of the journals, as time of stepping; ready_s: until the server said that
    it was ready (the median; longest_s), of which it computed processor_s (on all cores together, whatever the machine did beside); journal_bytes: what was to be read; stopped_early: active sessions whose steps had failed before the server was killed;
    behind, ahead: sessions that are before what was acknowledged, or beyond what the one request without an answer would have done."""

    stepped_s: float
    ready_s: float
    longest_s: float
    processor_s: float
    sessions: int
    steps: int
    journal_bytes: int
    stopped_early: int
    behind: int = 0
    ahead: int = 0


@dataclass
class _Known:
    """What is acknowledged of a session, by its name."""

    steps: dict[str, int] = field(default_factory=dict)


class _Stepper(threading.Thread):
    """Steps a session without pause until its server is gone, and keeps what was acknowledged."""

    def __init__(self, session: eipc.Session, known: _Known, seed: int) -> None:
        super().__init__(daemon=True)
        self._session, self._known, self._rng = session, known, random.Random(seed)

    def run(self) -> None:
        try:
            with self._session.stream() as stream:
                while True:
                    self._known.steps[self._session.name] = stream.step(DT_S, substeps=self._rng.randint(1, MOST_SUBSTEPS)).step
        except eipc.EipcError:
            return  # what it had no answer to, the server that is started next may have taken or not


def recover(program: Path, folder: Path, scene: Any, ages_s: Sequence[float], seed: int) -> list[Start]:
    """Steps ACTIVE of the sessions in `folder` at full rate until they are so old, kills the server, and starts it again, for each age
    in turn. scene: what the sessions are made of."""
    arguments = ("--listen=127.0.0.1:0", f"--state-dir={folder}", f"--max-sessions={ACTIVE + IDLE}", "--log-level=off")
    known, starts, stepped = _Known(), [], 0.0
    server = launch(program, arguments)
    try:
        active = _make_sessions(server, scene, known)
        for age in ages_s:
            stopped = _step_and_kill(server, active, known, age - stepped, seed)
            stepped = age
            journal = sum(path.stat().st_size for path in (folder / "sessions").iterdir())
            ready, computed = [], []
            for again in range(STARTS):
                if again:
                    _kill(server)
                begin = time.monotonic()
                server = launch(program, arguments)
                ready.append(time.monotonic() - begin)
                computed.append(processor_seconds(server_pid(server.process)))
            starts.append(_compare(server, known, Start(age, statistics.median(ready), max(ready), statistics.median(computed), 0,
                                                        sum(known.steps.values()), journal, stopped)))
    finally:
        server.stop()
    return starts


def _make_sessions(server: eipc.ServerProcess, scene: Any, known: _Known) -> list[str]:
    """Makes all sessions, lets each take a step, and returns the names of those that are to be active."""
    with server.client(default_timeout=600) as client:
        sessions = [client.create_scene(scene).create_session()]
        sessions += [sessions[0].fork() for _ in range(ACTIVE + IDLE - 1)]
        for session in sessions:
            known.steps[session.name] = session.step(DT_S).step
        return [session.name for session in sessions[:ACTIVE]]


def _step_and_kill(server: eipc.ServerProcess, active: list[str], known: _Known, seconds: float, seed: int) -> int:
    """Returns how many of the active sessions were not stepped to the end."""
    with server.client() as client:
        steppers = [_Stepper(client.session(name), known, seed + i) for i, name in enumerate(active)]
        for stepper in steppers:
            stepper.start()
        time.sleep(seconds)
        stopped = sum(not stepper.is_alive() for stepper in steppers)
        _kill(server)
        for stepper in steppers:
            stepper.join()
        return stopped


def _kill(server: eipc.ServerProcess) -> None:
    os.kill(server_pid(server.process), signal.SIGKILL)
    server.process.wait()


def _compare(server: eipc.ServerProcess, known: _Known, start: Start) -> Start:
    with server.client() as client:
        found = {info.name: info.step for info in client.list_sessions()}
    start.sessions = len(found)
    for name, acknowledged in known.steps.items():
        step = found.get(name, -1)
        start.behind += step < acknowledged
        start.ahead += step > acknowledged + MOST_SUBSTEPS
        known.steps[name] = step
    return start
