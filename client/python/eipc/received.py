"""Answers of step streams, of which no more is unpacked than what is read.

Unpacking a message takes time for each field in it, and a step waits for it. What every policy reads (time, poses, how it was solved)
is unpacked from the bytes of an answer by messages that have these fields alone; the whole observation when another field is asked
for, which a recorder does while the server solves the next step.
"""

from __future__ import annotations

import functools
from typing import Any, Mapping, Optional

from google.protobuf import descriptor_pb2, descriptor_pool

from .geometry import Pose
from .messages import class_of
from .observation import BodyObservation, ReceivedBody, ReceivedObservation, observation_from_message
from .solver_report import SolverReport, report_from_message
from .v1 import observation_pb2, service_pb2

# Observations of more bytes are unpacked at once: they are mostly arrays, which would be copied once more.
_MOST_HEADED_BYTES = 1 << 16
STEP_STREAM = "/eipc.v1.SimulationService/StepStream"
_Field = descriptor_pb2.FieldDescriptorProto


def _head_classes() -> tuple[Any, Any]:
    """StepResponse with its observation as bytes, and Observation, each with the fields that are always read, by their numbers."""
    file = descriptor_pb2.FileDescriptorProto(name="eipc/received.proto", package="eipc.received", syntax="proto3",
                                              dependency=[observation_pb2.DESCRIPTOR.name, "eipc/v1/geometry.proto"])
    whole: dict[str, Any] = {"StepResponse": service_pb2.StepResponse, "Observation": observation_pb2.Observation,
                             "Body": observation_pb2.BodyObservation}
    read = {"StepResponse": ("observation", "status_code", "status_message", "session_step"),
            "Observation": ("step", "time_s", "bodies", "solver_report"), "Body": ("name", "pose")}
    for name, fields in read.items():
        message = file.message_type.add(name=name)
        for field in fields:
            known = whole[name].DESCRIPTOR.fields_by_name[field]
            made = message.field.add(name=field, number=known.number, label=known.label, type=known.type)
            if name == "StepResponse" and field == "observation":
                made.type = _Field.TYPE_BYTES
            elif known.message_type is not None:
                made.type_name = ".eipc.received.Body" if field == "bodies" else f".{known.message_type.full_name}"
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    response, observation = (class_of(pool.FindMessageTypeByName(f"eipc.received.{name}")) for name in ("StepResponse", "Observation"))
    return response, observation


StepResponseHead, _ObservationHead = _head_classes()


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


def _headed_body(head: Any, whole: _Whole, index: int) -> BodyObservation:
    made = object.__new__(_HeadedBody)
    made.__dict__.update(head=head, whole=whole, index=index)
    return made


def _body_at(data: bytes, index: int) -> BodyObservation:
    return list(observation_from_bytes(data).bodies.values())[index]
