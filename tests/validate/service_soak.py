"""A server that is used for long: many idle sessions, some that step, and clients that come, go and vanish."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple

import numpy as np

import eipc
from service_floods import (PREFACE, SETTINGS, allocated_bytes, connection, frame, open_descriptors, open_descriptors_of_proxy,
                            request_headers)

IDLE, ACTIVE = 64, 8
# A robot's rate: a stream asks for so many requests a second.
RATE_HZ = 20.0
# Pauses between two acts of churn, s.
PAUSE_S = 0.05
# Tries to read the metrics.
SCRAPES = 5
# Without connections that come or go, the server is at rest.
REST_S = 2.0
REST_READINGS = 20
# Between two samples; and how long nothing is asked of the server before each, so that samples differ by what it keeps.
SAMPLE_S, QUIET_S = 15.0, 0.25
# Use that comes before the heap at rest is read for the first time, because what a first use fills (lists, tables of libraries) it
# fills once: parts of FIRST_USE_S each, until one of them adds no more than SETTLED of the heap, at most FIRST_USES. (A server whose heap
# grows with every act never settles, and is then judged by how much it grows in the soak itself.)
FIRST_USE_S, FIRST_USES, SETTLED = 30.0, 10, 0.001
DT = 0.005


class Sample(NamedTuple):
    """t_s: since the start. in_use: bytes that the server's allocator has handed out; anonymous: resident bytes that belong to no file."""

    t_s: float
    in_use: float
    anonymous: int
    descriptors: int


class Descriptors(NamedTuple):
    """Open files of the server, and of the proxy in front of it (0 without one)."""

    server: int
    proxy: int


@dataclass
class Soak:
    """What was seen."""

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


class _Active(threading.Thread):
    """Steps sessions over streams at RATE_HZ until it is stopped; takes another session when it is given one."""

    def __init__(self, session: eipc.Session, fail: Callable[[str], None]) -> None:
        super().__init__(daemon=True)
        self._session, self._fail = session, fail
        self._next: eipc.Session | None = None
        self._change = threading.Event()
        self._done = threading.Event()
        self._going = threading.Event()
        self._going.set()
        self._between_steps = threading.Lock()
        self.steps = 0

    def take(self, session: eipc.Session) -> None:
        """Goes over to this session and deletes the one it has."""
        self._next = session
        self._change.set()

    @property
    def taken(self) -> bool:
        return not self._change.is_set()

    def stop(self) -> None:
        self._done.set()
        self._going.set()

    def hold(self) -> None:
        """No step is in progress, and none begins before go_on."""
        self._going.clear()
        with self._between_steps:
            pass

    def go_on(self) -> None:
        self._going.set()

    def run(self) -> None:
        try:
            while not self._done.is_set():
                self._step()
        except eipc.EipcError as error:
            self._fail(f"active: {error}")

    def _step(self) -> None:
        with self._session.stream() as stream:
            due = time.monotonic()
            while not self._done.is_set() and not self._change.is_set():
                self._going.wait()
                with self._between_steps:
                    stream.step(DT, substeps=2)
                self.steps += 1
                due = max(due + 1 / RATE_HZ, time.monotonic() - 1)
                self._done.wait(max(0.0, due - time.monotonic()))
        if self._change.is_set():
            old, self._session = self._session, self._next
            self._change.clear()
            old.delete()


