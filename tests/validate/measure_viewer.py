#!/usr/bin/python3
"""What pages cost a session: processor time of a step without pages, with one that reads nothing, and with 20 that read, in turns.

    measure_viewer.py [--rounds N] [--steps N]      prints a table

Processor time is that of the server but for the viewer's own thread. The machine's other work changes caches and clocks, so the
three are taken in turns, and medians of rounds are compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
from pathlib import Path

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


def measure(server: eipc.ServerProcess, session: eipc.Session, steps: int, readers: int, dead: int) -> float:
    """Processor time of a step, ms, over the first `steps` of the schedule."""
    port = int(server.viewer_url.rstrip("/").rpartition(":")[2])
    session.reset()
    pages = Pages(port, session.name, readers, dead)
    before = processor_seconds(server.process.pid)
    with session.stream() as stream:
        for _ in range(steps):
            stream.step(0.02)
    spent = processor_seconds(server.process.pid) - before
    pages.close()
    return 1e3 * spent / steps


# Pages that read, and pages that do not.
CASES = {"no page": (0, 0), "one that reads nothing": (0, 1), "20 that read": (20, 0)}


def measure_costs(binary: Path, rounds: int, steps: int) -> dict[str, list[float]]:
    """Processor time of a step, ms, in each round, by case; a round takes the cases in turns."""
    times: dict[str, list[float]] = {name: [] for name in CASES}
    with eipc.launch(binary, ["--listen=127.0.0.1:0", "--viewer=127.0.0.1:0", "--log-level=off"]) as server, server.client() as client:
        with client.create_scene(SCENE).create_session() as session:
            measure(server, session, steps, 0, 0)  # fills caches
            for _ in range(rounds):
                for name, (readers, dead) in CASES.items():
                    times[name].append(measure(server, session, steps, readers, dead))
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    binary = os.environ.get("EIPC_SERVER") or ROOT / "build" / "release" / "bin" / "eipc-server"
    times = measure_costs(Path(binary), options.rounds, options.steps)
    base = statistics.median(times["no page"])
    print("| pages | processor time of a step, ms (median of rounds) | against none |\n| --- | --- | --- |")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.3f} (from {min(values):.3f} to {max(values):.3f}) | {100 * (median / base - 1):+.1f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
