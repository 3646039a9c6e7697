"""Kills a server with SIGKILL while clients create, fork, step, batch, reset, restore and delete, and holds what comes back against
what was acknowledged.

Every client has sessions of its own and knows what they must be like after the last answer it had. At most one of its calls is
without an answer when the server is killed: of that one, both outcomes are right, but only whole ones.
"""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import threading
import time
import uuid
from typing import Any, Dict, List, Optional, Set, Tuple

import grpc

import eipc
from eipc.v1 import service_pb2, service_pb2_grpc
from service_fronts import server_pid
from service_launch import launch

WORLDS = 2
DT_S = 0.002
MOST_SESSIONS = 4  # of one client

State = Tuple[int, str]  # step, digest


@dataclasses.dataclass
class Counts:
    rounds: int = 0
    calls: int = 0
    sessions_checked: int = 0
    lost: int = 0  # an acknowledged result or session that is not there
    taken_twice: int = 0  # a repeated request that moved a world further, or was answered otherwise
    risen: int = 0  # a deleted name that is there again
    problems: List[str] = dataclasses.field(default_factory=list)

    def note(self, kind: str, text: str) -> None:
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.problems) < 20:
            self.problems.append(f"round {self.rounds}: {kind}: {text}")


@dataclasses.dataclass
class Session:
    """What a client knows of a session: its worlds, and the requests whose answers may be asked for again."""
    worlds: List[State]
    start: State
    answered: Dict[int, Tuple[Any, bytes]] = dataclasses.field(default_factory=dict)  # by world; -1: batches


@dataclasses.dataclass
class Pending:
    kind: str
    session: str = ""
    request: Any = None
    outcome: Dict[int, Any] = dataclasses.field(default_factory=dict)  # by world: its step, or its state, if the call took effect


