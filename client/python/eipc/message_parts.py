"""Message classes that unpack no more than parts of the protocol's messages.

Unpacking a message takes time for each field in it. A class that has only some of the fields, under their numbers, skips the others; one
that has a field's message as bytes leaves that packed.
"""

from __future__ import annotations

from typing import Any, Mapping, Tuple, Union

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor

from .messages import class_of, is_repeated

_Field = descriptor_pb2.FieldDescriptorProto
# How a class has a field: as the protocol does, its message as bytes, or its message as the class of that name.
WHOLE, PACKED = "whole", "packed"
# The descriptor of the protocol's message, and the fields that the class has.
Part = Tuple[Descriptor, Mapping[str, str]]


def classes_of_parts(name: str, parts: Mapping[str, Part]) -> dict[str, Any]:
    """Classes by their names in `parts`. name: of all of them together, of letters, given once in the process."""
    known_files = sorted({descriptor.file.name for descriptor, _ in parts.values()} |
                         {field.message_type.file.name for descriptor, _ in parts.values() for field in descriptor.fields if field.message_type})
    file = descriptor_pb2.FileDescriptorProto(name=f"eipc/{name}.proto", package=f"eipc.{name}", syntax="proto3", dependency=known_files)
    for part, (descriptor, fields) in parts.items():
        message = file.message_type.add(name=part)
        for field, how in fields.items():
            _add_field(message, descriptor.fields_by_name[field], how, file.package)
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return {part: class_of(pool.FindMessageTypeByName(f"{file.package}.{part}")) for part in parts}


def _add_field(message: descriptor_pb2.DescriptorProto, known: Any, how: str, package: str) -> None:
    label = _Field.LABEL_REPEATED if is_repeated(known) else _Field.LABEL_OPTIONAL
    made = message.field.add(name=known.name, number=known.number, label=label, type=known.type)
    of_message: Union[Descriptor, None] = known.message_type
    if of_message is not None and how == PACKED:
        made.type, made.label = _Field.TYPE_BYTES, _Field.LABEL_REPEATED
    elif of_message is not None:
        made.type_name = f".{of_message.full_name}" if how == WHOLE else f".{package}.{how}"
    elif known.enum_type is not None:
        made.type_name = f".{known.enum_type.full_name}"
    if known.containing_oneof is not None and how != PACKED:  # it may be absent
        made.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"of_{known.name}")