class _Churn:
    """One act after another, drawn at random."""

    def __init__(self, server: eipc.ServerProcess, client: eipc.Client, scene: Any, scene_of: Callable[[float], Any],
                 idle: list[eipc.Session], active: list[_Active], rng: random.Random) -> None:
        self._server, self._client, self._scene, self._scene_of = server, client, scene, scene_of
        self._idle, self._active, self._rng = idle, active, rng
        self._port = int(server.address.rsplit(":", 1)[1])
        self._numbers = itertools.count(1)
        # gRPC may end the connection of calls with a deadline this short (docs/howto/operations.md, Proxy): not that of the others.
        self._hasty = server.client()
        self.acts = (self.replace_idle, self.create_and_delete, self.fork_to_active, self.snapshot_and_restore,
                     self.start_from_snapshot, self.open_and_close, self.leave_a_step, self.late_step, self.other_scene,
                     self.vanish_with_a_stream, self.vanish_with_half_a_call, self.come_and_go)

    def close(self) -> None:
        self._hasty.close()

    def at_a_quiet_moment(self, take: Callable[[], Sample]) -> Sample:
        """What is seen while all sessions are there and none steps."""
        for active in self._active:
            active.hold()
        time.sleep(QUIET_S)
        try:
            return take()
        finally:
            for active in self._active:
                active.go_on()

    def _any(self) -> eipc.Session:
        return self._rng.choice(self._idle)

    def replace_idle(self) -> None:
        k = self._rng.randrange(len(self._idle))
        copy = self._any().fork()
        self._idle[k].delete()
        self._idle[k] = copy

    def create_and_delete(self) -> None:
        with self._scene.create_session(worlds=self._rng.randint(1, 3)) as session:
            session.step(DT)

    def fork_to_active(self) -> None:
        active = self._rng.choice(self._active)
        if active.taken:
            active.take(self._any().fork())

    def snapshot_and_restore(self) -> None:
        session = self._any()
        kept = session.snapshot(data=bool(self._rng.randrange(2)))
        session.step(DT)
        session.restore(kept)
        self._client.delete_snapshot(kept)

    def start_from_snapshot(self) -> None:
        data = self._any().snapshot(data=True, keep=False).data
        self._scene.create_session(snapshot=data).delete()

    def open_and_close(self) -> None:
        with self._any().stream() as stream:
            for _ in range(self._rng.randint(0, 5)):
                stream.step(DT)

    def leave_a_step(self) -> None:
        """Cancels a stream while it steps."""
        with self._scene.create_session() as session:
            stream = session.stream()
            stream.send(DT, substeps=200)
            time.sleep(self._rng.uniform(0, 0.02))
            stream.close(cancel=True)

    def late_step(self) -> None:
        with self._scene.create_session() as session, contextlib.suppress(eipc.DeadlineExceededError):
            self._hasty.session(session.name).step(DT, substeps=200, timeout=self._rng.uniform(0.001, 0.02))

    def other_scene(self) -> None:
        scene = self._client.create_scene(self._scene_of(0.003 + 1e-6 * next(self._numbers)))
        scene.create_session().delete()
        scene.delete()

    def vanish_with_a_stream(self) -> None:
        """A client that goes away while a stream of it steps."""
        with self._scene.create_session() as session:
            with self._server.client() as other:
                stream = other.session(session.name).stream()
                stream.send(DT, substeps=50)
            stream.close(cancel=True)

    def vanish_with_half_a_call(self) -> None:
        """A connection that is reset in the middle of a call."""
        file = connection(self._port)
        file.sendall(PREFACE + SETTINGS + frame(1, 4, 1, request_headers(self._port)))
        file.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        file.close()

    def come_and_go(self) -> None:
        with self._server.client() as other:
            other.server_info()


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


def _first_calls(server: eipc.ServerProcess, scene_of: Callable[[float], Any]) -> None:
    """What the server opens with its first calls, it keeps."""
    with server.client() as client:
        scene = client.create_scene(scene_of(0.003))
        with scene.create_session() as session, session.stream() as stream:
            stream.step(DT)
        scene.delete()


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
    seen = Soak()
    _first_calls(server, scene_of)
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
    scene = client.create_scene(scene_of(0.003))
    idle = [scene.create_session() for _ in range(IDLE)]
    active = [_Active(scene.create_session(), seen.failures.append) for _ in range(ACTIVE)]
    churn = _Churn(server, client, scene, scene_of, idle, active, rng)
    seen.acts = {act.__name__: 0 for act in churn.acts}
    for thread in active:
        thread.start()
    _run(server, metrics, churn, seen, seconds, rng, say)
    for thread in active:
        thread.stop()
    for thread in active:
        thread.join(30)
        seen.steps += thread.steps
    churn.close()
    for info in list(client.list_sessions()):
        client.session(info.name).delete()
    scene.delete()


def _sample(server: eipc.ServerProcess, metrics: str, t_s: float) -> Sample:
    return Sample(t_s, gauges(metrics)["eipc_heap_in_use_bytes"], allocated_bytes(server.process), open_descriptors(server.process))


def _run(server: eipc.ServerProcess, metrics: str, churn: _Churn, seen: Soak, seconds: float, rng: random.Random,
         say: Callable[[str], None]) -> None:
    begin = time.monotonic()
    every = min(SAMPLE_S, seconds / 100)
    due, reported_at = 0.0, 0.0
    while (now := time.monotonic() - begin) < seconds:
        act = rng.choice(churn.acts)
        try:
            act()
            seen.acts[act.__name__] += 1
        except eipc.EipcError as error:
            seen.failures.append(f"{act.__name__}: {error}")
        if now >= due:
            due = now + every
            seen.samples.append(churn.at_a_quiet_moment(lambda at=now: _sample(server, metrics, at)))
        if now >= reported_at + min(300.0, seconds / 12):
            reported_at = now
            last = seen.samples[-1]
            say(f"soak: {now:.0f} s, {last.in_use / 2**20:.2f} MiB in use, {last.anonymous / 2**20:.1f} resident, {last.descriptors} files")
        time.sleep(PAUSE_S)


def after_warm_up(samples: list[Sample], warm_up_s: float) -> Sample:
    """Columns of the samples, without those of the warm-up, in which pools fill."""
    rows = np.array(samples)
    return Sample(*rows[rows[:, 0] >= warm_up_s].T)
