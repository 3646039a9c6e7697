"""The client: connect, create scenes and sessions, step.

    with eipc.connect("127.0.0.1:50051") as client:
        scene = client.create_scene("models/scenes/bubble_teddy_low_sound.textproto")
        with scene.create_session() as session:
            observation = session.step(0.02, observe=eipc.Observe(contact_wrenches=True))
"""

from __future__ import annotations

import collections
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

import grpc
import numpy as np

from . import arrays
from .errors import UnavailableError, error_from_rpc, missing_capability
from .mesh_requests import SHELL_CAPABILITY, cage_request, shell_request, upload_pieces
from .resources import (MeshUpload, Operation, ServerInfo, SessionInfo, Snapshot, server_info_from_message,
                        session_info_from_message, snapshot_from_message)
from .scene_source import SceneSource, load_scene
from .received import STEP_STREAM, StepResponseHead
from .requests import start_fields
from .session import Session
from .shown import brief
from .v1 import scene_pb2, service_pb2, service_pb2_grpc

DEFAULT_TIMEOUT_S = 60.0
# Scenes carry their meshes and observations whole surfaces; the server has limits of its own.
MAX_MESSAGE_BYTES = 256 << 20


@dataclass(frozen=True)
class Tls:
    """Files in PEM. ca: authorities that the server's certificate is checked against (default: the system's). certificate and key:
    the client's own, where the server wants one."""

    ca: Optional[Path] = None
    certificate: Optional[Path] = None
    key: Optional[Path] = None

    def credentials(self) -> grpc.ChannelCredentials:
        def read(path: Optional[Path]) -> Optional[bytes]:
            return Path(path).read_bytes() if path is not None else None

        return grpc.ssl_channel_credentials(read(self.ca), read(self.key), read(self.certificate))


class _CallDetails(
        collections.namedtuple("_CallDetails", ("method", "timeout", "metadata", "credentials", "wait_for_ready", "compression")),
        grpc.ClientCallDetails):
    pass


# What to send along with a call, asked for when it is made.
Metadata = Callable[[], Iterable[tuple[str, str]]]


class _Along(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamUnaryClientInterceptor,
             grpc.StreamStreamClientInterceptor):
    """Adds metadata to every call."""

    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata

    def _with_metadata(self, continuation: Any, details: Any, request: Any) -> Any:
        metadata = [*(details.metadata or ()), *self._metadata()]
        return continuation(
            _CallDetails(details.method, details.timeout, metadata, details.credentials,
                         getattr(details, "wait_for_ready", None), getattr(details, "compression", None)), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_unary = intercept_stream_stream = _with_metadata


def connect(address: str, timeout: float = 5.0, default_timeout: float = DEFAULT_TIMEOUT_S, token: Optional[str] = None,
            tls: Optional[Tls] = None, metadata: Optional[Metadata] = None) -> "Client":
    """Connects to the server at "host:port".

    timeout: s to wait for the connection. default_timeout: s for every later call that gives none. tls: encrypt. token: says who
    calls, where the server wants to know; give it together with tls off loopback, or it travels in the clear. metadata: asked at
    every call for what to send along with it, such as ("traceparent", ...) of the caller's span (W3C Trace Context).
    Raises UnavailableError when nobody answers.
    """
    def open_channel() -> grpc.Channel:
        channel = _connection(address, tls)
        if token is not None:
            channel = grpc.intercept_channel(channel, _Along(lambda: [("authorization", f"Bearer {token}")]))
        return channel if metadata is None else grpc.intercept_channel(channel, _Along(metadata))

    client = Client(address, open_channel, default_timeout)
    try:
        grpc.channel_ready_future(client._channel).result(timeout=timeout)
    except grpc.FutureTimeoutError:
        client.close()
        raise UnavailableError(
            f"no eipc server answers at {address} within {timeout:g} s; is eipc-server running there?",
            grpc.StatusCode.UNAVAILABLE) from None
    return client


def _serialized(request: "service_pb2.StepRequest | bytes") -> bytes:
    return request if isinstance(request, bytes) else bytes(request.SerializeToString())


def _connection(address: str, tls: Optional[Tls]) -> grpc.Channel:
    """Shares its connection with no other channel. When gRPC ends a call between its beginning and the sending of its headers (a
    deadline of a few milliseconds is enough), it breaks the rules of HTTP/2 (grpc issue 38758): a proxy then closes the connection."""
    options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
               ("grpc.use_local_subchannel_pool", 1)]
    if tls is None:
        return grpc.insecure_channel(address, options=options)
    return grpc.secure_channel(address, tls.credentials(), options=options)


