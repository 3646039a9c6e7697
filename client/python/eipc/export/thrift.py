"""Thrift's compact protocol, as much of it as the footers and page headers of Parquet files need.

A struct is a list of (field number, value): int as i32 or i64 (both are zigzag varints), bool, str, bytes, a struct (list of
tuples), or a list of ints, of strings or of structs, wrapped in ListOf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Union

Struct = Sequence[tuple[int, Any]]
_TRUE, _FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 5, 6, 8, 9, 12


@dataclass(frozen=True)
class I64:
    """A whole number whose field is of 64 bits; a plain int is of one of 32."""

    value: int


@dataclass(frozen=True)
class ListOf:
    """A list; empty ones are of structs."""

    values: Sequence[Any]


Value = Union[bool, int, I64, str, bytes, ListOf, Struct]


def encoded(struct: Struct) -> bytes:
    """The bytes of a struct whose fields are in ascending order."""
    out, last = bytearray(), 0
    for number, value in struct:
        kind = _kind(value)
        step = number - last
        out += bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + varint(_zigzag(number))
        last = number
        if kind not in (_TRUE, _FALSE):  # the kind of a boolean field is its value
            out += _payload(value)
    return bytes(out) + b"\0"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def _zigzag(value: int) -> int:
    return value << 1 ^ value >> 63


def _kind(value: Any) -> int:
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    if isinstance(value, I64):
        return _I64
    if isinstance(value, int):
        return _I32
    if isinstance(value, (str, bytes)):
        return _BINARY
    return _LIST if isinstance(value, ListOf) else _STRUCT


def _payload(value: Any) -> bytes:
    if isinstance(value, I64):
        return varint(_zigzag(value.value))
    if isinstance(value, int):
        return varint(_zigzag(value))
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return varint(len(data)) + data
    if isinstance(value, ListOf):
        kind = _kind(value.values[0]) if value.values else _STRUCT
        size = len(value.values)
        head = bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + varint(size)
        return head + b"".join(map(_payload, value.values))
    return encoded(value)
