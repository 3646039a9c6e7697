"""A session: one or many running worlds of a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union

from . import requests
from .errors import EipcError, missing_capability
from .observation import Observation, Observe, observation_from_message
from .materials import Materials, check_server
from .placement import Placement, PlacementRange
from .requests import Drives, Joints, Targets, Trajectories
from .resources import (BatchResult, Operation, SessionInfo, Snapshot, batch_from_message, session_info_from_message,
                        snapshot_from_message)
from .stacked import CAPABILITY, StackedObservations, stacked_from_message
from .stream import StepStream
from .v1 import service_pb2

if TYPE_CHECKING:
    from .client import Client


class Session:
    """Running worlds. Used in a `with` block it is deleted at the end."""

    def __init__(self, client: "Client", name: str, scene: str, worlds: int = 1) -> None:
        self._client = client
        self.name = name
        self.scene = scene
        self.worlds = worlds
        self._recording: Optional[bool] = None  # what info() says of it, once that was asked

    def __repr__(self) -> str:
        worlds = f", {self.worlds} worlds" if self.worlds != 1 else ""
        return f"Session({self.name}, of {self.scene}{worlds}, at {self._client.address})"

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self.delete()
        except EipcError:
            if kind is None:  # else the first error is the one to report
                raise

    def step(self, dt: float, targets: Optional[Targets] = None, observe: Optional[Observe] = None, substeps: int = 1,
             expected_step: Optional[int] = None, request_id: str = "", trajectories: Optional[Trajectories] = None,
             world: int = 0, drives: Optional[Drives] = None, time_limit: float = 0.0,
             timeout: Optional[float] = None, joints: Optional[Joints] = None) -> Observation:
        """Advances a world.

        dt: s. targets: poses to be reached at the end of the step, by (body, boundary set) or kinematic body; frames
        without a target follow their trajectory, or stay once commanded. trajectories: poses at times during the request,
        s from its start. drives: commands for the drives of sliders, which go on with what they were commanded last. joints: likewise
        for the drives of joints, by their names.
        substeps: steps of dt with these. expected_step: refuse (AbortedError) unless the world is there.
        request_id: repeating the last one returns its answer again. time_limit: s of wall-clock time for each step, whose
        solves then end with the best state that they have, free of intersections (Outcome.ITERATION_CAP, StepLimit.TIME; 0: no
        limit); timeout ends the call instead, and the step is not taken. Raises an EipcError; the world then is at its last
        whole step.
        """
        request = requests.step(self.name, dt, targets, observe, substeps, expected_step, request_id, trajectories, world, drives,
                                time_limit, joints)
        response = self._client._call(self._client._stub.Step, request, timeout)
        return observation_from_message(response.observation)

    def step_batch(self, steps: Sequence[Mapping[str, Any]], request_id: str = "",
                   timeout: Optional[float] = None) -> list[BatchResult]:
        """Steps many worlds in parallel. steps: keyword arguments of step(), one mapping a world. A world's failure is its own."""
        request = self._batch_request(steps, request_id)
        return batch_from_message(self._client._call(self._client._stub.StepBatch, request, timeout))

    def step_stacked(self, steps: Sequence[Mapping[str, Any]], observe: Observe, pairs: Sequence[tuple[str, str]] = (),
                     request_id: str = "", timeout: Optional[float] = None) -> StackedObservations:
        """Steps many worlds in parallel, as step_batch(); what is observed comes as one array a quantity for all of them.

        steps: keyword arguments of step() without observe, one mapping a world. observe: of every world alike: poses, twists, cage and
        surface positions, contact wrenches and counts, min_distance, solver_report, state_digest; other groups are refused. pairs:
        (body, other) of the wrenches and counts. Raises UnimplementedError when the server is too old; a world's failure is its own.
        """
        request = requests.step_stacked(self.name, steps, observe, pairs, request_id)
        if not self._client._can(CAPABILITY):
            raise missing_capability(self._client.address, CAPABILITY)
        return stacked_from_message(self._client._call(self._client._stub.StepBatch, request, timeout).stacked)

    def start_step_batch(self, steps: Sequence[Mapping[str, Any]], request_id: str = "",
                         timeout: Optional[float] = None) -> Operation:
        """step_batch() as an operation, behind interactive work."""
        request = self._batch_request(steps, request_id)
        return Operation(self._client, self._client._call(self._client._stub.StartStepBatch, request, timeout))

    def stream(self, timeout: Optional[float] = None) -> StepStream:
        """Opens a step stream for a `with` block. timeout: s to wait for each answer, default the client's."""
        return StepStream(self, self._client.default_timeout if timeout is None else timeout)

    def reset(self, observe: Optional[Observe] = None, world: int = 0, placements: Optional[Mapping[str, Placement]] = None,
              ranges: Optional[Mapping[str, PlacementRange]] = None, seed: int = 0, attempts: int = 0,
              timeout: Optional[float] = None, materials: Optional[Materials] = None) -> Observation:
        """Back to the scene's start.

        placements: free bodies that start elsewhere. ranges: free bodies whose start is drawn with `seed`, again until no surfaces
        meet, at most `attempts` times (0: 100); the poses and twists observed say what was drawn, and the same seed gives the same
        bits. Raises FailedPreconditionError (NO_FREE_START) where surfaces meet; the world then is where it was.

        materials: bodies that have another material until the next reset, given (BodyMaterial) or drawn with `seed` (MaterialRange); the
        answer's `materials` say which. Raises InvalidArgumentError for a number that a reset cannot change, UnimplementedError when the
        server is too old.
        """
        request = requests.reset(self.name, observe, world, placements, ranges, seed, attempts, materials)
        check_server(self._client, request)
        return observation_from_message(self._client._call(self._client._stub.Reset, request, timeout))

    def state(self, observe: Optional[Observe] = None, world: int = 0, timeout: Optional[float] = None) -> Observation:
        """What can be observed now, without stepping."""
        request = requests.state(self.name, observe, world)
        return observation_from_message(self._client._call(self._client._stub.GetState, request, timeout))

    def _begin_state(self, observe: Observe, world: int) -> Callable[[], Observation]:
        """As state(), without waiting: what is returned waits."""
        answer = self._client._begin(self._client._stub.GetState, requests.state(self.name, observe, world), None)
        return lambda: observation_from_message(answer())

    def info(self, timeout: Optional[float] = None) -> SessionInfo:
        """Where it is; does not wait for a step that runs."""
        request = service_pb2.GetSessionRequest(session=self.name)
        return session_info_from_message(self._client._call(self._client._stub.GetSession, request, timeout))

    def snapshot(self, world: int = 0, data: bool = False, keep: bool = True, timeout: Optional[float] = None) -> Snapshot:
        """Every bit of a world. data: send the bytes along, to restore from in any server of the same build; keep: on the server."""
        request = requests.snapshot(self.name, world, data, keep)
        return snapshot_from_message(self._client._call(self._client._stub.CreateSnapshot, request, timeout))

    def _begin_transient_snapshot(self, world: int) -> Callable[[], Snapshot]:
        """As snapshot(data=True, keep=False), without waiting: what is returned waits."""
        answer = self._client._begin(self._client._stub.CreateSnapshot, requests.snapshot(self.name, world, True, False), None)
        return lambda: snapshot_from_message(answer())

    def restore(self, snapshot: Union[Snapshot, str, bytes], observe: Optional[Observe] = None, world: int = 0,
                timeout: Optional[float] = None) -> Observation:
        """Puts a world where a snapshot (or its name, or its bytes) was taken; it goes on from there bit for bit."""
        request = requests.restore(self.name, snapshot, observe, world)
        return observation_from_message(self._client._call(self._client._stub.RestoreSession, request, timeout))

    def fork(self, worlds: int = 1, world: int = 0, threads: int = 1, record: bool = False,
             timeout: Optional[float] = None) -> "Session":
        """A new session of `worlds` copies of one world of this one."""
        request = service_pb2.ForkSessionRequest(session=self.name, world=world, worlds=worlds, threads=threads, record=record)
        info = self._client._call(self._client._stub.ForkSession, request, timeout)
        return Session(self._client, info.name, info.scene, info.worlds)

    def recording(self, timeout: Optional[float] = None) -> bytes:
        """What the session has done so far (created with record=True), for a file that `eipc verify` replays."""
        request = service_pb2.GetRecordingRequest(session=self.name)
        return b"".join(map(requests.checked_piece, self._client._stream(self._client._stub.GetRecording, request, timeout)))

    def delete(self, timeout: Optional[float] = None) -> None:
        self._client._call(self._client._stub.DeleteSession, service_pb2.DeleteSessionRequest(session=self.name), timeout)

    def _is_recorded(self) -> bool:
        """Whether the session was created with record=True, which does not change."""
        if self._recording is None:
            self._recording = self.info().recording
        return self._recording

    def _batch_request(self, steps: Sequence[Mapping[str, Any]], request_id: str) -> service_pb2.StepBatchRequest:
        return requests.step_batch(self.name, steps, request_id)

    def _step_request(self, dt: float, **options: Any) -> service_pb2.StepRequest:
        """Arguments as of step(), without timeout."""
        return requests.step(self.name, dt, **options)
