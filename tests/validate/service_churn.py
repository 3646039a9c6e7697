"""Clients of a server that is used for long: some step without an end, others come, go and vanish."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import struct
import threading
import time
from typing import Any, Callable

import eipc
from service_floods import PREFACE, SETTINGS, connection, frame, request_headers

# Sessions; LASTING of the active ones stay from the beginning to the end.
IDLE, ACTIVE, LASTING = 64, 8, 4
# A robot's rate: a stream asks for so many requests a second.
RATE_HZ = 20.0
DT = 0.005


class Active(threading.Thread):
    """Steps sessions over streams at RATE_HZ until it is ended; takes another session when it is given one."""

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

    def end(self) -> int:
        """Ends the stream and deletes the session. Returns how many steps were taken."""
        self._done.set()
        self._going.set()
        self.join(30)
        self._session.delete()
        if self._change.is_set():
            self._next.delete()
        return self.steps

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
                    if self._going.is_set():
                        stream.step(DT, substeps=2)
                        self.steps += 1
                due = max(due + 1 / RATE_HZ, time.monotonic() - 1)
                self._done.wait(max(0.0, due - time.monotonic()))
        if self._change.is_set():
            old, self._session = self._session, self._next
            self._change.clear()
            old.delete()


class Churn:
    """The sessions, and one act after another, drawn at random."""

    def __init__(self, server: eipc.ServerProcess, client: eipc.Client, scene_of: Callable[[float], Any], rng: random.Random,
                 fail: Callable[[str], None]) -> None:
        self._server, self._client, self._scene_of, self._rng, self._fail = server, client, scene_of, rng, fail
        self._scene = client.create_scene(scene_of(0.003))
        self._port = int(server.address.rsplit(":", 1)[1])
        self._numbers = itertools.count(1)
        self._steps_of_ended = 0
        self._lasting = self._begun(LASTING)
        self._idle: list[eipc.Session] = []
        self._passing: list[Active] = []
        self._fill()
        self._start(self._lasting + self._passing)
        self.acts = (self.replace_idle, self.create_and_delete, self.fork_to_active, self.snapshot_and_restore,
                     self.start_from_snapshot, self.open_and_close, self.leave_a_step, self.late_step, self.other_scene,
                     self.vanish_with_a_stream, self.vanish_with_half_a_call, self.come_and_go)

    def close(self) -> int:
        """Deletes every session and the scene. Returns how many steps the active sessions have taken."""
        self._empty()
        steps = self._steps_of_ended + sum(active.end() for active in self._lasting)
        for info in list(self._client.list_sessions()):
            self._client.session(info.name).delete()
        self._scene.delete()
        return steps

    @contextlib.contextmanager
    def at_rest(self) -> Any:
        """Nothing steps. All sessions but the lasting ones are new and have never been stepped, and all connections but those of the
        lasting ones are: what the server holds then does not depend on what it was asked before."""
        for active in self._lasting:
            active.hold()
        self._empty()
        self._fill()
        try:
            yield
        finally:
            self._start(self._passing)
            for active in self._lasting:
                active.go_on()

    def _begun(self, count: int) -> list[Active]:
        return [Active(self._scene.create_session(), self._fail) for _ in range(count)]

    def _start(self, threads: list[Active]) -> None:
        # gRPC may end the connection of calls with a deadline this short (docs/howto/operations.md, Proxy): not that of the others.
        self._hasty = self._server.client()
        for thread in threads:
            thread.start()

    def _empty(self) -> None:
        self._hasty.close()
        self._steps_of_ended += sum(active.end() for active in self._passing)
        for session in self._idle:
            session.delete()

    def _fill(self) -> None:
        self._idle = [self._scene.create_session() for _ in range(IDLE)]
        self._passing = self._begun(ACTIVE - LASTING)

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
        active = self._rng.choice(self._passing)
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
