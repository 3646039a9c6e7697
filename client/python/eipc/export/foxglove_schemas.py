"""The message types of Foxglove that episodes are written with, as descriptors (docs.foxglove.dev, SDK schemas)."""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, duration_pb2, timestamp_pb2

from ..messages import class_of

_FILE = "eipc/foxglove_subset.proto"
_NUMBERS = {"double": 1, "fixed32": 7, "bool": 8, "string": 9, "bytes": 12}
_MESSAGE, _ENUM = 11, 14
_TIME, _DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"
# Message -> fields in the order of their numbers: "[]" marks repeated ones.
_TYPES: dict[str, list[tuple[str, str]]] = {
    "Vector3": [("x", "double"), ("y", "double"), ("z", "double")],
    "Point3": [("x", "double"), ("y", "double"), ("z", "double")],
    "Quaternion": [("x", "double"), ("y", "double"), ("z", "double"), ("w", "double")],
    "Color": [("r", "double"), ("g", "double"), ("b", "double"), ("a", "double")],
    "Pose": [("position", "Vector3"), ("orientation", "Quaternion")],
    "KeyValuePair": [("key", "string"), ("value", "string")],
    "FrameTransform": [("timestamp", _TIME), ("parent_frame_id", "string"), ("child_frame_id", "string"), ("translation", "Vector3"),
                       ("rotation", "Quaternion")],
    "FrameTransforms": [("transforms", "FrameTransform[]")],
    "ArrowPrimitive": [("pose", "Pose"), ("shaft_length", "double"), ("shaft_diameter", "double"), ("head_length", "double"),
                       ("head_diameter", "double"), ("color", "Color")],
    "TriangleListPrimitive": [("pose", "Pose"), ("points", "Point3[]"), ("color", "Color"), ("colors", "Color[]"), ("indices", "fixed32[]")],
    "PackedElementField": [("name", "string"), ("offset", "fixed32"), ("type", "PackedElementField.NumericType")],
    "PointCloud": [("timestamp", _TIME), ("frame_id", "string"), ("pose", "Pose"), ("point_stride", "fixed32"),
                   ("fields", "PackedElementField[]"), ("data", "bytes")],
}
# With gaps: what episodes do not use of them is left out.
_NUMBERED: dict[str, list[tuple[str, int, str]]] = {
    "SceneEntity": [("timestamp", 1, _TIME), ("frame_id", 2, "string"), ("id", 3, "string"), ("lifetime", 4, _DURATION),
                    ("frame_locked", 5, "bool"), ("metadata", 6, "KeyValuePair[]"), ("arrows", 7, "ArrowPrimitive[]"),
                    ("triangles", 12, "TriangleListPrimitive[]")],
    "SceneUpdate": [("entities", 2, "SceneEntity[]")],
}
FLOAT32 = 7  # of PackedElementField.NumericType
_NUMERIC_TYPES = ("UNKNOWN", "UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT32", "FLOAT64")


def message_class(name: str) -> Any:
    """The class of foxglove.NAME."""
    return _classes()[name]


def descriptor_set() -> bytes:
    """A FileDescriptorSet of the types and what they stand on, as MCAP wants for protobuf."""
    files = descriptor_pb2.FileDescriptorSet()
    for module in (timestamp_pb2, duration_pb2):
        module.DESCRIPTOR.CopyToProto(files.file.add())
    files.file.add().CopyFrom(_file())
    return bytes(files.SerializeToString(deterministic=True))


@functools.lru_cache(maxsize=None)
def _classes() -> dict[str, Any]:
    # In a pool of its own, so that Foxglove's own classes can be there as well.
    pool = descriptor_pool.DescriptorPool()
    for module in (timestamp_pb2, duration_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(_file().SerializeToString())
    return {name: class_of(pool.FindMessageTypeByName(f"foxglove.{name}")) for name in (*_TYPES, *_NUMBERED)}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=_FILE, package="foxglove", syntax="proto3",
                                              dependency=[timestamp_pb2.DESCRIPTOR.name, duration_pb2.DESCRIPTOR.name])
    numbered = {name: [(field, k, kind) for k, (field, kind) in enumerate(fields, 1)] for name, fields in _TYPES.items()}
    for name, fields in {**numbered, **_NUMBERED}.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            _add_field(message, field, number, kind)
        if name == "PackedElementField":
            enumeration = message.enum_type.add(name="NumericType")
            for value, label in enumerate(_NUMERIC_TYPES):
                enumeration.value.add(name=label, number=value)
    return file


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, number: int, kind: str) -> None:
    kind, repeated = kind.removesuffix("[]"), kind.endswith("[]")
    field = message.field.add(name=name, number=number, label=3 if repeated else 1)
    if kind in _NUMBERS:
        field.type = _NUMBERS[kind]
        return
    field.type = _ENUM if "NumericType" in kind else _MESSAGE
    field.type_name = f".{kind}" if kind.startswith("google.") else f".foxglove.{kind}"
