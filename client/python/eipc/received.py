"""Answers of step streams, of which no more is unpacked than what is read.

Unpacking a message takes time for each field in it, and a step waits for it. What every policy reads (time, poses, how it was solved)
is unpacked from the bytes of an answer by messages that have these fields alone; the whole observation when another field is asked
for.
"""

from __future__ import annotations

import functools
from typing import Any, Mapping, Optional

from .geometry import Pose
from .message_parts import PACKED, WHOLE, classes_of_parts
from .observation import BodyObservation, ReceivedBody, ReceivedObservation, observation_from_message
from .solver_report import SolverReport, report_from_message
from .v1 import observation_pb2, service_pb2

# Observations of more bytes are unpacked at once: they are mostly arrays, which would be copied once more.
_MOST_HEADED_BYTES = 1 << 16
STEP_STREAM = "/eipc.v1.SimulationService/StepStream"
_HEADS = classes_of_parts("received", {
    "StepResponse": (service_pb2.StepResponse.DESCRIPTOR,
                     {"observation": PACKED, "status_code": WHOLE, "status_message": WHOLE, "session_step": WHOLE}),
    "Observation": (observation_pb2.Observation.DESCRIPTOR, {"step": WHOLE, "time_s": WHOLE, "bodies": "Body", "solver_report": WHOLE}),
    "Body": (observation_pb2.BodyObservation.DESCRIPTOR, {"name": WHOLE, "pose": WHOLE})})
StepResponseHead, _ObservationHead = _HEADS["StepResponse"], _HEADS["Observation"]


class _Whole:
    """The bytes of an observation, and the message once it is asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"_Whole({len(self.data)} bytes)"

    @functools.cached_property
    def message(self) -> observation_pb2.Observation:
        return observation_pb2.Observation.FromString(self.data)


class _HeadedBody(ReceivedBody):
    """A body of an observation of which the head alone is unpacked."""

    head: Any
    whole: _Whole
    index: int

    def __reduce__(self) -> Any:
        return _body_at, (self.whole.data, self.index)

    @functools.cached_property
    def message(self) -> observation_pb2.BodyObservation:  # type: ignore[override]
        return self.whole.message.bodies[self.index]

    @functools.cached_property
    def name(self) -> str:
        return str(self.head.name)

    @functools.cached_property
    def pose(self) -> Optional[Pose]:
        return Pose.from_message(self.head.pose) if self.head.HasField("pose") else None


class _HeadedObservation(ReceivedObservation):
    """An observation of which the head alone is unpacked."""

    head: Any
    whole: _Whole

    def __reduce__(self) -> Any:
        return observation_from_bytes, (self.whole.data,)

    @functools.cached_property
    def message(self) -> observation_pb2.Observation:  # type: ignore[override]
        return self.whole.message

    @functools.cached_property
    def step(self) -> int:
        return int(self.head.step)

    @functools.cached_property
    def time_s(self) -> float:
        return float(self.head.time_s)

    @functools.cached_property
    def bodies(self) -> Mapping[str, BodyObservation]:
        return {head.name: _headed_body(head, self.whole, index) for index, head in enumerate(self.head.bodies)}

    @functools.cached_property
    def solver_report(self) -> Optional[SolverReport]:
        return report_from_message(self.head.solver_report) if self.head.HasField("solver_report") else None


def observation_from_bytes(data: bytes) -> ReceivedObservation:
    """Of a serialized Observation."""
    if len(data) > _MOST_HEADED_BYTES:
        return observation_from_message(observation_pb2.Observation.FromString(data))
    made = object.__new__(_HeadedObservation)
    made.__dict__.update(head=_ObservationHead.FromString(data), whole=_Whole(data))
    return made


def as_received(observation: ReceivedObservation) -> "bytes | observation_pb2.Observation":
    """Serialized, where it was not unpacked at once; to pack it again would take longer than to unpack it."""
    return observation.whole.data if isinstance(observation, _HeadedObservation) else observation.message


def _headed_body(head: Any, whole: _Whole, index: int) -> BodyObservation:
    made = object.__new__(_HeadedBody)
    made.__dict__.update(head=head, whole=whole, index=index)
    return made


def _body_at(data: bytes, index: int) -> BodyObservation:
    return list(observation_from_bytes(data).bodies.values())[index]
