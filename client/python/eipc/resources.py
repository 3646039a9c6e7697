"""What a server keeps besides scenes and sessions: snapshots, operations, its own description. Values; made by Client and Session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping, Optional

from .errors import EipcError, error_from_number
from .observation import Observation, observation_from_message
from .shown import brief
from .v1 import service_pb2

if TYPE_CHECKING:
    from .client import Client, Scene


@brief
@dataclass(frozen=True)
class ServerInfo:
    """build: equal builds give equal bits. limits: name -> number, as in the protocol's ServerLimits; 0 means no bound.

    journal: whether acknowledged steps survive the end of the server; journal_sync_interval_s: how long after its answer a step
    also survives a loss of power.
    """

    version: str
    build: str
    capabilities: frozenset[str]
    limits: Mapping[str, int]
    journal: bool
    journal_sync_interval_s: float


@dataclass(frozen=True)
class SessionInfo:
    """A session as the server lists it; step and time are the first world's."""

    name: str
    scene: str
    step: int
    time_s: float
    worlds: int
    threads: int
    recording: bool
    idle_timeout_s: float


@brief
@dataclass(frozen=True)
class Snapshot:
    """Every bit of one world at one step. name: empty when the server keeps none; data: empty when it was not asked for."""

    name: str
    scene: str
    build: str
    step: int
    time_s: float
    state_digest: str
    size_bytes: int
    data: bytes


@dataclass(frozen=True)
class MeshUpload:
    """reference: what a scene's `file` says to mean this mesh. Counts are of the mesh as read."""

    reference: str
    size_bytes: int
    vertices: int
    triangles: int
    tetrahedra: int


@dataclass(frozen=True, eq=False)
class BatchResult:
    """One world's part of a batch: an observation, or the error it would have raised alone."""

    observation: Optional[Observation]
    error: Optional[EipcError]
    session_step: int


def server_info_from_message(info: service_pb2.ServerInfo) -> ServerInfo:
    limits = {field.name: getattr(info.limits, field.name) for field in info.limits.DESCRIPTOR.fields}
    return ServerInfo(info.version, info.build, frozenset(info.capabilities), limits, info.journal, info.journal_sync_interval_s)


def session_info_from_message(info: service_pb2.SessionInfo) -> SessionInfo:
    return SessionInfo(info.name, info.scene, info.step, info.time_s, info.worlds, info.threads, info.recording, info.idle_timeout_s)


def snapshot_from_message(info: service_pb2.SnapshotInfo) -> Snapshot:
    return Snapshot(info.name, info.scene, info.build, info.step, info.time_s, info.state_digest, info.size_bytes, info.data)


def batch_from_message(batch: service_pb2.StepBatchResponse) -> list[BatchResult]:
    return [
        BatchResult(None, error_from_number(r.status_code, r.status_message), r.session_step) if r.status_code else
        BatchResult(observation_from_message(r.observation), None, r.session_step) for r in batch.responses
    ]


class Operation:
    """Work that goes on on the server after the call that began it: creating a scene, stepping a batch."""

    def __init__(self, client: "Client", message: service_pb2.Operation) -> None:
        self._client = client
        self._message = message

    @property
    def name(self) -> str:
        return self._message.name

    @property
    def kind(self) -> str:
        return self._message.kind

    @property
    def done(self) -> bool:
        """As of the last refresh."""
        return self._message.done

    @property
    def progress(self) -> float:
        """In [0, 1]."""
        return self._message.progress

    @property
    def stage(self) -> str:
        return self._message.stage

    def __repr__(self) -> str:
        return f"Operation({self.name}, {self.kind}, " + ("done" if self.done else f"{self.stage} {100 * self.progress:.0f} %") + ")"

    def refresh(self, wait_s: float = 0.0, timeout: Optional[float] = None) -> "Operation":
        """Asks the server how far it is, waiting up to wait_s for it to be done."""
        request = service_pb2.GetOperationRequest(name=self.name, wait_s=wait_s)
        limit = (self._client.default_timeout if timeout is None else timeout) + wait_s
        self._message = self._client._call(self._client._stub.GetOperation, request, limit)
        return self

    def wait(self, timeout: Optional[float] = None) -> "Operation":
        """Returns when it is done; timeout: s, default for ever. Raises TimeoutError; never the operation's own error."""
        waited = 0.0
        while not self.done:
            if timeout is not None and waited >= timeout:
                raise TimeoutError(f"{self.name} is not done after {timeout:g} s")
            pause = 10.0 if timeout is None else min(10.0, timeout - waited)
            self.refresh(pause)
            waited += pause
        return self

    def cancel(self, timeout: Optional[float] = None) -> None:
        """Asks it to stop; it is done soon, with a CancelledError unless it finished before."""
        request = service_pb2.CancelOperationRequest(name=self.name)
        self._message = self._client._call(self._client._stub.CancelOperation, request, timeout)

    def delete(self, timeout: Optional[float] = None) -> None:
        """Raises FailedPreconditionError while it runs."""
        self._client._call(self._client._stub.DeleteOperation, service_pb2.DeleteOperationRequest(name=self.name), timeout)

    def scene(self) -> "Scene":
        """What create_scene made. Waits; raises its error."""
        self._raise_failure()
        return self._client.get_scene(self._message.scene.name)

    def batch(self) -> list[BatchResult]:
        """What step_batch answered. Waits; raises its error."""
        self._raise_failure()
        return batch_from_message(self._message.batch)

    def prepared(self) -> service_pb2.PreparedMesh:
        """What was made of a mesh. Of start_prepare_mesh `body` goes into a scene as an embedded body, of start_prepare_shell `shell.body`
        as a shell. Waits; raises its error."""
        self._raise_failure()
        return self._message.prepared

    def _raise_failure(self) -> None:
        self.wait()
        if self._message.status_code:
            raise error_from_number(self._message.status_code, self._message.status_message)
