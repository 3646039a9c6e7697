"""Overload and overhead of the server. What is judged is a ratio of two figures that were measured in turns in the same run: both
were taken on the same machine, at the same moment and with the same neighbours."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import eipc
from service_launch import launch
from validation import Record, at_most, reported

# What a refusal is held back for, ms (docs/howto/operations.md, refusal-pause-ms).
REFUSAL_PAUSE_MS = 6.0
CLIENTS = 10
# What an admitted step may take under overload, as a multiple of the time that it takes alone (docs/reference/service.md, Overload).
MOST_SLOWDOWN = 2
# Steps of a Python client in one turn; and what they may take through the proxy, as a multiple of the time without it. When the proxy
# was chosen, it made a client's step of 0.46 ms one of 0.56 ms, without the filter that follows the lengths of messages; the filter may
# take another tenth (docs/decisions/0019-haproxy-in-front.md).
CLIENT_STEPS, CLIENT_DT_S = 500, 1e-4
MOST_THROUGH_PROXY = 0.56 / 0.46 * 1.1
TURNS = 5
# Calls the load driver with these words, on a core, and returns what it measured.
Measure = Callable[..., dict[str, Any]]


def pinned(program: Path, core: int, *arguments: str) -> eipc.ServerProcess:
    """A server that has one core to itself."""
    settings = ("--listen=127.0.0.1:0", "--log-level=off", *arguments)
    return launch("/usr/bin/taskset", ("-c", str(core), str(program), *settings))


def cores() -> tuple[int, int]:
    """The server's and the driver's."""
    mine = sorted(os.sched_getaffinity(0))
    return mine[0], mine[-1]


@contextlib.contextmanager
def echo_service(driver: str, core: int) -> Iterator[str]:
    """A bare gRPC service on a core, by its address."""
    process = subprocess.Popen(["taskset", "-c", str(core), driver, "echo"], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.wait()


def overload(program: Path, measure: Measure, seconds: float) -> list[Record]:
    """Ten clients without pause, one core, one slot: without waiting places, as control loops want it, and with one, where a step
    waits for a whole other one by construction."""
    records = []
    for waiting in (0, 1):
        server_core, driver_core = cores()
        with pinned(program, server_core, "--solve-slots=1", f"--max-waiting={waiting}") as server:
            turns = measure("overload", server.address, seconds, CLIENTS, TURNS, core=driver_core)["turns"]
        records += _overload_records(f"overload.waiting_{waiting}", turns, MOST_SLOWDOWN * (1 + waiting))
    return records


def _overload_records(name: str, turns: list[dict[str, float]], most: float) -> list[Record]:
    def middle(value: Callable[[dict[str, float]], float]) -> float:
        return statistics.median(value(turn) for turn in turns)

    records = [reported(f"{name}.{figure}", middle(lambda turn, key=f"{figure}_ms": turn[key]), "ms")
               for figure in ("unloaded_p50", "unloaded_p99", "admitted_p50", "refused_p99")]
    return records + [
        at_most(f"{name}.admitted_p99_over_unloaded", middle(lambda turn: turn["admitted_p99_ms"] / turn["unloaded_p99_ms"]), most),
        # A refusal is sent before the pause and the time of one step alone have passed.
        at_most(f"{name}.refused_p99_over_pause_and_unloaded",
                middle(lambda turn: turn["refused_p99_ms"] / (REFUSAL_PAUSE_MS + turn["unloaded_p99_ms"])), 1),
        reported(f"{name}.admitted", sum(turn["admitted"] for turn in turns)),
        reported(f"{name}.refused", sum(turn["refused"] for turn in turns))]


def overhead(program: Path, driver: str, measure: Measure, count: int, observations: int) -> list[Record]:
    """Steps of an empty scene and large observations beside a bare echo of as many bytes."""
    server_core, driver_core = cores()
    with pinned(program, server_core) as server, echo_service(driver, server_core) as echo:
        steps = measure("overhead", count, echo, server.address, core=driver_core)
        large = measure("observe", server.address, echo, observations, core=driver_core)
    return [reported("overhead.echo_p50", steps["echo_p50_us"], "us"), reported("overhead.echo_p99", steps["echo_p99_us"], "us"),
            reported("overhead.step_over_echo_p50", steps["step_p50_us"] - steps["echo_p50_us"], "us"),
            reported("overhead.step_p99", steps["step_p99_us"] / 1e3, "ms"),
            at_most("overhead.step_p50_by_echo_p50", steps["step_p50_us"] / steps["echo_p50_us"], 1.3),
            at_most("overhead.step_p99_by_echo_p99", steps["step_p99_us"] / steps["echo_p99_us"], 2),
            reported("overhead.observation_bytes", large["bytes"], "B"),
            reported("overhead.observation_p50", large["observe_p50_us"] / 1e3, "ms"),
            at_most("overhead.observation_p50_by_echo_p50", large["observe_p50_us"] / large["echo_p50_us"], 3)]


def _client_step_ratio(direct: Path, proxied: Path, scene: Any) -> tuple[float, float]:
    """Median over the turns of a Python client's step through the proxy, ms, and as a multiple of that without it."""
    settings = ("--listen=127.0.0.1:0", "--log-level=off")
    with launch(direct, settings) as server, launch(proxied, settings) as front, server.client() as alone, front.client() as through:
        with (alone.create_scene(scene).create_session().stream() as first,
              through.create_scene(scene).create_session().stream() as second):
            turns = [(_step_p50_ms(first), _step_p50_ms(second)) for _ in range(2 * TURNS)]
    return statistics.median(b for _, b in turns), statistics.median(b / a for a, b in turns)


