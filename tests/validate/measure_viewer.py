#!/usr/bin/python3
"""What pages cost a session: processor time of a step without pages, with 20 that read, and with one that has read nothing for a minute.

    measure_viewer.py [--rounds N] [--steps N]      prints a table

Processor time is that of the server but for the viewer's own thread. The machine's other work changes caches and clocks, so steps with
pages and steps without are taken in turns, and medians of rounds are compared. The page that reads nothing watches a session of its own,
as long as the other one, for at least 60 s. Two equal sessions do not take quite the same time: their ratio before that page came counts
as 1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "client" / "python"), str(ROOT / "client" / "python" / "tests")]

import eipc  # noqa: E402
from eipc.v1 import geometry_pb2, observation_pb2, viewer_pb2  # noqa: E402
from web_socket import WebSocket  # noqa: E402

OBSERVE = observation_pb2.ObservationRequest(
    poses=True, cage_positions=True, contact_wrenches=True, contact_counts=True, min_distance=True, solver_report=True, boundary_poses=True,
    positions_dtype=geometry_pb2.FLOAT32)
SCENE = ROOT / "models" / "scenes" / "bubble_teddy_low_sound.textproto"


def processor_seconds(pid: int) -> float:
    """Of a process but for its viewer's thread; threads that have ended count, too.

    Threads that the viewer's thread starts inherit its name, and may take steps: of those with the name the first is meant.
    """
    clock = (~pid << 3) | 2  # Linux: the processor time of another process (clock_getcpuclockid)
    named = [thread for thread in Path(f"/proc/{pid}/task").iterdir() if (thread / "comm").read_text(encoding="utf-8").strip() == "eipc-viewer"]
    viewer = min(named, key=lambda thread: int(thread.name))
    return time.clock_gettime(clock) - int((viewer / "schedstat").read_text(encoding="utf-8").split()[0]) * 1e-9


class Pages:
    """So many pages that watch a session; some read, others do not."""

    def __init__(self, port: int, session: str, readers: int, dead: int) -> None:
        self.frames = 0
        self._pages = [WebSocket(port, receive_buffer=4096) for _ in range(readers + dead)]
        for page in self._pages:
            page.ask(viewer_pb2.ViewerRequest(id=1, watch=viewer_pb2.ViewerWatch(session=session, observe=OBSERVE, frames_per_s=60)))
        for page in self._pages[dead:]:
            threading.Thread(target=self._read, args=(page,), daemon=True).start()

    def _read(self, page: WebSocket) -> None:
        try:
            while page.next():
                self.frames += 1
        except (OSError, ConnectionError):
            return

    def close(self) -> None:
        for page in self._pages:
            page.close()


READERS = 20
UNREAD_S = 60.0


def measure(server: eipc.ServerProcess, session: eipc.Session, steps: int) -> float:
    """Processor time of a step, ms, over the first `steps` of the schedule."""
    session.reset()
    before = processor_seconds(server.process.pid)
    with session.stream() as stream:
        for _ in range(steps):
            stream.step(0.02)
    return 1e3 * (processor_seconds(server.process.pid) - before) / steps


class Costs(NamedTuple):
    """Processor time of a step, ms, in each round."""

    alone: list[float]
    read: list[float]  # by READERS pages
    alone_before: list[float]  # of the session without a page, before the other one got one
    other_before: list[float]
    alone_beside: list[float]  # of the session without a page, while the page of the other one read nothing
    unread: list[float]

    def read_percent(self) -> float:
        return 100 * (statistics.median(self.read) / statistics.median(self.alone) - 1)

    def unread_percent(self) -> float:
        ratio = statistics.median(self.unread) / statistics.median(self.alone_beside)
        return 100 * (ratio * statistics.median(self.alone_before) / statistics.median(self.other_before) - 1)


def measure_costs(binary: Path, rounds: int, steps: int) -> Costs:
    """In turns: without a page and with READERS, then of two sessions, of which one gets a page that reads nothing."""
    costs = Costs([], [], [], [], [], [])
    with eipc.launch(binary, ["--listen=127.0.0.1:0", "--viewer=127.0.0.1:0", "--log-level=off"]) as server, server.client() as client:
        port = int(server.viewer_url.rstrip("/").rpartition(":")[2])
        scene = client.create_scene(SCENE)
        with scene.create_session() as session, scene.create_session() as other:
            def in_turns(first: list[float], second: list[float]) -> None:
                first.append(measure(server, session, steps))
                second.append(measure(server, other, steps))

            in_turns([], [])  # fills caches
            for _ in range(rounds):
                costs.alone.append(measure(server, session, steps))
                pages = Pages(port, session.name, READERS, 0)
                costs.read.append(measure(server, session, steps))
                pages.close()
            for _ in range(rounds):
                in_turns(costs.alone_before, costs.other_before)
            page = Pages(port, other.name, 0, 1)
            until = time.monotonic() + UNREAD_S
            while time.monotonic() < until or len(costs.unread) < rounds:
                in_turns(costs.alone_beside, costs.unread)
            page.close()
    return costs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    binary = os.environ.get("EIPC_SERVER") or ROOT / "build" / "release" / "bin" / "eipc-server"
    costs = measure_costs(Path(binary), options.rounds, options.steps)
    print("| pages | processor time of a step, ms (median of rounds) | against none |\n| --- | --- | --- |")
    rows = (("none", costs.alone, 0.0), (f"{READERS} that read", costs.read, costs.read_percent()),
            (f"one that reads nothing for {UNREAD_S:.0f} s", costs.unread, costs.unread_percent()))
    for name, values, percent in rows:
        print(f"| {name} | {statistics.median(values):.3f} (from {min(values):.3f} to {max(values):.3f}, {len(values)} rounds) | {percent:+.1f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
