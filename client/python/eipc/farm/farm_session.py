"""A session that outlives its server: it keeps its last snapshot and what was done since, and is put back elsewhere bit for bit."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar

import grpc

from ..client import Client
from ..errors import DeadlineExceededError, EipcError, InternalError, NotFoundError, ResourceExhaustedError, UnavailableError
from ..materials import check_server
from ..observation import Observation, Observe, observation_from_message
from ..session import Session
from ..v1 import scene_pb2, service_pb2

if TYPE_CHECKING:
    from .server_farm import Farm

_Result = TypeVar("_Result")
_LOST = (UnavailableError, NotFoundError, DeadlineExceededError)
_PROBE_S = 3.0  # a server that does not say within this that it has the session is taken for lost


class FarmSession:
    """Made by Farm.session(); as eipc.Session where it has the same methods. moves: how often it was put on another server."""

    def __init__(self, farm: "Farm", scene: scene_pb2.Scene, key: str, worlds: int, threads: int) -> None:
        self._farm, self._scene, self._key = farm, scene, key
        self._worlds, self._threads = worlds, threads
        self._snapshots: dict[int, bytes] = {}  # by world
        self._since: list[service_pb2.StepRequest | service_pb2.ResetRequest] = []  # what was answered since these
        self._digests: dict[int, str] = {}  # of the last state that was acknowledged, by world
        self._steps = 0  # since the snapshots
        self.moves = 0
        self._client: Client
        self._session: Session
        self._open("")

    def __repr__(self) -> str:
        return f"FarmSession({self._key!r}, {self._worlds} worlds, at {self.address}, {self.moves} moves)"

    def __enter__(self) -> "FarmSession":
        return self

    def __exit__(self, *_: Any) -> None:
        self.delete()

    @property
    def address(self) -> str:
        """Of the server where it is now."""
        return self._client.address

    @property
    def scene_name(self) -> str:
        return self._session.scene

    def step(self, dt: float, observe: Optional[Observe] = None, **options: Any) -> Observation:
        """As Session.step(). The observation always has a state digest."""
        return self.send(self.request(dt, observe, **options))

    def request(self, dt: float, observe: Optional[Observe] = None, **options: Any) -> service_pb2.StepRequest:
        """The message of a step, for send()."""
        return self._session._step_request(dt, observe=observe, **options)

    def send(self, request: service_pb2.StepRequest) -> Observation:
        """A step as a message; its session is filled in."""
        request.observe.state_digest = True
        request.request_id = request.request_id or secrets.token_hex(8)
        try:
            answer = self._surviving(lambda: self._timed(request))
        except EipcError:
            if request.substeps > 1:
                self._surviving(self._take_snapshots)  # some of them may have been taken
            raise
        self._done(request, request.world, answer.observation.state_digest)
        self._steps += 1
        every = self._farm.options.snapshot_every
        if (every and self._steps >= every) or request.time_limit_s > 0:  # where a limit cut a step, no replay would
            self._surviving(self._take_snapshots)
        return observation_from_message(answer.observation)

    def reset(self, observe: Optional[Observe] = None, world: int = 0, randomize: Optional[service_pb2.Randomize] = None) -> Observation:
        """Back to the scene's start, or to one that is drawn."""
        request = service_pb2.ResetRequest(observe=(observe or Observe()).to_message(), world=world, randomize=randomize)
        request.observe.state_digest = True
        observation = self._surviving(lambda: self._reset(request))
        if self._worlds == 1:  # nothing before this matters any more
            self._since, self._snapshots, self._steps = [], {}, 0
        self._done(request, world, observation.state_digest)
        return observation_from_message(observation)

    def state(self, observe: Optional[Observe] = None, world: int = 0) -> Observation:
        return self._surviving(lambda: self._session.state(observe, world))

    def snapshot(self, world: int = 0) -> bytes:
        """Every bit of a world."""
        return self._surviving(lambda: self._session.snapshot(world, data=True, keep=False).data)

    def delete(self) -> None:
        """On its server, if that is there."""
        self._farm.count(self.address, sessions=-1)
        try:
            self._session.delete(timeout=_PROBE_S)
        except EipcError:
            pass  # lost with its server, or deleted when that finds it idle

    def _done(self, request: service_pb2.StepRequest | service_pb2.ResetRequest, world: int, digest: str) -> None:
        self._since.append(request)
        self._digests[world] = digest

    def _timed(self, request: service_pb2.StepRequest) -> service_pb2.StepResponse:
        request.session = self._session.name
        begin = self._farm.clock()
        answer: service_pb2.StepResponse = self._client._call(self._client._stub.Step, request, None)
        self._farm.count(self.address, steps=max(1, request.substeps), seconds=self._farm.clock() - begin)
        return answer

    def _reset(self, request: service_pb2.ResetRequest) -> Any:
        check_server(self._client, request)
        request.session = self._session.name
        return self._client._call(self._client._stub.Reset, request, None)

    def _take_snapshots(self) -> None:
        self._snapshots = {world: self._session.snapshot(world, data=True, keep=False).data for world in range(self._worlds)}
        self._since, self._steps = [], 0

    def _open(self, avoid: str) -> None:
        """A fresh session on some server."""
        for attempt in range(self._farm.options.attempts):
            client = self._farm.client(self._key, avoid)
            try:
                session = client.create_scene(self._scene).create_session(threads=self._threads, worlds=self._worlds)
            except (UnavailableError, DeadlineExceededError, ResourceExhaustedError) as error:
                last = error
                if not isinstance(error, ResourceExhaustedError):
                    self._farm.failed(client.address)
                avoid = client.address
                self._farm.wait(self._farm.backoff.delay(attempt))
                continue
            self._client, self._session = client, session
            self._farm.count(client.address, sessions=1)
            return
        raise last

    def _surviving(self, call: Callable[[], _Result]) -> _Result:
        """The result of a call, which is made again, here or elsewhere, where its server was lost or too busy."""
        for attempt in range(self._farm.options.attempts):
            try:
                return call()
            except ResourceExhaustedError as error:
                last: EipcError = error
                self._farm.wait(self._farm.backoff.delay(attempt))
            except _LOST as error:
                last = error
                if self._is_there():
                    if isinstance(error, (NotFoundError, DeadlineExceededError)):
                        raise  # another thing was not found, or the step is too long: no other server would help
                    self._farm.wait(self._farm.backoff.delay(attempt))  # the same request again: its id makes it count once
                else:
                    self._move()
        raise last

    def _is_there(self) -> bool:
        try:
            self._session.info(timeout=_PROBE_S)
        except EipcError:
            return False
        return True

    def _move(self) -> None:
        """Puts it where its last acknowledged step had left it, on another server. Raises InternalError where that cannot be."""
        for attempt in range(self._farm.options.attempts):
            lost = self.address
            self._farm.count(lost, sessions=-1)
            self._farm.failed(lost)
            self._farm.moved(self._key, lost)
            self._open(lost)
            self.moves += 1
            try:
                return self._replay()
            except _LOST as error:
                last = error
                self._farm.wait(self._farm.backoff.delay(attempt))
        raise last

    def _replay(self) -> None:
        for world, data in self._snapshots.items():
            self._session.restore(data, Observe(poses=False, solver_report=False), world)
        found = {}
        for request in self._since:
            if isinstance(request, service_pb2.ResetRequest):
                found[request.world] = self._reset(request).state_digest
            else:
                found[request.world] = self._timed(request).observation.state_digest
        wrong = [world for world, digest in found.items() if digest != self._digests[world]]
        if wrong:
            raise InternalError(f"on {self.address} worlds {wrong} did not come back to the same state; is its processor of another "
                                "kind?", grpc.StatusCode.DATA_LOSS)