class Client:
    """One caller: its sessions, and the call that it waits for."""

    def __init__(self, scene: str, seed: int, counts: Counts) -> None:
        self.scene, self.counts = scene, counts
        self.rng = random.Random(seed)
        self.sessions: Dict[str, Session] = {}
        self.deleted: Set[str] = set()
        self.pending: Optional[Pending] = None

    def run(self, address: str) -> None:
        """Calls at random until the server is gone."""
        with _channel(address) as channel:
            stub = service_pb2_grpc.SimulationServiceStub(channel)
            try:
                while True:
                    self._one(stub)
                    self.counts.calls += 1
            except grpc.RpcError as error:
                if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN):
                    self.counts.note("lost", f"{self.pending}: {error.code().name} {error.details()}")

    def _one(self, stub: Any) -> None:
        if not self.sessions:
            return self._create(stub)
        name = self.rng.choice(sorted(self.sessions))
        weights = [("step", 6), ("batch", 4), ("reset", 1), ("restore", 1), ("delete", 1)]
        if len(self.sessions) < MOST_SESSIONS:
            weights += [("create", 1), ("fork", 2)]
        kind = self.rng.choices([k for k, _ in weights], [w for _, w in weights])[0]
        if kind == "create":
            self._create(stub)
        else:
            getattr(self, "_" + kind)(stub, name)
        self.pending = None

    def _create(self, stub: Any) -> None:
        self.pending = Pending("create")
        name = stub.CreateSession(service_pb2.CreateSessionRequest(scene=self.scene, worlds=WORLDS)).name
        start = _state(stub, name, 0)
        self.sessions[name] = Session([start] * WORLDS, start)
        self.pending = None

    def _fork(self, stub: Any, name: str) -> None:
        world = self.rng.randrange(WORLDS)
        self.pending = Pending("fork")
        copy = stub.ForkSession(service_pb2.ForkSessionRequest(session=name, world=world, worlds=WORLDS)).name
        self.sessions[copy] = Session([self.sessions[name].worlds[world]] * WORLDS, self.sessions[name].start)

    def _delete(self, stub: Any, name: str) -> None:
        self.pending = Pending("delete", name)
        stub.DeleteSession(service_pb2.DeleteSessionRequest(session=name))
        del self.sessions[name]
        self.deleted.add(name)

    def _request(self, world: int) -> Any:
        request = service_pb2.StepRequest(world=world, dt_s=DT_S, substeps=self.rng.randint(1, 4))
        request.observe.state_digest = True
        return request

    def _step(self, stub: Any, name: str) -> None:
        session, world = self.sessions[name], self.rng.randrange(WORLDS)
        request = self._request(world)
        request.session, request.request_id = name, uuid.uuid4().hex
        self.pending = Pending("step", name, request, {world: session.worlds[world][0] + request.substeps})
        response = stub.Step(request)
        session.worlds[world] = (response.observation.step, response.observation.state_digest)
        session.answered[world] = (request, response.SerializeToString(deterministic=True))

    def _batch(self, stub: Any, name: str) -> None:
        session = self.sessions[name]
        request = service_pb2.StepBatchRequest(session=name, request_id=uuid.uuid4().hex,
                                               steps=[self._request(world) for world in range(WORLDS)])
        self.pending = Pending("batch", name, request,
                               {step.world: session.worlds[step.world][0] + step.substeps for step in request.steps})
        response = stub.StepBatch(request)
        for step, answer in zip(request.steps, response.responses):
            if answer.status_code:
                self.counts.note("lost", f"{name}: a world of a batch was refused: {answer.status_message}")
                continue
            session.worlds[step.world] = (answer.observation.step, answer.observation.state_digest)
        session.answered = {-1: (request, response.SerializeToString(deterministic=True))}

    def _reset(self, stub: Any, name: str) -> None:
        session, world = self.sessions[name], self.rng.randrange(WORLDS)
        self.pending = Pending("reset", name, None, {world: session.start})
        stub.Reset(service_pb2.ResetRequest(session=name, world=world))
        self._replaced(session, world, session.start)

    def _restore(self, stub: Any, name: str) -> None:
        session, world, source = self.sessions[name], self.rng.randrange(WORLDS), self.rng.randrange(WORLDS)
        snapshot = stub.CreateSnapshot(service_pb2.CreateSnapshotRequest(session=name, world=source, include_data=True,
                                                                         transient=True))
        state = (snapshot.step, snapshot.state_digest)
        self.pending = Pending("restore", name, None, {world: state})
        stub.RestoreSession(service_pb2.RestoreSessionRequest(session=name, world=world, snapshot_data=snapshot.data))
        self._replaced(session, world, state)

    @staticmethod
    def _replaced(session: Session, world: int, state: State) -> None:
        session.worlds[world] = state
        session.answered.pop(world, None)
        session.answered.pop(-1, None)

    def check(self, stub: Any, listed: Set[str]) -> None:
        """Holds what is there against what was acknowledged, and goes on from there."""
        pending, self.pending = self.pending or Pending("none"), None
        for name in self.deleted & listed:
            self.counts.note("risen", name)
        self.deleted.clear()
        for name in sorted(self.sessions):
            if name in listed:
                self._check_session(stub, name, pending if pending.session == name else Pending("none"))
                continue
            if not (pending.kind == "delete" and pending.session == name):
                self.counts.note("lost", f"session {name}")
            del self.sessions[name]

    def _check_session(self, stub: Any, name: str, pending: Pending) -> None:
        self.counts.sessions_checked += 1
        session = self.sessions[name]
        if pending.kind in ("step", "batch"):
            self._repeat(stub, name, pending)
        for world in range(WORLDS):
            found = _state(stub, name, world)
            allowed = [session.worlds[world]]
            if pending.kind in ("reset", "restore") and world in pending.outcome:
                allowed.append(pending.outcome[world])
                session.answered.pop(world, None)
                session.answered.pop(-1, None)
            if found not in allowed:
                self.counts.note("lost", f"{name} world {world} is at {found}, not {allowed} (pending {pending.kind})")
            session.worlds[world] = found
        for world, (request, answer) in session.answered.items():
            again = stub.StepBatch(request) if world < 0 else stub.Step(request)
            if again.SerializeToString(deterministic=True) != answer:
                self.counts.note("taken_twice", f"{name}: the repeated request of world {world} was answered otherwise")
        for world in range(WORLDS):
            if _state(stub, name, world) != session.worlds[world]:
                self.counts.note("taken_twice", f"{name}: a repeated request moved world {world}")

    def _repeat(self, stub: Any, name: str, pending: Pending) -> None:
        """Asks again for what was not answered: whether it had been done or not, it is done once now."""
        session = self.sessions[name]
        before = {world: _state(stub, name, world) for world in pending.outcome}
        for world, (step, digest) in before.items():
            if (step, digest) != session.worlds[world] and step != pending.outcome[world]:
                self.counts.note("lost", f"{name} world {world} is at {step}: neither before nor after the {pending.kind}")
        response = stub.Step(pending.request) if pending.kind == "step" else stub.StepBatch(pending.request)
        answers = [response] if pending.kind == "step" else response.responses
        for world, answer in zip(pending.outcome, answers):
            if answer.observation.step != pending.outcome[world]:
                self.counts.note("taken_twice", f"{name} world {world} is at {answer.observation.step} after the repeated "
                                                f"{pending.kind}, not at {pending.outcome[world]}")
            session.worlds[world] = (answer.observation.step, answer.observation.state_digest)
        if pending.kind == "step":
            session.answered[next(iter(pending.outcome))] = (pending.request, response.SerializeToString(deterministic=True))
        else:
            session.answered = {-1: (pending.request, response.SerializeToString(deterministic=True))}


