"""The client: connect, create scenes and sessions, step.

    with eipc.connect("127.0.0.1:50051") as client:
        scene = client.create_scene("models/scenes/bubble_teddy_low.textproto")
        with scene.create_session() as session:
            observation = session.step(0.02, observe=eipc.Observe(contact_wrenches=True))
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import grpc
import numpy as np

from . import arrays
from .errors import EipcError, UnavailableError, error_from_rpc
from .geometry import Pose
from .observation import Observation, Observe, observation_from_message
from .scene_source import SceneSource, load_scene
from .stream import StepStream
from .v1 import scene_pb2, service_pb2, service_pb2_grpc

# A target's key: (body, boundary set), or the name of a kinematic body.
TargetKey = Union[str, tuple[str, str]]
Targets = Mapping[TargetKey, Pose]

DEFAULT_TIMEOUT_S = 60.0
# Scenes carry their meshes and observations whole surfaces; the server has limits of its own.
_MAX_MESSAGE_BYTES = 256 << 20


def connect(address: str, timeout: float = 5.0, default_timeout: float = DEFAULT_TIMEOUT_S) -> "Client":
    """Connects to the server at "host:port".

    timeout: s to wait for the connection. default_timeout: s for every later call that gives none.
    Raises UnavailableError when nobody answers.
    """
    limits = [("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES), ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES)]
    channel = grpc.insecure_channel(address, options=limits)
    try:
        grpc.channel_ready_future(channel).result(timeout=timeout)
    except grpc.FutureTimeoutError:
        channel.close()
        raise UnavailableError(
            f"no eipc server answers at {address} within {timeout:g} s; is eipc-server running there?",
            grpc.StatusCode.UNAVAILABLE) from None
    return Client(address, channel, default_timeout)


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


@dataclass(frozen=True, eq=False)
class BodyTopology:
    """Surface of a body: triangles [m,3] int32 in its own vertices, positions [n,3] m at the start, world frame."""

    triangles: np.ndarray
    positions: np.ndarray


@dataclass(frozen=True, eq=False)
class SceneSummary:
    """What the server says of a scene."""

    name: str
    display_name: str
    unknowns: int
    surface_vertices: int
    surface_triangles: int
    bodies: Mapping[str, BodyInfo]


def _summary(info: service_pb2.SceneInfo) -> SceneSummary:
    bodies = {
        body.name: BodyInfo(
            body.name, body.kind, body.mass_kg,
            np.array([body.center_of_mass_m.x, body.center_of_mass_m.y, body.center_of_mass_m.z]), body.cage_vertices,
            body.cage_tets, body.surface_vertices, body.surface_triangles, tuple(body.boundary_sets))
        for body in info.body_infos
    }
    return SceneSummary(info.name, info.display_name, info.unknowns, info.surface_vertices, info.surface_triangles, bodies)


class Client:
    """A connection to one server. Thread-safe; use as a context manager or call close()."""

    def __init__(self, address: str, channel: grpc.Channel, default_timeout: float = DEFAULT_TIMEOUT_S) -> None:
        self.address = address
        self.default_timeout = default_timeout
        self._channel = channel
        self._stub = service_pb2_grpc.SimulationServiceStub(channel)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self._channel.close()

    def create_scene(self, source: SceneSource, base_dir: Optional[str | os.PathLike[str]] = None,
                     data: Optional[str | os.PathLike[str]] = None, inline_meshes: bool = True,
                     timeout: Optional[float] = None) -> "Scene":
        """Sends a scene (file, text or message; see load_scene for the arguments) and returns a handle to it.

        The same scene twice gives the same name. Raises SceneFileError, InvalidArgumentError with every problem.
        """
        message = load_scene(source, base_dir, data, inline_meshes)
        info = self._call(self._stub.CreateScene, service_pb2.CreateSceneRequest(scene=message), timeout)
        return Scene(self, _summary(info), message)

    def validate_scene(self, source: SceneSource, base_dir: Optional[str | os.PathLike[str]] = None,
                       data: Optional[str | os.PathLike[str]] = None, inline_meshes: bool = True,
                       timeout: Optional[float] = None) -> SceneSummary:
        """As create_scene, but the server compiles the scene, reports its problems and stores nothing."""
        message = load_scene(source, base_dir, data, inline_meshes)
        request = service_pb2.CreateSceneRequest(scene=message, validate_only=True)
        return _summary(self._call(self._stub.CreateScene, request, timeout))

    def get_scene(self, name: str, timeout: Optional[float] = None) -> "Scene":
        """A handle to a scene that the server has ("scenes/..."). Raises NotFoundError."""
        request = service_pb2.GetSceneRequest(name=name, include_scene=True)
        info = self._call(self._stub.GetScene, request, timeout)
        return Scene(self, _summary(info), info.scene)

    def list_scenes(self, timeout: Optional[float] = None) -> Iterator[SceneSummary]:
        """Every scene of the server, page by page."""
        token = ""
        while True:
            page = self._call(self._stub.ListScenes, service_pb2.ListScenesRequest(page_token=token), timeout)
            yield from map(_summary, page.scenes)
            token = page.next_page_token
            if not token:
                return

    def _call(self, method: Callable[..., Any], request: Any, timeout: Optional[float]) -> Any:
        try:
            return method(request, timeout=self.default_timeout if timeout is None else timeout)
        except grpc.RpcError as error:
            raise error_from_rpc(error, self.address) from None


class Scene:
    """A compiled scene on the server; immutable, shared by its sessions."""

    def __init__(self, client: Client, summary: SceneSummary, message: scene_pb2.Scene) -> None:
        self._client = client
        self.summary = summary
        # The scene as it was sent (mesh files inlined).
        self.message = message

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
        return {body.name: BodyTopology(arrays.to_numpy(body.surface_cells), arrays.to_numpy(body.surface_positions))
                for body in info.body_infos if body.HasField("surface_cells")}

    def create_session(self, threads: int = 1, timeout: Optional[float] = None) -> "Session":
        """A running copy of the scene. threads: inside one step."""
        request = service_pb2.CreateSessionRequest(scene=self.name, threads=threads)
        info = self._client._call(self._client._stub.CreateSession, request, timeout)
        return Session(self._client, info.name, self.name)

    def delete(self, timeout: Optional[float] = None) -> None:
        """Raises FailedPreconditionError while sessions use the scene."""
        self._client._call(self._client._stub.DeleteScene, service_pb2.DeleteSceneRequest(name=self.name), timeout)


class Session:
    """One running world. Used in a `with` block it is deleted at the end."""

    def __init__(self, client: Client, name: str, scene: str) -> None:
        self._client = client
        self.name = name
        self.scene = scene

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self.delete()
        except EipcError:
            if kind is None:  # else the first error is the one to report
                raise

    def step(self, dt: float, targets: Optional[Targets] = None, observe: Optional[Observe] = None, substeps: int = 1,
             expected_step: Optional[int] = None, request_id: str = "", timeout: Optional[float] = None) -> Observation:
        """Advances the world.

        dt: s. targets: poses to be reached at the end of the step, by (body, boundary set) or kinematic body; frames
        without a target follow their trajectory, or stay once commanded. substeps: steps of dt with these targets.
        expected_step: refuse (AbortedError) unless the session is there. request_id: repeating the last one returns
        its answer again. Raises an EipcError; the session then is at its last whole step.
        """
        request = self._step_request(dt, targets, observe, substeps, expected_step, request_id)
        response = self._client._call(self._client._stub.Step, request, timeout)
        return observation_from_message(response.observation)

    def stream(self, timeout: Optional[float] = None) -> StepStream:
        """Opens a step stream for a `with` block. timeout: s to wait for each answer, default the client's."""
        return StepStream(self, self._client.default_timeout if timeout is None else timeout)

    def reset(self, observe: Optional[Observe] = None, timeout: Optional[float] = None) -> Observation:
        """Back to the scene's start."""
        request = service_pb2.ResetRequest(session=self.name, observe=(observe or Observe()).to_message())
        return observation_from_message(self._client._call(self._client._stub.Reset, request, timeout))

    def state(self, observe: Optional[Observe] = None, timeout: Optional[float] = None) -> Observation:
        """What can be observed now, without stepping."""
        request = service_pb2.GetStateRequest(session=self.name, observe=(observe or Observe()).to_message())
        return observation_from_message(self._client._call(self._client._stub.GetState, request, timeout))

    def delete(self, timeout: Optional[float] = None) -> None:
        self._client._call(self._client._stub.DeleteSession, service_pb2.DeleteSessionRequest(session=self.name), timeout)

    def _step_request(self, dt: float, targets: Optional[Targets] = None, observe: Optional[Observe] = None,
                      substeps: int = 1, expected_step: Optional[int] = None,
                      request_id: str = "") -> service_pb2.StepRequest:
        request = service_pb2.StepRequest(session=self.name, dt_s=dt, observe=(observe or Observe()).to_message(),
                                          substeps=substeps, request_id=request_id)
        if expected_step is not None:
            request.expected_step = expected_step
        for key, pose in (targets or {}).items():
            body, boundary_set = (key, "") if isinstance(key, str) else key
            request.targets.append(
                service_pb2.TargetPose(body=body, boundary_set=boundary_set, pose=pose.to_message()))
        return request