@brief
@dataclass(frozen=True, eq=False)
class BodyInfo:
    """A body of a created scene. mass kg, centre of mass [3] m at the start, counts of vertices and cells."""

    name: str
    kind: str
    mass_kg: float
    center_of_mass: np.ndarray
    cage_vertices: int
    cage_tets: int
    surface_vertices: int
    surface_triangles: int
    boundary_sets: tuple[str, ...]


@brief
@dataclass(frozen=True, eq=False)
class BodyTopology:
    """Surface of a body: triangles [m,3] int32 in its own vertices, positions [n,3] m at the start, world frame."""

    triangles: np.ndarray
    positions: np.ndarray


@brief
@dataclass(frozen=True, eq=False)
class SceneSummary:
    """What the server says of a scene."""

    name: str
    display_name: str
    unknowns: int
    surface_vertices: int
    surface_triangles: int
    bodies: Mapping[str, BodyInfo]


def summary_from_message(info: service_pb2.SceneInfo) -> SceneSummary:
    bodies = {
        body.name: BodyInfo(
            body.name, body.kind, body.mass_kg,
            np.array([body.center_of_mass_m.x, body.center_of_mass_m.y, body.center_of_mass_m.z]), body.cage_vertices,
            body.cage_tets, body.surface_vertices, body.surface_triangles, tuple(body.boundary_sets))
        for body in info.body_infos
    }
    return SceneSummary(info.name, info.display_name, info.unknowns, info.surface_vertices, info.surface_triangles, bodies)


def topology_from_message(info: service_pb2.SceneInfo) -> dict[str, BodyTopology]:
    return {body.name: BodyTopology(arrays.to_numpy(body.surface_cells), arrays.to_numpy(body.surface_positions))
            for body in info.body_infos if body.HasField("surface_cells")}