def kill_rounds(server: str, folder: str, scene: Any, rounds: int, seed: int, clients: int = 4) -> Counts:
    """`rounds` times: runs `clients` at once against a server on `folder`, kills it, starts it again and checks what is there."""
    counts, rng = Counts(), random.Random(seed)
    arguments = ("--listen=127.0.0.1:0", f"--state-dir={folder}", "--journal-checkpoint-bytes=20000", "--journal-replay-ms=20",
                 "--log-level=off")
    callers: List[Client] = []
    for counts.rounds in range(rounds + 1):
        with launch(server, arguments) as process:
            with _channel(process.address) as channel:
                stub = service_pb2_grpc.SimulationServiceStub(channel)
                if not callers:
                    name = stub.CreateScene(service_pb2.CreateSceneRequest(scene=scene)).name
                    callers = [Client(name, seed + 1 + i, counts) for i in range(clients)]
                _check(stub, callers)
            if counts.rounds == rounds:
                break
            threads = [threading.Thread(target=caller.run, args=(process.address,)) for caller in callers]
            for thread in threads:
                thread.start()
            time.sleep(rng.uniform(0.02, 0.4))  # the moment of the kill is what the round is about
            os.kill(server_pid(process.process), signal.SIGKILL)
            process.process.wait()
            for thread in threads:
                thread.join()
    return counts


def _check(stub: Any, callers: List[Client]) -> None:
    listed = {info.name for info in stub.ListSessions(service_pb2.ListSessionsRequest(page_size=1000)).sessions}
    for caller in callers:
        caller.check(stub, listed)
    # Made by a call that was not answered: nobody knows them.
    for name in listed - {name for caller in callers for name in caller.sessions}:
        stub.DeleteSession(service_pb2.DeleteSessionRequest(session=name))


def _state(stub: Any, name: str, world: int) -> State:
    request = service_pb2.GetStateRequest(session=name, world=world)
    request.observe.state_digest = True
    seen = stub.GetState(request)
    return seen.step, seen.state_digest


def _channel(address: str) -> grpc.Channel:
    return grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
