"""A server that is used for long: many idle sessions, some that step, and clients that come, go and vanish (service_churn.py).

Whether it grows is measured at rest. Every SAMPLE_S all clients pause, every session but the lasting ones is replaced by a new one, and
the least of the readings is taken once it has stopped falling: what is read then differs from one sample to the next by what the
server keeps, not by what it happens to be asked.

How many samples that takes: n samples with the scatter s (a share of their mean), spread evenly over T hours, give a slope with a
standard error of sqrt(12 / n) s / T. Over the 40 minutes after the warm-up of an hour there are some 70 samples; a scatter of 0.4 %, that
of anonymous memory, leaves the slope uncertain by t sqrt(12 / n) s / T = 0.5 % an hour (t = 2.1), so that what does not grow passes a
bound of 1 % an hour and what grows by 2 % an hour fails it. The heap scatters a tenth as much. The study reports n, the scatter and this
uncertainty.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import random
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple

import numpy as np

import eipc
from service_churn import DT, Churn
from service_floods import allocated_bytes, open_descriptors, open_descriptors_of_proxy

# Pauses between two acts of churn, s.
PAUSE_S = 0.05
# Tries to read the metrics.
SCRAPES = 5
# Without connections that come or go, the server is at rest.
REST_S = 2.0
REST_READINGS = 20
# From one sample to the next, in a soak that is long enough; readings for a sample, every READING_S, end when none has been the least for
# SETTLED_S, or after LONGEST_REST_S. The server hands free pages back every TRIM_S (a setting), so that within SETTLED_S it has.
SAMPLE_S, READING_S, SETTLED_S, LONGEST_REST_S = 30.0, 0.5, 2.5, 30.0
TRIM_S = 1.0
# Use that comes before the heap at rest is read for the first time, because what a first use fills (lists, tables of libraries) it
# fills once: parts of FIRST_USE_S each, until one of them adds no more than SETTLED of the heap, at most FIRST_USES. (A server whose heap
# grows with every act never settles, and is then judged by how much it grows in the soak itself.)
FIRST_USE_S, FIRST_USES, SETTLED = 30.0, 10, 0.001
# Calls that the server handles at once (a setting), a thread for each. It starts threads when they are needed and keeps them, with the
# pages of their stacks: all are needed before the first sample.
CALLS = 16
# Reading the metrics fills a list of the latencies of doing so, which is full (some 80 KiB) after this many.
FIRST_SCRAPES = 4000


class Sample(NamedTuple):
    """At rest. t_s: since the start. in_use: bytes that the server's allocator has handed out; anonymous: resident bytes of no file."""

    t_s: float
    in_use: float
    anonymous: float
    descriptors: float


class Descriptors(NamedTuple):
    """Open files of the server, and of the proxy in front of it (0 without one)."""

    server: int
    proxy: int


@dataclass
class Soak:
    """What was seen. every_s: from one sample to the next."""

    every_s: float = float("inf")
    samples: list[Sample] = field(default_factory=list)
    acts: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    failures: list[str] = field(default_factory=list)
    descriptors_before: Descriptors = Descriptors(0, 0)
    descriptors_after: Descriptors = Descriptors(0, 0)
    # Bytes in use without sessions, scenes and connections, before and after.
    rest_before: float = 0.0
    rest_after: float = 0.0
    left_behind: dict[str, float] = field(default_factory=dict)


def _scrape(address: str, tries: int = SCRAPES) -> str:
    """The server ends scrapes that say nothing for two seconds, which may be the machine's doing: those are repeated."""
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            return answer.read().decode()
    except (ConnectionError, TimeoutError, urllib.error.URLError):
        if tries == 1:
            raise
        return _scrape(address, tries - 1)


def gauges(address: str) -> dict[str, float]:
    """Metrics without labels, by name."""
    lines = _scrape(address).splitlines()
    words = (line.split() for line in lines if line and not line.startswith("#") and "{" not in line)
    return {name: float(value) for name, value, *_ in words}


def _at_rest(server: eipc.ServerProcess) -> Descriptors:
    """Descriptors once those of connections that were closed are gone: when none came or went for REST_S."""
    seen, since, end = _descriptors(server), time.monotonic(), time.monotonic() + 10 * REST_S
    while time.monotonic() < min(since + REST_S, end):
        time.sleep(0.05)
        if (now := _descriptors(server)) != seen:
            seen, since = now, time.monotonic()
    return seen


def _descriptors(server: eipc.ServerProcess) -> Descriptors:
    return Descriptors(open_descriptors(server.process), open_descriptors_of_proxy(server.process))


def _first_calls(server: eipc.ServerProcess, metrics: str, scene_of: Callable[[float], Any]) -> None:
    """What the server opens with its first calls, it keeps."""
    for _ in range(FIRST_SCRAPES):
        gauges(metrics)
    with server.client() as client:
        scene = client.create_scene(scene_of(0.003))
        with scene.create_session() as session, session.stream() as stream:
            stream.step(DT)
        _need_all_threads(scene)
        scene.delete()