class Client:
    """A connection to one server, and another one for step streams once there are any. Thread-safe; use as a context manager or call
    close()."""

    def __init__(self, address: str, open_channel: Callable[[], grpc.Channel],
                 default_timeout: float = DEFAULT_TIMEOUT_S) -> None:
        self.address = address
        self.default_timeout = default_timeout
        self._open_channel = open_channel
        self._channel = open_channel()
        self._stub = service_pb2_grpc.SimulationServiceStub(self._channel)
        self._streams_lock = threading.Lock()
        self._streams: Optional[grpc.Channel] = None  # guarded by _streams_lock, as what opens its calls
        self._open_step_stream: Any = None
        self._capabilities: Optional[frozenset[str]] = None  # of the server, once they were asked for

    def __repr__(self) -> str:
        return f"Client({self.address})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self._channel.close()
        with self._streams_lock:
            if self._streams is not None:
                self._streams.close()

    def _step_stream(self, requests: "Iterator[service_pb2.StepRequest | bytes]") -> Any:
        """A call of StepStream: without a deadline, on a connection that calls with one cannot end (see _connection). Requests are messages,
        or serialized."""
        with self._streams_lock:
            if self._streams is None:
                self._streams = self._open_channel()
                self._open_step_stream = self._streams.stream_stream(
                    STEP_STREAM, request_serializer=_serialized, response_deserializer=StepResponseHead.FromString)
            return self._open_step_stream(requests)

    def create_scene(self, source: SceneSource, base_dir: Optional[str | os.PathLike[str]] = None,
                     data: Optional[str | os.PathLike[str]] = None, inline_meshes: bool = True,
                     timeout: Optional[float] = None) -> "Scene":
        """Sends a scene (file, text or message; see load_scene for the arguments) and returns a handle to it.

        The same scene twice gives the same name. Raises SceneFileError, InvalidArgumentError with every problem.
        """
        message = load_scene(source, base_dir, data, inline_meshes)
        info = self._call(self._stub.CreateScene, service_pb2.CreateSceneRequest(scene=message), timeout)
        return Scene(self, summary_from_message(info), message)

    def validate_scene(self, source: SceneSource, base_dir: Optional[str | os.PathLike[str]] = None,
                       data: Optional[str | os.PathLike[str]] = None, inline_meshes: bool = True,
                       timeout: Optional[float] = None) -> SceneSummary:
        """As create_scene, but the server compiles the scene, reports its problems and stores nothing."""
        message = load_scene(source, base_dir, data, inline_meshes)
        request = service_pb2.CreateSceneRequest(scene=message, validate_only=True)
        return summary_from_message(self._call(self._stub.CreateScene, request, timeout))

    def get_scene(self, name: str, timeout: Optional[float] = None) -> "Scene":
        """A handle to a scene that the server has ("scenes/..."). Raises NotFoundError."""
        request = service_pb2.GetSceneRequest(name=name, include_scene=True)
        info = self._call(self._stub.GetScene, request, timeout)
        return Scene(self, summary_from_message(info), info.scene)

    def list_scenes(self, timeout: Optional[float] = None) -> Iterator[SceneSummary]:
        """Every scene of the server, page by page."""
        for page in self._pages(self._stub.ListScenes, service_pb2.ListScenesRequest(), timeout):
            yield from map(summary_from_message, page.scenes)

    def server_info(self, timeout: Optional[float] = None) -> ServerInfo:
        """Build, limits and abilities of the server."""
        return server_info_from_message(self._call(self._stub.GetServerInfo, service_pb2.GetServerInfoRequest(), timeout))

    def _can(self, capability: str) -> bool:
        """Whether the server has a capability; it is asked once."""
        if self._capabilities is None:
            self._capabilities = self.server_info().capabilities
        return capability in self._capabilities

    def start_create_scene(self, source: SceneSource, base_dir: Optional[str | os.PathLike[str]] = None,
                           data: Optional[str | os.PathLike[str]] = None, inline_meshes: bool = True,
                           timeout: Optional[float] = None) -> Operation:
        """create_scene as an operation with progress, that can be cancelled; its scene() is the result."""
        message = load_scene(source, base_dir, data, inline_meshes)
        request = service_pb2.CreateSceneRequest(scene=message)
        return Operation(self, self._call(self._stub.StartCreateScene, request, timeout))

    def start_prepare_mesh(self, reference: str, cage_vertices: int = 60, scale: float = 1.0, timeout_s: float = 300.0,
                           timeout: Optional[float] = None) -> Operation:
        """Makes any mesh a collision surface and a cage on the server, as `eipc cage` does; its prepared() is the result.

        reference: of an upload (upload_mesh), or a file of the server's data folder; scale: metres per unit of its coordinates.
        """
        request = cage_request(reference, scale, cage_vertices, timeout_s)
        return Operation(self, self._call(self._stub.StartPrepareMesh, request, timeout))

    def start_prepare_shell(self, reference: str, thickness_m: float, vertices: int = 0, edge_m: float = 0.0,
                            keep_triangles: bool = False, scale: float = 1.0, timeout_s: float = 300.0,
                            timeout: Optional[float] = None) -> Operation:
        """Makes any mesh, open or closed, a shell on the server, as `eipc cage --shell` does; its prepared().shell is the result.

        thickness_m: of the sheet; edges are to be longer, and layers no closer to each other. vertices: about how many (0: 1000), or
        edge_m: the length of the edges, m; keep_triangles: weld, orient and check only. reference and scale: as for
        start_prepare_mesh. Raises UnimplementedError where the server is of an earlier version.
        """
        if not self._can(SHELL_CAPABILITY):
            raise missing_capability(self.address, SHELL_CAPABILITY)
        request = shell_request(reference, scale, thickness_m, vertices, edge_m, keep_triangles, timeout_s)
        return Operation(self, self._call(self._stub.StartPrepareMesh, request, timeout))

    def upload_mesh(self, path: str | os.PathLike[str], chunk_bytes: int = 1 << 20, timeout: Optional[float] = None) -> MeshUpload:
        """Sends a mesh file in checked pieces; scenes then say `file: "upload:..."` (the result's reference)."""
        info = self._call(self._stub.UploadMesh, upload_pieces(path, chunk_bytes), timeout)
        return MeshUpload(info.reference, info.size_bytes, info.vertices, info.triangles, info.tetrahedra)

    def list_sessions(self, timeout: Optional[float] = None) -> Iterator[SessionInfo]:
        """Every session that the caller may see, page by page."""
        for page in self._pages(self._stub.ListSessions, service_pb2.ListSessionsRequest(), timeout):
            yield from map(session_info_from_message, page.sessions)

    def session(self, name: str, timeout: Optional[float] = None) -> Session:
        """A handle to a session that the server has, for example after a restart. Raises NotFoundError."""
        info = self._call(self._stub.GetSession, service_pb2.GetSessionRequest(session=name), timeout)
        return Session(self, info.name, info.scene, info.worlds)

    def list_snapshots(self, timeout: Optional[float] = None) -> Iterator[Snapshot]:
        """Every snapshot that the caller may see, without data, page by page."""
        for page in self._pages(self._stub.ListSnapshots, service_pb2.ListSnapshotsRequest(), timeout):
            yield from map(snapshot_from_message, page.snapshots)

    def get_snapshot(self, name: str, data: bool = True, timeout: Optional[float] = None) -> Snapshot:
        request = service_pb2.GetSnapshotRequest(name=name, include_data=data)
        return snapshot_from_message(self._call(self._stub.GetSnapshot, request, timeout))

    def delete_snapshot(self, snapshot: Union[Snapshot, str], timeout: Optional[float] = None) -> None:
        name = snapshot if isinstance(snapshot, str) else snapshot.name
        self._call(self._stub.DeleteSnapshot, service_pb2.DeleteSnapshotRequest(name=name), timeout)

    def list_operations(self, timeout: Optional[float] = None) -> Iterator[Operation]:
        """Every operation that the caller may see, page by page."""
        for page in self._pages(self._stub.ListOperations, service_pb2.ListOperationsRequest(), timeout):
            yield from (Operation(self, message) for message in page.operations)

    def _pages(self, method: Callable[..., Any], request: Any, timeout: Optional[float]) -> Iterator[Any]:
        while True:
            page = self._call(method, request, timeout)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def _stream(self, method: Callable[..., Any], request: Any, timeout: Optional[float]) -> Iterator[Any]:
        try:
            yield from method(request, timeout=self.default_timeout if timeout is None else timeout)
        except grpc.RpcError as error:
            raise error_from_rpc(error, self.address) from None

    def _call(self, method: Callable[..., Any], request: Any, timeout: Optional[float]) -> Any:
        try:
            return method(request, timeout=self.default_timeout if timeout is None else timeout)
        except grpc.RpcError as error:
            raise error_from_rpc(error, self.address) from None

    def _begin(self, method: Any, request: Any, timeout: Optional[float]) -> Callable[[], Any]:
        """As _call, without waiting: what is returned waits for the answer and gives it, or raises."""
        answer = method.future(request, timeout=self.default_timeout if timeout is None else timeout)

        def waited() -> Any:
            try:
                return answer.result()
            except grpc.RpcError as error:
                raise error_from_rpc(error, self.address) from None

        return waited


