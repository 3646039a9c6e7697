"""Observations of many worlds as arrays with the world as first axis, as the server sends them: one message for all worlds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

import numpy as np

from . import arrays
from .cameras import shown_pixels
from .errors import EipcError, error_from_number
from .observation import Observe
from .shown import brief
from .v1 import geometry_pb2, observation_pb2

# What a server says that can stack (ServerInfo.capabilities).
CAPABILITY = "stacked_batch"
_DIGITS = "S16"


@brief
@dataclass(frozen=True, eq=False)
class StackedSolverReports:
    """How the steps of K worlds were solved, [K] each, as the fields of SolverReport; outcome and limited_by are the numbers of
    Outcome and StepLimit."""

    outcome: np.ndarray
    limited_by: np.ndarray
    newton_iterations: np.ndarray
    missed_targets: np.ndarray
    residual_m_s: np.ndarray
    target_error_m: np.ndarray
    wall_time_s: np.ndarray


@brief
@dataclass(frozen=True, eq=False)
class StackedPictures:
    """What a camera of the server saw of K worlds, as CameraPicture; arrays are read-only views of the message, None where they were not
    asked for. Rows of worlds without a picture are zero: of requests that failed, and those of `unfinished`, with the reason.

    poses [K,7]: position m and quaternion w x y z of the camera as it stood in the world. depth [K,h,w] float32 m, inf where nothing is.
    segmentation [K,h,w] uint16: index in `bodies`, NO_BODY where nothing is. colour [K,h,w,3] uint8.
    """

    poses: np.ndarray
    depth: Optional[np.ndarray]
    segmentation: Optional[np.ndarray]
    colour: Optional[np.ndarray]
    bodies: tuple[str, ...]
    unfinished: Mapping[int, str] = field(default_factory=dict)

    def shows(self, body: str) -> np.ndarray:
        """[K,h,w] bool: the pixels of a body, none in rows without a picture. ValueError for an unknown body, or without segmentation."""
        shown = shown_pixels(self.segmentation, self.bodies, body)
        shown[~self.pictured] = False  # zeros there are no index of the first body
        return shown

    @property
    def pictured(self) -> np.ndarray:
        """[K] bool: which rows have a picture."""
        pictured = np.asarray(self.poses[:, 3:].any(axis=1))  # a camera that stood somewhere has a quaternion
        pictured[list(self.unfinished)] = False
        return pictured


@brief
@dataclass(frozen=True, eq=False)
class StackedObservations:
    """What K requests of a batch gave back, in their order; arrays are read-only views of the message, None where they were not
    asked for.

    errors: of the requests that failed, by their place in the batch; their rows are zero, but for `step`.
    step [K]: where the worlds are, failed or not. time_s [K]. bodies: the B that are observed, in the scene's order.
    poses [K,B,7]: position m, quaternion w x y z. twists [K,B,6]: linear m/s, angular rad/s.
    cage_positions, surface_positions: [K,n,3] m by body. contact_wrenches [K,P,4,3] of the pairs asked for: normal force N, friction
    force N, normal moment Nm, friction moment Nm of the second body on the first, as ContactWrench. contact_counts [K,P,2]: active
    point-triangle and edge-edge contacts. min_distance_m [K]. state_digest [K]: str, empty where a request failed. cameras: by name.
    """

    errors: Mapping[int, EipcError]
    step: np.ndarray
    time_s: np.ndarray
    bodies: tuple[str, ...] = ()
    poses: Optional[np.ndarray] = None
    twists: Optional[np.ndarray] = None
    cage_positions: Mapping[str, np.ndarray] = field(default_factory=dict)
    surface_positions: Mapping[str, np.ndarray] = field(default_factory=dict)
    contact_wrenches: Optional[np.ndarray] = None
    contact_counts: Optional[np.ndarray] = None
    min_distance_m: Optional[np.ndarray] = None
    state_digest: Optional[np.ndarray] = None
    solver_reports: Optional[StackedSolverReports] = None
    cameras: Mapping[str, StackedPictures] = field(default_factory=dict)

    @property
    def stepped(self) -> np.ndarray:
        """[K] bool: which requests did not fail."""
        stepped = np.ones(len(self.step), dtype=bool)
        stepped[list(self.errors)] = False
        return stepped


def stack_request(observe: Observe, pairs: Sequence[tuple[str, str]] = ()) -> observation_pb2.StackRequest:
    """pairs: (body, other), of which contact wrenches and counts are wanted."""
    return observation_pb2.StackRequest(observe=observe.to_message(),
                                        pairs=[observation_pb2.BodyPair(body=body, other=other) for body, other in pairs])


def stacked_from_message(message: observation_pb2.StackedObservations) -> StackedObservations:
    """Raises ValueError when a shape and its data do not agree."""
    def found(name: str) -> Optional[np.ndarray]:
        return arrays.to_numpy(getattr(message, name)) if message.HasField(name) else None

    def of_bodies(messages: Sequence[geometry_pb2.NdArray]) -> dict[str, np.ndarray]:
        return dict(zip(bodies, map(arrays.to_numpy, messages)))

    errors = {failure.row: error_from_number(failure.status_code, failure.status_message) for failure in message.failures}
    bodies = tuple(message.bodies)
    digits = found("state_digest")
    return StackedObservations(
        errors, arrays.to_numpy(message.step), arrays.to_numpy(message.time_s), bodies, found("poses"), found("twists"),
        of_bodies(message.cage_positions), of_bodies(message.surface_positions), found("contact_wrenches"), found("contact_counts"),
        found("min_distance_m"), None if digits is None else digits.view(_DIGITS)[:, 0].astype(str),
        _reports(message.solver_reports) if message.HasField("solver_reports") else None,
        {camera.name: _pictures(camera, tuple(message.camera_bodies)) for camera in message.cameras})


def _pictures(message: observation_pb2.StackedPictures, bodies: tuple[str, ...]) -> StackedPictures:
    depth, segmentation, colour = (arrays.to_numpy(getattr(message, name)) if message.HasField(name) else None
                                   for name in ("depth", "segmentation", "colour"))
    return StackedPictures(arrays.to_numpy(message.poses), depth, segmentation, colour, bodies,
                           {picture.row: picture.why for picture in message.unfinished})


def _reports(message: observation_pb2.StackedSolverReports) -> StackedSolverReports:
    return StackedSolverReports(*(arrays.to_numpy(getattr(message, known.name)) for known in message.DESCRIPTOR.fields))