def _step_p50_ms(stream: Any) -> float:
    seconds = []
    for _ in range(CLIENT_STEPS):
        begin = time.perf_counter()
        stream.step(CLIENT_DT_S)
        seconds.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(seconds)


def proxy_overhead(direct: Path, proxied: Path, driver: str, measure: Measure, count: int, observations: int,
                   scene: Any) -> list[Record]:
    """The same through the proxy, beside the same server without it: the proxy shares the server's core. scene: what a client steps."""
    server_core, driver_core = cores()
    with pinned(direct, server_core) as server, pinned(proxied, server_core) as front, echo_service(driver, server_core) as echo:
        steps = measure("overhead", count, echo, server.address, front.address, core=driver_core)
        alone = measure("observe", server.address, echo, observations, core=driver_core)
        large = measure("observe", front.address, echo, observations, core=driver_core)
    client_ms, client_ratio = _client_step_ratio(direct, proxied, scene)
    return [reported("overhead.client_step_p50", client_ms, "ms"),
            at_most("overhead.client_step_p50_by_direct", client_ratio, MOST_THROUGH_PROXY),
            reported("overhead.step_p50", steps["step2_p50_us"], "us"), reported("overhead.step_p99", steps["step2_p99_us"] / 1e3, "ms"),
            reported("overhead.echo_p50", steps["echo_p50_us"], "us"), reported("overhead.direct_step_p50", steps["step_p50_us"], "us"),
            reported("overhead.step_p50_by_direct", steps["step2_p50_us"] / steps["step_p50_us"]),
            at_most("overhead.step_p99_by_direct", steps["step2_p99_us"] / steps["step_p99_us"], 2),
            reported("overhead.observation_bytes", large["bytes"], "B"),
            reported("overhead.observation_p50", large["observe_p50_us"] / 1e3, "ms"),
            at_most("overhead.observation_p50_by_direct",
                    large["observe_p50_us"] / large["echo_p50_us"] / (alone["observe_p50_us"] / alone["echo_p50_us"]), 2)]


def fork(program: Path, measure: Measure, scene: Path, count: int) -> list[Record]:
    """Forks of a grasp beside its steps."""
    server_core, driver_core = cores()
    with pinned(program, server_core) as server:
        seen = measure("fork", server.address, scene, count, core=driver_core)
    return [reported("fork.teddy_p50", seen["fork_p50_ms"], "ms"), reported("fork.teddy_step_p50", seen["step_p50_ms"], "ms"),
            at_most("fork.teddy_p50_by_step_p50", seen["fork_p50_ms"] / seen["step_p50_ms"], 1)]
