"""Many worlds of one session, stepped by arrays; they survive the end of their server."""

from __future__ import annotations

import secrets
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar

import grpc
import numpy as np

from ..errors import DeadlineExceededError, EipcError, InternalError, NotFoundError, UnavailableError, missing_capability
from ..geometry import Interpolation
from ..observation import Observe
from ..session import Session
from ..stacked import CAPABILITY
from ..v1 import scene_pb2, service_pb2
from .batch_request import BatchRows, FrameKey, batch_request
from .history import History
from .servers import Connection
from .stacked import BatchAnswer, Layout, WorldArrays

_STEP_BATCH = "/eipc.v1.SimulationService/StepBatch"
_Result = TypeVar("_Result")
_LOST = (UnavailableError, NotFoundError, DeadlineExceededError)


class Worlds:
    """W worlds of a scene. `state` holds what was last observed of each; a world whose step failed keeps its row."""

    def __init__(self, connection: Connection, scene: scene_pb2.Scene, worlds: int, frames: Sequence[FrameKey], layout: Layout,
                 dt_s: float, threads: int = 1, snapshot_every: int = 50) -> None:
        """scene: with its meshes inline. frames: the driven ones. dt_s: of a step. threads: inside the step of one world.
        snapshot_every: moves after which all worlds' states are fetched, to go on from there should the server end."""
        self.connection, self.layout, self.frames = connection, layout, tuple(frames)
        self.count = worlds
        self.state = WorldArrays.empty(worlds, len(layout.bodies), len(layout.pairs))
        self._message, self._threads = scene, threads
        self._history = History(worlds, snapshot_every)
        self.restarts = 0
        self.answer = BatchAnswer(np.empty(0, dtype=np.int64), self.state.rows(np.empty(0, dtype=np.int64)), {})  # to the last send()
        self._open()
        # An earlier server answers with a message of each world, as it does where more is observed than comes stacked.
        self._stack = layout.stack if connection.client._can(CAPABILITY) else None
        observe = layout.observe if self._stack is None else None
        self._linear = BatchRows(worlds, self.frames, dt_s, observe, Interpolation.LINEAR)
        self._eased = BatchRows(worlds, self.frames, dt_s, observe, Interpolation.MINIMUM_JERK)

    def __repr__(self) -> str:
        return f"Worlds({self.count} of {self.session!r})"

    def close(self) -> None:
        """Deletes the session; the connection is the caller's."""
        try:
            self.session.delete()
        except (EipcError, ValueError):
            pass  # the server or the connection ended, or the session was deleted: nothing is left to delete

    def reset(self, worlds: np.ndarray) -> None:
        """Puts worlds [k] back to the scene's start."""
        for world in worlds.tolist():
            if self._history.moved(world):
                self._surviving(lambda: self.session.reset(Observe(poses=False, solver_report=False), world=world))
            self._history.forget(world)

    def rows(self, worlds: np.ndarray, begin: np.ndarray, end: np.ndarray, substeps: np.ndarray, eased: bool = False) -> np.ndarray:
        """Requests for worlds [k] whose frames go from poses `begin` to `end`, [k,F,7]: m, quaternions w x y z.

        substeps [k]: steps of each. eased: the frames start and end at rest; else they go at a constant speed.
        """
        return (self._eased if eased else self._linear).make(worlds, begin, end, substeps)

    def send(self, worlds: np.ndarray, rows: np.ndarray) -> Mapping[int, EipcError]:
        """Steps worlds [k] as their rows say, all in one request. Returns the errors of the worlds that failed; those are at
        their last whole step, and no other world is touched by it."""
        request_id = secrets.token_hex(8)  # a repeated request is carried out once
        answer = self.answer = self._surviving(lambda: self._step(worlds, rows, request_id))
        self.state.put(answer.worlds, answer.rows)
        self._history.add(worlds, rows, self.state.digest)
        if self._history.due:
            self._surviving(self._take_snapshots)
        return answer.errors

    def _step(self, worlds: np.ndarray, rows: np.ndarray, request_id: str) -> BatchAnswer:
        request = batch_request(self.session.name, request_id, rows, self._stack)
        return self.layout.read(worlds, self.connection.client._call(self._call, request, None))

    def observe_start(self) -> None:
        """Puts the scene's start into the state of every world, which must be there."""
        request = service_pb2.GetStateRequest(session=self.session.name, observe=self.layout.observe.to_message())
        client = self.connection.client
        self.state.put(np.arange(self.count), self.layout.rows([client._call(client._stub.GetState, request, None)] * self.count))

    def observe(self, world: int, observe: Observe) -> Any:
        """An Observation of one world as it is."""
        return self._surviving(lambda: self.session.state(observe, world=world))

    def _open(self) -> None:
        """A session of fresh worlds on the server as it is now."""
        client = self.connection.client
        self.scene = client.create_scene(self._message)
        self.session: Session = self.scene.create_session(threads=self._threads, worlds=self.count)
        self._call = client._channel.unary_unary(_STEP_BATCH, request_serializer=None,
                                                 response_deserializer=service_pb2.StepBatchResponse.FromString)

    def _take_snapshots(self) -> None:
        data = [self.session.snapshot(world=world, data=True, keep=False).data for world in range(self.count)]
        self._history.keep(data)

    def _surviving(self, call: Callable[[], _Result]) -> _Result:
        """The result of a call, which is made again after the worlds have been put back when their server ended meanwhile."""
        last: Optional[EipcError] = None
        restart = False
        for _ in range(self.connection.attempts + 1):
            try:
                if restart:
                    self._restart()
                return call()
            except _LOST as error:
                last, restart = error, not self._session_lives(error)
                if not restart and (self.connection.attempts == 1 or isinstance(error, DeadlineExceededError)):
                    raise
        assert last is not None
        raise last

    def _session_lives(self, error: EipcError) -> bool:
        """Whether the call failed although the session is there: then starting again would not help."""
        try:
            self.session.info(timeout=5)
        except EipcError:
            return False
        return not isinstance(error, NotFoundError)

    def _restart(self) -> None:
        """A new session in which every world is where its last acknowledged step had left it, bit for bit.

        Raises InternalError where that cannot be, for example because the server that is there now is of another build.
        """
        self.connection.renew()
        self._open()
        self.restarts += 1
        if self._stack is not None and not self.connection.client._can(CAPABILITY):
            raise missing_capability(self.connection.client.address, CAPABILITY)
        for world, data in self._history.snapshots():
            self.session.restore(data, Observe(poses=False, solver_report=False), world=world)
        digests = np.full(self.count, "", dtype=object)
        for worlds, rows in self._history.since_snapshots():
            answer = self._step(worlds, rows, secrets.token_hex(8))
            digests[answer.worlds] = answer.rows.digest
        wrong = [world for world in range(self.count) if digests[world] and digests[world] != self._history.digest[world]]
        if wrong:
            raise InternalError(f"after the server was started again, worlds {wrong} did not come back to the same state; "
                                "is it of another build?", grpc.StatusCode.DATA_LOSS)