def _need_all_threads(scene: eipc.Scene) -> None:
    """As many long steps at once as there are threads; some more, because the server's calls to itself take places, too."""
    sessions = [scene.create_session() for _ in range(CALLS + 4)]

    def step(session: eipc.Session) -> None:
        with contextlib.suppress(eipc.ResourceExhaustedError):
            session.step(DT, substeps=400)

    with concurrent.futures.ThreadPoolExecutor(len(sessions)) as pool:
        list(pool.map(step, sessions))
    for session in sessions:
        session.delete()


def _heap_at_rest(metrics: str) -> float:
    """Bytes in use without clients: the least of some readings, because the server's calls to itself come and go (6 KiB each)."""
    least = float("inf")
    for _ in range(REST_READINGS):
        least = min(least, gauges(metrics)["eipc_heap_in_use_bytes"])
        time.sleep(REST_S / REST_READINGS)
    return least


def _settled(server: eipc.ServerProcess, metrics: str, scene_of: Callable[[float], Any], seed: int, failures: list[str]) -> float:
    """Bytes in use at rest after the first use."""
    rest = 0.0
    for k in range(1, FIRST_USES + 1):
        with server.client() as client:
            _use(server, client, metrics, scene_of, Soak(failures=failures), FIRST_USE_S, random.Random(seed + k), lambda _: None)
        _at_rest(server)
        before, rest = rest, _heap_at_rest(metrics)
        if rest <= (1 + SETTLED) * before:
            break
    return rest


def soak(server: eipc.ServerProcess, metrics: str, scene_of: Callable[[float], Any], seconds: float, seed: int,
         say: Callable[[str], None]) -> Soak:
    """Uses the server for so long. scene_of(height): the scene, or one that differs by a height in m. metrics: its HOST:PORT."""
    seen = Soak(every_s=min(SAMPLE_S, seconds / 20))
    _first_calls(server, metrics, scene_of)
    seen.descriptors_before = _at_rest(server)
    seen.rest_before = _settled(server, metrics, scene_of, seed, seen.failures)
    say(f"soak: {seen.rest_before / 2**20:.3f} MiB in use at rest")
    with server.client() as client:
        _use(server, client, metrics, scene_of, seen, seconds, random.Random(seed), say)
    seen.descriptors_after = _at_rest(server)
    seen.rest_after = _heap_at_rest(metrics)
    left = gauges(metrics)
    names = ("eipc_sessions", "eipc_snapshots", "eipc_streams_open", "eipc_solve_slots_busy", "eipc_solve_queue_depth",
             "eipc_memory_reserved_bytes", "eipc_journal_failures")
    seen.left_behind = {name: left[name] for name in names if left[name] != 0}
    return seen


def _use(server: eipc.ServerProcess, client: eipc.Client, metrics: str, scene_of: Callable[[float], Any], seen: Soak, seconds: float,
         rng: random.Random, say: Callable[[str], None]) -> None:
    """The soak between its beginning and its end, after which no session and no scene is left."""
    churn = Churn(server, client, scene_of, rng, seen.failures.append)
    seen.acts = {act.__name__: 0 for act in churn.acts}
    _run(server, metrics, churn, seen, seconds, rng, say)
    seen.steps += churn.close()


def _sample(server: eipc.ServerProcess, metrics: str, t_s: float) -> Sample:
    """The least of the readings until none falls below those before it."""
    least = Sample(t_s, float("inf"), float("inf"), float("inf"))
    begin = fell = time.monotonic()
    while (now := time.monotonic()) < min(fell + SETTLED_S, begin + LONGEST_REST_S):
        read = (gauges(metrics)["eipc_heap_in_use_bytes"], allocated_bytes(server.process), open_descriptors(server.process))
        lower = Sample(t_s, *map(min, least[1:], read))
        if lower != least:
            least, fell = lower, now
        time.sleep(READING_S)
    return least


def _run(server: eipc.ServerProcess, metrics: str, churn: Churn, seen: Soak, seconds: float, rng: random.Random,
         say: Callable[[str], None]) -> None:
    begin = time.monotonic()
    due, reported_at = seen.every_s, 0.0
    while (now := time.monotonic() - begin) < seconds:
        act = rng.choice(churn.acts)
        try:
            act()
            seen.acts[act.__name__] += 1
        except eipc.EipcError as error:
            seen.failures.append(f"{act.__name__}: {error}")
        if now >= due:
            with churn.at_rest():
                seen.samples.append(_sample(server, metrics, now))
            due = max(due + seen.every_s, now + seen.every_s / 2)
        if seen.samples and now >= reported_at + min(300.0, seconds / 12):
            reported_at = now
            last = seen.samples[-1]
            say(f"soak: {now:.0f} s, {last.in_use / 2**20:.3f} MiB in use, {last.anonymous / 2**20:.2f} resident, {last.descriptors} files")
        time.sleep(PAUSE_S)


def after_warm_up(samples: list[Sample], warm_up_s: float) -> Sample:
    """Columns of the samples, without those of the warm-up, in which pools fill."""
    rows = np.array(samples)
    return Sample(*rows[rows[:, 0] >= warm_up_s].T)
