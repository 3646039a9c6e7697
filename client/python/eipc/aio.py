"""The client for asyncio: the same calls as eipc.Client, awaited.

    async with eipc.aio.connect("127.0.0.1:50051") as client:
        scene = await client.create_scene("models/scenes/bubble_teddy_low_sound.textproto")
        async with await scene.create_session() as session:
            seen = await session.step(0.02, observe=eipc.Observe(contact_wrenches=True))
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, AsyncIterator, Callable, Mapping, Optional, Sequence, Union

import grpc

from . import requests
from .client import DEFAULT_TIMEOUT_S, MAX_MESSAGE_BYTES, BodyInfo, BodyTopology, SceneSummary, Tls, summary_from_message, topology_from_message
from .errors import EipcError, UnavailableError, error_from_number, error_from_rpc, missing_capability
from .observation import Observation, Observe, observation_from_message
from .materials import Materials, needed_capabilities
from .placement import Placement, PlacementRange
from .requests import Drives, Joints, Targets, Trajectories
from .resources import (BatchResult, ServerInfo, SessionInfo, Snapshot, batch_from_message, server_info_from_message,
                        session_info_from_message, snapshot_from_message)
from .scene_source import SceneSource, load_scene
from .stacked import CAPABILITY, StackedObservations, stacked_from_message
from .v1 import scene_pb2, service_pb2, service_pb2_grpc


class connect:
    """Connects to the server at "host:port": `await connect(...)`, or `async with connect(...) as client`. Arguments as of
    eipc.connect; raises UnavailableError when nobody answers within `timeout` s."""

    def __init__(self, address: str, timeout: float = 5.0, default_timeout: float = DEFAULT_TIMEOUT_S, token: Optional[str] = None,
                 tls: Optional[Tls] = None) -> None:
        self._address, self._timeout, self._default_timeout, self._token, self._tls = address, timeout, default_timeout, token, tls
        self._client: Optional[AsyncClient] = None

    def __repr__(self) -> str:
        return f"connect({self._address!r})"

    def __await__(self) -> Any:
        return self._open().__await__()

    async def __aenter__(self) -> "AsyncClient":
        self._client = await self._open()
        return self._client

    async def __aexit__(self, *_: Any) -> None:
        if self._client is not None:
            await self._client.close()

    async def _open(self) -> "AsyncClient":
        options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
                   ("grpc.use_local_subchannel_pool", 1)]
        if self._tls is None:
            channel = grpc.aio.insecure_channel(self._address, options=options)
        else:
            channel = grpc.aio.secure_channel(self._address, self._tls.credentials(), options=options)
        try:
            await asyncio.wait_for(channel.channel_ready(), self._timeout)
        except asyncio.TimeoutError:
            await channel.close()
            raise UnavailableError(f"no eipc server answers at {self._address} within {self._timeout:g} s; is eipc-server running there?",
                                   grpc.StatusCode.UNAVAILABLE) from None
        metadata = [("authorization", f"Bearer {self._token}")] if self._token is not None else []
        return AsyncClient(self._address, channel, self._default_timeout, metadata)


class AsyncClient:
    """A connection to one server, used by one event loop. Made by connect(); as a context manager it is closed at the end."""

    def __init__(self, address: str, channel: Any, default_timeout: float, metadata: Sequence[tuple[str, str]]) -> None:
        self.address = address
        self.default_timeout = default_timeout
        self._channel = channel
        self._metadata = list(metadata)
        self._capabilities: Optional[frozenset[str]] = None  # of the server, once they were asked for
        self._stub = service_pb2_grpc.SimulationServiceStub(channel)
        self._stream: Any = self._stub.StepStream  # of an asynchronous channel it takes an asynchronous iterator

    def __repr__(self) -> str:
        return f"AsyncClient({self.address})"

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        await self._channel.close()

    async def create_scene(self, source: SceneSource, base_dir: Optional[Union[str, "os.PathLike[str]"]] = None,
                           data: Optional[Union[str, "os.PathLike[str]"]] = None, inline_meshes: bool = True,
                           timeout: Optional[float] = None) -> "AsyncScene":
        """As Client.create_scene. Files are read before the call, in a thread of their own."""
        message = await asyncio.get_running_loop().run_in_executor(None, load_scene, source, base_dir, data, inline_meshes)
        info = await self._call(self._stub.CreateScene, service_pb2.CreateSceneRequest(scene=message), timeout)
        return AsyncScene(self, summary_from_message(info), message)

    async def get_scene(self, name: str, timeout: Optional[float] = None) -> "AsyncScene":
        """A handle to a scene that the server has ("scenes/..."). Raises NotFoundError."""
        info = await self._call(self._stub.GetScene, service_pb2.GetSceneRequest(name=name, include_scene=True), timeout)
        return AsyncScene(self, summary_from_message(info), info.scene)

    async def session(self, name: str, timeout: Optional[float] = None) -> "AsyncSession":
        """A handle to a session that the server has. Raises NotFoundError."""
        info = await self._call(self._stub.GetSession, service_pb2.GetSessionRequest(session=name), timeout)
        return AsyncSession(self, info.name, info.scene, info.worlds)

    async def server_info(self, timeout: Optional[float] = None) -> ServerInfo:
        """Build, limits and abilities of the server."""
        return server_info_from_message(await self._call(self._stub.GetServerInfo, service_pb2.GetServerInfoRequest(), timeout))

    async def _can(self, capability: str) -> bool:
        """Whether the server has a capability; it is asked once."""
        if self._capabilities is None:
            self._capabilities = (await self.server_info()).capabilities
        return capability in self._capabilities

    async def _call(self, method: Callable[..., Any], request: Any, timeout: Optional[float]) -> Any:
        try:
            return await method(request, timeout=self.default_timeout if timeout is None else timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            raise error_from_rpc(error, self.address) from None


class AsyncScene:
    """A compiled scene on the server; immutable, shared by its sessions."""

    def __init__(self, client: AsyncClient, summary: SceneSummary, message: scene_pb2.Scene) -> None:
        self._client = client
        self.summary = summary
        self.message = message  # the scene as it was sent (mesh files inlined)

    def __repr__(self) -> str:
        return f"AsyncScene({self.name}, {len(self.bodies)} bodies)"

    @property
    def name(self) -> str:
        return self.summary.name

    @property
    def bodies(self) -> Mapping[str, BodyInfo]:
        return self.summary.bodies

    async def topology(self, timeout: Optional[float] = None) -> dict[str, BodyTopology]:
        """Surfaces of all bodies, for drawing and recording."""
        request = service_pb2.GetSceneRequest(name=self.name, include_topology=True)
        return topology_from_message(await self._client._call(self._client._stub.GetScene, request, timeout))

    async def create_session(self, threads: int = 1, worlds: int = 1, snapshot: Union[Snapshot, str, bytes, None] = None,
                             record: bool = False, idle_timeout_s: float = 0.0, timeout: Optional[float] = None) -> "AsyncSession":
        """As Scene.create_session."""
        request = service_pb2.CreateSessionRequest(scene=self.name, threads=threads, worlds=worlds, record=record,
                                                   idle_timeout_s=idle_timeout_s, **requests.start_fields(snapshot))
        info = await self._client._call(self._client._stub.CreateSession, request, timeout)
        return AsyncSession(self._client, info.name, self.name, worlds)

    async def delete(self, timeout: Optional[float] = None) -> None:
        """Raises FailedPreconditionError while sessions use the scene."""
        await self._client._call(self._client._stub.DeleteScene, service_pb2.DeleteSceneRequest(name=self.name), timeout)


class AsyncSession:
    """Running worlds; arguments and errors as of eipc.Session. Used in an `async with` block it is deleted at the end.

    Cancelling the task that awaits step() ends the call: the step is then taken or not, and info() says which.
    """

    def __init__(self, client: AsyncClient, name: str, scene: str, worlds: int = 1) -> None:
        self._client = client
        self.name = name
        self.scene = scene
        self.worlds = worlds

    def __repr__(self) -> str:
        return f"AsyncSession({self.name}, of {self.scene}, {self.worlds} worlds, at {self._client.address})"

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        try:
            await self.delete()
        except EipcError:
            if kind is None:  # else the first error is the one to report
                raise

    async def step(self, dt: float, targets: Optional[Targets] = None, observe: Optional[Observe] = None, substeps: int = 1,
                   expected_step: Optional[int] = None, request_id: str = "", trajectories: Optional[Trajectories] = None,
                   world: int = 0, drives: Optional[Drives] = None, time_limit: float = 0.0,
                   timeout: Optional[float] = None, joints: Optional[Joints] = None) -> Observation:
        request = requests.step(self.name, dt, targets, observe, substeps, expected_step, request_id, trajectories, world, drives, time_limit,
                                joints)
        return observation_from_message((await self._client._call(self._client._stub.Step, request, timeout)).observation)

    async def step_batch(self, steps: Sequence[Mapping[str, Any]], request_id: str = "",
                         timeout: Optional[float] = None) -> list[BatchResult]:
        request = requests.step_batch(self.name, steps, request_id)
        return batch_from_message(await self._client._call(self._client._stub.StepBatch, request, timeout))

    async def step_stacked(self, steps: Sequence[Mapping[str, Any]], observe: Observe, pairs: Sequence[tuple[str, str]] = (),
                           request_id: str = "", timeout: Optional[float] = None) -> StackedObservations:
        """As Session.step_stacked."""
        request = requests.step_stacked(self.name, steps, observe, pairs, request_id)
        if not await self._client._can(CAPABILITY):
            raise missing_capability(self._client.address, CAPABILITY)
        return stacked_from_message((await self._client._call(self._client._stub.StepBatch, request, timeout)).stacked)

    async def run(self, steps: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[Observation]:
        """Steps on one stream, as Session.stream(): `steps` yields keyword arguments of step(); the observations come in order. A
        step that fails raises its error and ends the stream; the session is then at its last whole step."""
        async def messages() -> AsyncIterator[service_pb2.StepRequest]:
            async for options in steps:
                yield requests.step(self.name, **options)

        call = self._client._stream(messages(), metadata=self._client._metadata)
        try:
            async for response in call:
                if response.status_code != 0:
                    raise error_from_number(response.status_code, response.status_message)
                yield observation_from_message(response.observation)
        except grpc.RpcError as error:
            raise error_from_rpc(error, self._client.address) from None
        finally:
            call.cancel()

    async def state(self, observe: Optional[Observe] = None, world: int = 0, timeout: Optional[float] = None) -> Observation:
        return observation_from_message(await self._client._call(self._client._stub.GetState, requests.state(self.name, observe, world), timeout))

    async def reset(self, observe: Optional[Observe] = None, world: int = 0, placements: Optional[Mapping[str, Placement]] = None,
                    ranges: Optional[Mapping[str, PlacementRange]] = None, seed: int = 0, attempts: int = 0,
                    timeout: Optional[float] = None, materials: Optional[Materials] = None) -> Observation:
        request = requests.reset(self.name, observe, world, placements, ranges, seed, attempts, materials)
        for capability in needed_capabilities(request):
            if not await self._client._can(capability):
                raise missing_capability(self._client.address, capability)
        return observation_from_message(await self._client._call(self._client._stub.Reset, request, timeout))

    async def snapshot(self, world: int = 0, data: bool = False, keep: bool = True, timeout: Optional[float] = None) -> Snapshot:
        request = requests.snapshot(self.name, world, data, keep)
        return snapshot_from_message(await self._client._call(self._client._stub.CreateSnapshot, request, timeout))

    async def restore(self, snapshot: Union[Snapshot, str, bytes], observe: Optional[Observe] = None, world: int = 0,
                      timeout: Optional[float] = None) -> Observation:
        request = requests.restore(self.name, snapshot, observe, world)
        return observation_from_message(await self._client._call(self._client._stub.RestoreSession, request, timeout))

    async def fork(self, worlds: int = 1, world: int = 0, threads: int = 1, record: bool = False,
                   timeout: Optional[float] = None) -> "AsyncSession":
        request = service_pb2.ForkSessionRequest(session=self.name, world=world, worlds=worlds, threads=threads, record=record)
        info = await self._client._call(self._client._stub.ForkSession, request, timeout)
        return AsyncSession(self._client, info.name, info.scene, info.worlds)

    async def recording(self, timeout: Optional[float] = None) -> bytes:
        call = self._client._stub.GetRecording(service_pb2.GetRecordingRequest(session=self.name), metadata=self._client._metadata,
                                               timeout=self._client.default_timeout if timeout is None else timeout)
        try:
            return b"".join([requests.checked_piece(chunk) async for chunk in call])
        except grpc.RpcError as error:
            raise error_from_rpc(error, self._client.address) from None

    async def info(self, timeout: Optional[float] = None) -> SessionInfo:
        request = service_pb2.GetSessionRequest(session=self.name)
        return session_info_from_message(await self._client._call(self._client._stub.GetSession, request, timeout))

    async def delete(self, timeout: Optional[float] = None) -> None:
        await self._client._call(self._client._stub.DeleteSession, service_pb2.DeleteSessionRequest(session=self.name), timeout)
