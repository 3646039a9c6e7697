"""What a session takes in fact, beside what the server sets aside for it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import eipc
from service_floods import allocated_bytes
from service_soak import gauges

# Sessions that are compared with none: enough for pages and allocator to average out.
SESSIONS = 6


@dataclass(frozen=True)
class Measured:
    """Bytes of a session: growth, and what the budget set aside for it."""

    taken: float
    estimate: float

    @property
    def ratio(self) -> float:
        return self.estimate / self.taken


def measure(server: eipc.ServerProcess, metrics: str, scene_file: Path, dt: float, steps: int) -> Measured:
    """Runs one session for so many steps, then forks it SESSIONS times and lets each copy take two more."""
    with server.client(default_timeout=600) as client:
        session = client.create_scene(scene_file).create_session()
        for _ in range(steps):
            session.step(dt)
        copy = session.fork()
        copy.step(dt, substeps=2)  # what the server keeps for the first of a kind is not a session's
        before, reserved = _settled(server), gauges(metrics)["eipc_memory_reserved_bytes"]
        copies = [session.fork() for _ in range(SESSIONS)]
        for each in copies:
            each.step(dt, substeps=2)
        grown = _settled(server) - before
        estimate = gauges(metrics)["eipc_memory_reserved_bytes"] - reserved
        return Measured(grown / SESSIONS, estimate / SESSIONS)


def _settled(server: eipc.ServerProcess) -> int:
    time.sleep(0.2)
    return allocated_bytes(server.process)