class Scene:
    """A compiled scene on the server; immutable, shared by its sessions."""

    def __init__(self, client: Client, summary: SceneSummary, message: scene_pb2.Scene) -> None:
        self._client = client
        self.summary = summary
        # The scene as it was sent (mesh files inlined).
        self.message = message

    def __repr__(self) -> str:
        return f"Scene({self.name}, {self.summary.display_name!r}, {len(self.bodies)} bodies, {self.summary.unknowns} unknowns)"

    @property
    def name(self) -> str:
        return self.summary.name

    @property
    def bodies(self) -> Mapping[str, BodyInfo]:
        return self.summary.bodies

    def topology(self, timeout: Optional[float] = None) -> dict[str, BodyTopology]:
        """Surfaces of all bodies, for drawing and recording."""
        request = service_pb2.GetSceneRequest(name=self.name, include_topology=True)
        info = self._client._call(self._client._stub.GetScene, request, timeout)
        return topology_from_message(info)

    def create_session(self, threads: int = 1, worlds: int = 1, snapshot: Union[Snapshot, str, bytes, None] = None,
                       record: bool = False, idle_timeout_s: float = 0.0, timeout: Optional[float] = None) -> Session:
        """Running copies of the scene. threads: inside one step. worlds: how many. snapshot: where they start, default the scene's
        start. record: keep what happens for Session.recording(). idle_timeout_s: the server may delete the session when no call
        used it for so long; 0: the server's default."""
        request = service_pb2.CreateSessionRequest(scene=self.name, threads=threads, worlds=worlds, record=record,
                                                   idle_timeout_s=idle_timeout_s, **start_fields(snapshot))
        info = self._client._call(self._client._stub.CreateSession, request, timeout)
        return Session(self._client, info.name, self.name, worlds)

    def delete(self, timeout: Optional[float] = None) -> None:
        """Raises FailedPreconditionError while sessions use the scene."""
        self._client._call(self._client._stub.DeleteScene, service_pb2.DeleteSceneRequest(name=self.name), timeout)
