"""Writes Parquet files: required columns of numbers, booleans and strings, and (nested) lists of them, plain and uncompressed.

After the Parquet format (apache/parquet-format, parquet.thrift): one data page of version 1 a column and row group; lists are
LIST groups of three levels whose repetition and definition levels follow Dremel (Melnik et al. 2010).
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from ..durable import write_durably
from .thrift import I64, ListOf, Struct, encoded, varint

_MAGIC = b"PAR1"
_BOOLEAN, _INT32, _INT64, _FLOAT, _DOUBLE, _BYTE_ARRAY = 0, 1, 2, 4, 5, 6
_KINDS = {"bool": _BOOLEAN, "int32": _INT32, "int64": _INT64, "float32": _FLOAT, "float64": _DOUBLE, "string": _BYTE_ARRAY}
_DTYPES = {_INT32: "<i4", _INT64: "<i8", _FLOAT: "<f4", _DOUBLE: "<f8"}
_REQUIRED, _REPEATED = 0, 2
_UTF8, _LIST = 0, 3  # converted types
_PLAIN, _RLE = 0, 3  # encodings


@dataclass(frozen=True)
class Column:
    """kind: bool, int32, int64, float32, float64 or string. depth: 0 for a value a row, d for lists nested d deep."""

    name: str
    kind: str
    depth: int = 0


def write_parquet(path: "os.PathLike[str]", columns: Sequence[Column], row_groups: Sequence[Mapping[str, Any]],
                  metadata: Mapping[str, str] = {}) -> None:
    """row_groups: for each the rows of every column by its name; a row of a column with depth d is an array (or nested list) of d
    dimensions. metadata: key-value pairs of the file. The file is whole or absent. Raises ValueError for rows that do not fit."""
    body = bytearray(_MAGIC)
    groups: list[Struct] = []
    total = 0
    for rows in row_groups:
        count = len(rows[columns[0].name])
        chunks: list[Struct] = []
        begin = len(body)
        for column in columns:
            if len(rows[column.name]) != count:
                raise ValueError(f"column {column.name!r} has {len(rows[column.name])} rows, {columns[0].name!r} has {count}")
            chunks.append(_append_chunk(body, column, rows[column.name]))
        groups.append([(1, ListOf(chunks)), (2, I64(len(body) - begin)), (3, I64(count))])
        total += count
    pairs: list[Struct] = [[(1, key), (2, value)] for key, value in metadata.items()]
    footer: list[tuple[int, Any]] = [(1, 1), (2, ListOf(_schema(columns))), (3, I64(total)), (4, ListOf(groups))]
    if pairs:
        footer.append((5, ListOf(pairs)))
    data = encoded([*footer, (6, "eipc")])
    body += data + struct.pack("<I", len(data)) + _MAGIC
    write_durably(Path(path), lambda file: file.write(body))


def _schema(columns: Sequence[Column]) -> list[Struct]:
    out: list[Struct] = [[(4, "schema"), (5, len(columns))]]
    for column in columns:
        name = column.name
        for _ in range(column.depth):
            out.append([(3, _REQUIRED), (4, name), (5, 1), (6, _LIST), (10, [(3, [])])])
            out.append([(3, _REPEATED), (4, "list"), (5, 1)])
            name = "element"
        leaf: list[tuple[int, Any]] = [(1, _KINDS[column.kind]), (3, _REQUIRED), (4, name)]
        if column.kind == "string":
            leaf += [(6, _UTF8), (10, [(1, [])])]
        out.append(leaf)
    return out


def _append_chunk(body: bytearray, column: Column, rows: Any) -> Struct:
    """One column of one row group; returns its ColumnChunk."""
    leaves, repetition, definition = _levels(rows, column.depth)
    data = b""
    if column.depth:
        width = column.depth.bit_length()
        data = _packed(repetition, width) + _packed(definition, width)
    data += _plain(column, leaves)
    values = len(repetition) if column.depth else len(rows)
    page = encoded([(1, 0), (2, len(data)), (3, len(data)), (5, [(1, values), (2, _PLAIN), (3, _RLE), (4, _RLE)])])
    offset = len(body)
    body += page + data
    path = [column.name, *["list", "element"] * column.depth]
    size = I64(len(page) + len(data))
    return [(2, I64(offset)), (3, [(1, _KINDS[column.kind]), (2, ListOf([_PLAIN, _RLE])), (3, ListOf(path)), (4, 0), (5, I64(values)),
                                   (6, size), (7, size), (9, I64(offset))])]


def _levels(rows: Any, depth: int) -> tuple[list[Any], list[int], list[int]]:
    """The leaves of all rows, and their repetition and definition levels; an empty list has a level and no leaf."""
    if depth == 0:
        return list(rows), [], []
    leaves: list[Any] = []
    repetition: list[int] = []
    definition: list[int] = []

    def add(value: Any, level: int, repeated: int) -> None:
        """level: of the list that this is, from 1; repeated: the level at which it begins anew."""
        if len(value) == 0:
            repetition.append(repeated)
            definition.append(level - 1)
            return
        for k, element in enumerate(value):
            at = repeated if k == 0 else level
            if level == depth:
                leaves.append(element)
                repetition.append(at)
                definition.append(depth)
            else:
                add(element, level + 1, at)

    for row in rows:
        add(row, 1, 0)
    return leaves, repetition, definition


def _packed(levels: Sequence[int], width: int) -> bytes:
    """Levels as one bit-packed run of the RLE/bit-packing hybrid, after its length."""
    groups = -(-len(levels) // 8)
    padded = np.zeros(8 * groups, dtype=np.uint8)
    padded[:len(levels)] = levels
    bits = padded[:, None] >> np.arange(width, dtype=np.uint8) & 1
    run = varint(groups << 1 | 1) + np.packbits(bits.reshape(-1), bitorder="little").tobytes()
    return struct.pack("<I", len(run)) + run


def _plain(column: Column, leaves: Sequence[Any]) -> bytes:
    kind = _KINDS[column.kind]
    if kind == _BYTE_ARRAY:
        words = [str(leaf).encode() for leaf in leaves]
        return b"".join(struct.pack("<I", len(word)) + word for word in words)
    if kind == _BOOLEAN:
        return np.packbits(np.asarray(leaves, dtype=bool), bitorder="little").tobytes()
    return np.asarray(leaves, dtype=_DTYPES[kind]).tobytes()
