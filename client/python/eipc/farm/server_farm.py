"""Several servers of one build, as one: sessions are handed out among them, stay where they are, and survive the loss of their server.

    with eipc.Farm(["10.0.0.1:50051", "10.0.0.2:50051"]) as farm:
        with farm.session("models/scenes/bubble_teddy_low_sound.textproto") as session:
            observation = session.step(0.02)
        print(farm.throughput())
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional, Sequence

import grpc

from ..client import Client, connect
from ..errors import DeadlineExceededError, UnavailableError
from ..scene_source import SceneSource, load_scene
from .backoff import Backoff
from .errors import EvaluationError, OtherBuildError
from .farm_session import FarmSession


@dataclass(frozen=True)
class Throughput:
    """What one server has done for this farm. seconds: of calls, added up over its sessions. lost: how often a session had to leave it."""

    sessions: int
    steps: int
    seconds: float
    lost: int

    @property
    def steps_per_second(self) -> float:
        """Of one session; 0 before the first step."""
        return self.steps / self.seconds if self.seconds > 0 else 0.0


@dataclass
class _Member:
    """A server of the list. down_until: no session is given to it before (the clock of the farm)."""

    address: str
    client: Optional[Client] = None
    checked: bool = False  # its build is the farm's
    down_until: float = 0.0
    failures: int = 0  # in a row
    sessions: int = 0
    steps: int = 0
    seconds: float = 0.0
    lost: int = 0


@dataclass(frozen=True)
class FarmOptions:
    """attempts: to find a server that takes a session, or to repeat a call that a busy one refused. connect_timeout: s to wait for one
    server. call_timeout: s for every call. snapshot_every: steps after which a session's state is fetched, to go on from there
    elsewhere; 0: never, it is replayed from its start. connecting: further arguments of connect(), such as token and tls."""

    attempts: int = 8
    connect_timeout: float = 3.0
    call_timeout: float = 60.0
    snapshot_every: int = 50
    connecting: Mapping[str, Any] = field(default_factory=dict)


class Farm:
    """Servers at `addresses`. Thread-safe; each session is for one thread at a time. Use as a context manager, or close()."""

    def __init__(self, addresses: Sequence[str], build: str = "", options: FarmOptions = FarmOptions(), backoff: Optional[Backoff] = None,
                 clock: Callable[[], float] = time.monotonic, wait: Callable[[float], None] = time.sleep) -> None:
        """build: that all servers must have; default: that of the first one that answers. A server of another build raises
        OtherBuildError when it is first used, since equal inputs would not give equal bits there."""
        if not addresses:
            raise EvaluationError("a farm needs at least one server")
        if len(set(addresses)) != len(addresses):
            raise EvaluationError("a server of the farm is given twice")
        self.options, self.backoff, self.build = options, backoff or Backoff(), build
        self.clock, self.wait = clock, wait
        self._lock = threading.RLock()
        self._members = {address: _Member(address) for address in addresses}  # guarded by _lock, as what is below
        self._places: dict[str, str] = {}  # key -> address

    def __repr__(self) -> str:
        return f"Farm({len(self._members)} servers of build {self.build or 'not known yet'})"

    def __enter__(self) -> "Farm":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """The connections. Sessions that were not deleted stay until their servers find them idle."""
        with self._lock:
            for member in self._members.values():
                if member.client is not None:
                    member.client.close()
                    member.client = None

    def check(self) -> str:
        """Asks every server for its build. Returns it; raises OtherBuildError, or UnavailableError when none answers."""
        reached = 0
        for address in list(self._members):
            try:
                self._client_of(address)
                reached += 1
            except (UnavailableError, DeadlineExceededError):
                self.failed(address)
        if not reached:
            raise UnavailableError(f"none of the servers {', '.join(self._members)} answers", grpc.StatusCode.UNAVAILABLE)
        return self.build

    def session(self, source: SceneSource, key: str = "", worlds: int = 1, threads: int = 1) -> FarmSession:
        """A session of a scene (as for Client.create_scene) on the server that has the fewest. key: sessions of the same key share a
        server while it lives, so that what it has compiled is used again."""
        return FarmSession(self, load_scene(source), key, worlds, threads)

    def client(self, key: str = "", avoid: str = "") -> Client:
        """A connection to the server where sessions of `key` are, else to the least busy one that answers. avoid: an address that is
        taken only when no other is left. Raises UnavailableError after the attempts of the options."""
        tried: list[str] = []
        for attempt in range(self.options.attempts):
            address = self._choose(key, avoid)
            try:
                client = self._client_of(address)
            except (UnavailableError, DeadlineExceededError) as error:
                self.failed(address)
                tried.append(f"{address}: {error.message}")
                self.wait(self.backoff.delay(attempt))
                continue
            with self._lock:
                if key:
                    self._places[key] = address
            return client
        raise UnavailableError(f"no server of the farm answers after {len(tried)} attempts; the last: {tried[-1]}",
                               grpc.StatusCode.UNAVAILABLE)

    def throughput(self) -> Mapping[str, Throughput]:
        """By address."""
        with self._lock:
            return {m.address: Throughput(m.sessions, m.steps, m.seconds, m.lost) for m in self._members.values()}

    def failed(self, address: str) -> None:
        """A server did not answer: it gets no session for a while, longer each time in a row."""
        with self._lock:
            member = self._members[address]
            member.down_until = self.clock() + self.backoff.longest_s * min(4.0, 2.0**member.failures)
            member.failures += 1
            member.checked = False  # what answers there next may be another build

    def moved(self, key: str, address: str) -> None:
        """A session left the server at an address, which was lost."""
        with self._lock:
            self._members[address].lost += 1
            if key and self._places.get(key) == address:
                del self._places[key]

    def count(self, address: str, sessions: int = 0, steps: int = 0, seconds: float = 0.0) -> None:
        """Adds to what a server has done."""
        with self._lock:
            member = self._members[address]
            member.sessions += sessions
            member.steps += steps
            member.seconds += seconds

    def _choose(self, key: str, avoid: str) -> str:
        with self._lock:
            now = self.clock()
            place = self._places.get(key, "")
            if place and place != avoid and self._members[place].down_until <= now:
                return place
            # Where all are down, the one that has been so longest is asked again.
            order = sorted(self._members.values(), key=lambda m: (m.address == avoid, max(0.0, m.down_until - now), m.sessions))
            return order[0].address

    def _client_of(self, address: str) -> Client:
        """Connected, and of the farm's build."""
        with self._lock:
            member = self._members[address]
            client, checked = member.client, member.checked
        if client is None:
            client = connect(address, timeout=self.options.connect_timeout, default_timeout=self.options.call_timeout,
                             **self.options.connecting)
            with self._lock:
                if member.client is not None:
                    client.close()  # another thread was faster
                client = member.client = member.client or client
        if not checked:
            self._admit(member, client.server_info(timeout=self.options.connect_timeout).build)
        return client

    def _admit(self, member: _Member, build: str) -> None:
        with self._lock:
            if not self.build:
                self.build = build
            if build != self.build:
                raise OtherBuildError(f"the server at {member.address} is of build {build}, and this farm is of build {self.build}: their "
                                      "bits differ. Install the same build everywhere, or leave the server out")
            member.checked, member.failures, member.down_until = True, 0, 0.0
