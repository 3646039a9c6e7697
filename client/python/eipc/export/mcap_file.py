"""Writes MCAP files (mcap.dev/spec): chunks with CRCs and message indexes, and a summary that lets readers seek."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import BinaryIO, Mapping

MAGIC = b"\x89MCAP0\r\n"
_CHUNK_BYTES = 1 << 20
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _MESSAGE_INDEX, _CHUNK_INDEX = range(1, 9)
_STATISTICS, _METADATA, _METADATA_INDEX, _SUMMARY_OFFSET, _DATA_END = 0x0B, 0x0C, 0x0D, 0x0E, 0x0F


@dataclass
class _Chunk:
    """Records that are not written yet. index: channel -> (time, offset in the records) of its messages."""

    records: bytearray = field(default_factory=bytearray)
    index: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    first: int = 0
    last: int = 0


class McapWriter:
    """Schemas and channels are added before their messages, messages in the order of time; close() ends the file."""

    def __init__(self, file: BinaryIO, profile: str = "", library: str = "eipc") -> None:
        self._file = file
        self._at = 0
        self._crc = 0
        self._summary: dict[int, list[bytes]] = {kind: [] for kind in (_SCHEMA, _CHANNEL, _STATISTICS, _CHUNK_INDEX, _METADATA_INDEX)}
        self._counts: dict[int, int] = {}
        self._chunk = _Chunk()
        self._times: list[int] = []
        self._put(MAGIC)
        self._put(_record(_HEADER, _text(profile) + _text(library)))

    def __repr__(self) -> str:
        return f"McapWriter({self._at} bytes, {sum(self._counts.values())} messages)"

    def schema(self, name: str, encoding: str, data: bytes) -> int:
        """Returns its number. encoding: "protobuf" (data: a FileDescriptorSet) or "jsonschema"."""
        number = len(self._summary[_SCHEMA]) + 1
        content = struct.pack("<H", number) + _text(name) + _text(encoding) + struct.pack("<I", len(data)) + data
        self._add(_SCHEMA, content)
        return number

    def channel(self, topic: str, schema: int, encoding: str, metadata: Mapping[str, str] = {}) -> int:
        """Returns its number. encoding: of the messages, "protobuf" or "json"."""
        number = len(self._summary[_CHANNEL]) + 1
        self._add(_CHANNEL, struct.pack("<HH", number, schema) + _text(topic) + _text(encoding) + _map(metadata))
        self._counts[number] = 0
        return number

    def message(self, channel: int, time_ns: int, data: bytes) -> None:
        chunk = self._chunk
        if not chunk.index:
            chunk.first = time_ns
        chunk.first, chunk.last = min(chunk.first, time_ns), max(chunk.last, time_ns)
        chunk.index.setdefault(channel, []).append((time_ns, len(chunk.records)))
        chunk.records += _record(_MESSAGE, struct.pack("<HIQQ", channel, self._counts[channel], time_ns, time_ns) + data)
        self._counts[channel] += 1
        if len(chunk.records) >= _CHUNK_BYTES:
            self._flush()

    def metadata(self, name: str, values: Mapping[str, str]) -> None:
        self._flush()
        content = _record(_METADATA, _text(name) + _map(values))
        self._summary[_METADATA_INDEX].append(struct.pack("<QQ", self._at, len(content)) + _text(name))
        self._put(content)

    def close(self) -> None:
        self._flush()
        self._put(_record(_DATA_END, struct.pack("<I", self._crc)))
        start = self._at
        self._summary[_STATISTICS] = [self._statistics()]
        summary, offsets = bytearray(), bytearray()
        for kind, contents in self._summary.items():
            if contents:
                group = b"".join(_record(kind, content) for content in contents)
                offsets += _record(_SUMMARY_OFFSET, struct.pack("<BQQ", kind, start + len(summary), len(group)))
                summary += group
        ending = summary + offsets + struct.pack("<BQ", _FOOTER, 20) + struct.pack("<QQ", start, start + len(summary))
        self._put(bytes(ending) + struct.pack("<I", zlib.crc32(ending)) + MAGIC)

    def _add(self, kind: int, content: bytes) -> None:
        """A schema or channel: in the chunk that uses it first, and in the summary."""
        self._chunk.records += _record(kind, content)
        self._summary[kind].append(content)

    def _flush(self) -> None:
        chunk, self._chunk = self._chunk, _Chunk()
        if not chunk.records:
            return
        records, compression = bytes(chunk.records), _text("")
        head = struct.pack("<QQQI", chunk.first, chunk.last, len(records), zlib.crc32(records)) + compression
        start = self._at
        self._put(_record(_CHUNK, head + struct.pack("<Q", len(records)) + records))
        length, offsets, begin = self._at - start, {}, self._at
        for channel, entries in sorted(chunk.index.items()):
            offsets[channel] = self._at
            pairs = b"".join(struct.pack("<QQ", *entry) for entry in entries)
            self._put(_record(_MESSAGE_INDEX, struct.pack("<HI", channel, len(pairs)) + pairs))
        places = b"".join(struct.pack("<HQ", channel, offset) for channel, offset in offsets.items())
        self._summary[_CHUNK_INDEX].append(
            struct.pack("<QQQQI", chunk.first, chunk.last, start, length, len(places)) + places + struct.pack("<Q", self._at - begin) +
            compression + struct.pack("<QQ", len(records), len(records)))
        if chunk.index:
            self._times += [chunk.first, chunk.last]

    def _statistics(self) -> bytes:
        counts = b"".join(struct.pack("<HQ", channel, count) for channel, count in self._counts.items())
        numbers = struct.pack("<QHIIIIQQ", sum(self._counts.values()), len(self._summary[_SCHEMA]), len(self._counts), 0,
                              len(self._summary[_METADATA_INDEX]), len(self._summary[_CHUNK_INDEX]), min(self._times, default=0),
                              max(self._times, default=0))
        return numbers + struct.pack("<I", len(counts)) + counts

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._at += len(data)
        self._crc = zlib.crc32(data, self._crc)


def _record(kind: int, content: bytes) -> bytes:
    return struct.pack("<BQ", kind, len(content)) + content


def _text(words: str) -> bytes:
    data = words.encode()
    return struct.pack("<I", len(data)) + data


def _map(values: Mapping[str, str]) -> bytes:
    pairs = b"".join(_text(key) + _text(value) for key, value in values.items())
    return struct.pack("<I", len(pairs)) + pairs
