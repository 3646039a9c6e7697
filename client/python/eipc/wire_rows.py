"""Numbers of many serialized messages of one type, read at once.

Unpacking a message makes an object of each of its parts. The messages of a recording differ in their numbers and hardly ever in their form: two
of one length that agree in every byte that says what follows (tags, lengths, whether a variable-length integer goes on) have all of their
numbers in the same places. So one message of each form is walked through, and from the others numbers are copied in columns.

Values are those that protobuf's own parser finds, whatever the order of fields and however often one comes. Only fields that are read
are looked into, and groups, which no message of the protocol has, are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, NamedTuple, Sequence, Tuple, Union

import numpy as np
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from .shown import brief

_VARINT, _DOUBLE, _LENGTH, _FLOAT = 0, 1, 2, 5  # wire types
_ANY, _GOES_ON, _EXACT = 0x00, 0x80, 0xFF  # bits of a byte that two messages of a form have in common
# Forms of one length that are remembered, and lengths; of more, a message of each is walked through anew.
_MOST_FORMS, _MOST_SIZES = 16, 1024
_MOST_VARINT_BYTES, _MOST_TAG = 10, 0xFFFFFFFF
_TEXTS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
# What a field may be of, by kind; and of integers, what protobuf makes of the 64 bits that came.
_TYPES = {
    "reals": (FieldDescriptor.TYPE_DOUBLE,), "names": _TEXTS[:1], "data": _TEXTS,
    "integers": (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_BOOL,
                 FieldDescriptor.TYPE_ENUM)}
_CUT = {FieldDescriptor.TYPE_INT32: np.int32, FieldDescriptor.TYPE_ENUM: np.int32, FieldDescriptor.TYPE_UINT32: np.uint32,
        FieldDescriptor.TYPE_BOOL: np.bool_}


class _Leaf(NamedTuple):
    kind: str
    place: int


class _Other(NamedTuple):
    """A field that is not read, but takes the place of one that is: of the two, a message has the one that came last."""

    instead_of: int  # its tag


# Of a message: the values of all fields that are read, by kind.
Found = Tuple[Sequence[float], Sequence[int], Tuple[str, ...], Sequence[bytes]]
_Tree = Mapping[int, Union[_Leaf, _Other, Any]]  # by tag: a leaf, what replaces one, or the tree of a message


@brief
@dataclass
class Rows:
    """Messages of one form. rows [n]: which. What a message lacks is as its default: reals [n,R] and integers [n,I] 0, names "", data of
    no bytes. data: [n,bytes] uint8 of each path."""

    rows: np.ndarray
    reals: np.ndarray
    integers: np.ndarray
    names: Sequence[str]
    data: Sequence[np.ndarray]


class WireRows:
    """Reads fields of messages of a type, which paths like "pose.position_m.x" name. reals: doubles. integers: int32, int64, uint32, truth
    values and enumerations. names: texts that decide over the form of a message. data: bytes, or texts, that do not. Raises ValueError for
    a path to a field of another type, and for two paths of which a message has one or the other."""

    def __init__(self, descriptor: Descriptor, reals: Sequence[str] = (), integers: Sequence[str] = (), names: Sequence[str] = (),
                 data: Sequence[str] = ()) -> None:
        self._counts = {"reals": len(reals), "integers": len(integers), "names": len(names), "data": len(data)}
        self._tree: dict[int, Any] = {}
        self._cut = {place: _CUT[kind] for place, path in enumerate(integers)
                     if (kind := _field(descriptor, path.split(".")).type) in _CUT}
        for kind, paths in (("reals", reals), ("integers", integers), ("names", names), ("data", data)):
            for place, path in enumerate(paths):
                _plant(self._tree, descriptor, path.split("."), _Leaf(kind, place))
        self._known: dict[int, list[_Form]] = {}

    def __repr__(self) -> str:
        return f"WireRows({sum(self._counts.values())} fields)"

    def read(self, messages: Sequence[bytes]) -> Iterator[Rows]:
        """All rows of the messages, in groups of one form. Raises ValueError for what is no message."""
        sizes = {len(message) for message in messages}
        for size in sizes:
            rows = [row for row, message in enumerate(messages) if len(message) == size] if len(sizes) > 1 else range(len(messages))
            table = np.frombuffer(b"".join([messages[row] for row in rows]), dtype=np.uint8).reshape(len(rows), size)
            yield from self._read(np.array(rows), table)

    def read_found(self, found: Sequence[Found]) -> Iterator[Rows]:
        """The same of messages that are unpacked (to pack them would take longer than to ask them): reals, integers, names and data of each."""
        groups: dict[Any, list[int]] = {}
        for row, (_, _, names, data) in enumerate(found):
            groups.setdefault((names, *[len(one) for one in data]), []).append(row)
        for (names, *sizes), rows in groups.items():
            reals = np.array([found[row][0] for row in rows], dtype=float).reshape(len(rows), self._counts["reals"])
            integers = np.array([found[row][1] for row in rows], dtype=np.int64).reshape(len(rows), self._counts["integers"])
            tables = [np.frombuffer(b"".join([found[row][3][k] for row in rows]), dtype=np.uint8).reshape(len(rows), size)
                      for k, size in enumerate(sizes)]
            yield Rows(np.array(rows), reals, integers, names, tables)

    def _read(self, rows: np.ndarray, table: np.ndarray) -> Iterator[Rows]:
        if len(self._known) >= _MOST_SIZES:
            self._known.clear()
        known = self._known.setdefault(table.shape[1], [])
        for form in self._forms(known, lambda: table[0].tobytes()):
            if form.fits_all(table):
                yield form.rows(rows, table)
                return
            fits = form.fits(table)
            if fits.any():
                yield form.rows(rows[fits], table[fits])
                rows, table = rows[~fits], table[~fits]

    def _forms(self, known: "list[_Form]", example: Any) -> "Iterator[_Form]":
        """Those that are known, and then that of each example."""
        yield from list(known)
        while True:
            form = _Form(self._tree, example(), self._counts, self._cut)
            if len(known) < _MOST_FORMS:
                known.append(form)
            yield form


@dataclass
class _Places:
    """Where the fields of a message are that it has, by their places in Rows: at which byte, and how many bytes."""

    reals: dict[int, tuple[int, int]] = field(default_factory=dict)
    integers: dict[int, tuple[int, int]] = field(default_factory=dict)
    names: dict[int, tuple[int, int]] = field(default_factory=dict)
    data: dict[int, tuple[int, int]] = field(default_factory=dict)


class _Form:
    """What messages have in common whose fields are in the same places as those of the one it is made of."""

    def __init__(self, tree: _Tree, message: bytes, counts: Mapping[str, int], cut: Mapping[int, Any]) -> None:
        self._places, self._counts, self._cut = _Places(), counts, cut
        common = np.full(len(message), _EXACT, dtype=np.uint8)
        try:
            _walk(message, 0, len(message), tree, self._places, common)
        except IndexError:
            raise ValueError("the bytes are no message: it ends in a field") from None
        self._checked = np.flatnonzero(common)
        self._common = common[self._checked]
        self._form = np.frombuffer(message, dtype=np.uint8)[self._checked] & self._common
        self._form_bytes = self._form.tobytes()
        self._reals = np.array([at + k for at, _ in self._places.reals.values() for k in range(8)], dtype=np.int64)
        self._has_all_reals = list(self._places.reals) == list(range(counts["reals"]))
        self._data = [self._places.data.get(place, (0, 0)) for place in range(counts["data"])]
        self._names = [""] * counts["names"]
        for place, (at, size) in self._places.names.items():
            self._names[place] = message[at:at + size].decode()

    def fits_all(self, table: np.ndarray) -> bool:
        """Whether all of n messages of this length [n,bytes] are of the form."""
        return bool((table.take(self._checked, axis=1) & self._common).tobytes() == self._form_bytes * len(table))

    def fits(self, table: np.ndarray) -> np.ndarray:
        """[n] bool: which of them are."""
        found: np.ndarray = ((table.take(self._checked, axis=1) & self._common) == self._form).all(axis=1)
        return found

    def rows(self, rows: np.ndarray, table: np.ndarray) -> Rows:
        """Of messages that fit."""
        reals = table.take(self._reals, axis=1).view("<f8")
        if not self._has_all_reals:
            found, reals = reals, np.zeros((len(rows), self._counts["reals"]))
            reals[:, list(self._places.reals)] = found
        integers = np.zeros((len(rows), self._counts["integers"]), dtype=np.int64)
        for place, (at, size) in self._places.integers.items():
            cut = self._cut.get(place, np.int64)
            if size > 1:
                integers[:, place] = _integers(table[:, at:at + size], cut)
            else:  # all types have what is below 128
                integers[:, place] = table[:, at] if cut is not np.bool_ else table[:, at] != 0
        return Rows(rows, reals, integers, self._names, [table[:, at:at + size] for at, size in self._data])


def _field(descriptor: Descriptor, path: Sequence[str]) -> FieldDescriptor:
    for name in path[:-1]:
        descriptor = descriptor.fields_by_name[name].message_type
    return descriptor.fields_by_name[path[-1]]


def _plant(tree: dict[int, Any], descriptor: Descriptor, path: Sequence[str], leaf: _Leaf) -> None:
    known = descriptor.fields_by_name[path[0]]
    tag = _tag(known)
    for other in known.containing_oneof.fields if known.containing_oneof else ():
        if other is not known and not isinstance(tree.setdefault(_tag(other), _Other(tag)), _Other):
            raise ValueError(f"a message has {known.full_name} or {other.full_name}")
    if len(path) > 1:
        _plant(tree.setdefault(tag, {}), known.message_type, path[1:], leaf)
    elif known.type in _TYPES[leaf.kind]:
        tree[tag] = leaf
    else:
        raise ValueError(f"{known.full_name} is not of the {leaf.kind}")


_WIRE_TYPES = {FieldDescriptor.TYPE_DOUBLE: _DOUBLE, FieldDescriptor.TYPE_FIXED64: _DOUBLE, FieldDescriptor.TYPE_SFIXED64: _DOUBLE,
               FieldDescriptor.TYPE_FLOAT: _FLOAT, FieldDescriptor.TYPE_FIXED32: _FLOAT, FieldDescriptor.TYPE_SFIXED32: _FLOAT,
               FieldDescriptor.TYPE_MESSAGE: _LENGTH, FieldDescriptor.TYPE_STRING: _LENGTH, FieldDescriptor.TYPE_BYTES: _LENGTH}


def _tag(field_of: FieldDescriptor) -> int:
    return int(field_of.number << 3 | _WIRE_TYPES.get(field_of.type, _VARINT))


def _walk(message: bytes, at: int, end: int, tree: _Tree, places: _Places, common: np.ndarray) -> None:
    """Notes where the fields of message[at:end] are that the tree has, and which bits others of its form have in common with it. Raises
    IndexError, or ValueError, for what is no message."""
    while at < end:
        tag, at = _varint(message, at)
        if not 8 <= tag <= _MOST_TAG:
            raise ValueError("the bytes are no message: a field has no number")
        known, wire_type, size = tree.get(tag), tag & 7, 0
        if wire_type == _VARINT:
            size = _varint(message, at)[1] - at
            common[at:at + size] = _GOES_ON
        elif wire_type == _LENGTH:
            size, at = _varint(message, at)
            if isinstance(known, Mapping):
                _walk(message, at, at + size, known, places, common)
            elif not isinstance(known, _Leaf) or known.kind != "names":
                common[at:at + size] = _ANY
        elif wire_type in (_DOUBLE, _FLOAT):
            size = 8 if wire_type == _DOUBLE else 4
            common[at:at + size] = _ANY
        else:
            raise ValueError(f"the bytes are no message: wire type {wire_type}")
        if isinstance(known, _Leaf):
            getattr(places, known.kind)[known.place] = at, size
        elif isinstance(known, _Other):
            _forget(tree[known.instead_of], places)
        at += size
    if at > end or end > len(message):
        raise ValueError("the bytes are no message: a field is longer than what it is in")


def _forget(known: Any, places: _Places) -> None:
    """That the message has what it had there."""
    if isinstance(known, _Leaf):
        getattr(places, known.kind).pop(known.place, None)
    elif isinstance(known, Mapping):
        for part in known.values():
            _forget(part, places)


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The value of a variable-length integer, and where it ends."""
    value = 0
    for k in range(_MOST_VARINT_BYTES):
        byte = message[at + k]
        value |= (byte & 0x7F) << 7 * k
        if byte < 0x80:
            return value, at + k + 1
    raise ValueError("the bytes are no message: an integer does not end")


def _integers(table: np.ndarray, cut: Any) -> np.ndarray:
    """The values of n variable-length integers of one length [n,bytes], of the two's complement in 64 bits, as the type `cut` has them."""
    values = np.zeros(len(table), dtype=np.uint64)
    for k in range(table.shape[1]):
        values |= (table[:, k] & 0x7F).astype(np.uint64) << np.uint64(7 * k)
    return values.astype(cut)
