"""The parts of a session's recording (Session.recording) that concern one world since its last reset.

A recording is a sequence of records, each framed by its length and a CRC-32 (`server/session/action_log.h`). Records are kept or
left out whole here, never changed, so that `eipc verify` replays what remains.
"""

from __future__ import annotations

import struct
import zlib
from typing import Iterator

import grpc

from .errors import InternalError

_FRAME = struct.Struct("<II")  # bytes of the record, CRC-32 of it
_BEGIN = struct.Struct("<BBi")  # version, kind, and the world in records that have one
_HEADER, _STATE, _STEP, _BATCH_STEP, _MIGRATED, _REACHED = range(6)


def log_of_world(log: bytes, world: int) -> bytes:
    """The header, and the records of one world from its last state that was set (its start, a reset, a restore) to the end."""
    header, kept = b"", []
    for kind, of_world, record in records(log):
        if kind == _HEADER:
            header = record
        elif kind == _MIGRATED:
            kept.append(record)
        elif of_world == world:
            if kind == _STATE:
                kept.clear()
            kept.append(record)
    if not header:
        raise InternalError("the recording of the session has no header", grpc.StatusCode.DATA_LOSS)
    return header + b"".join(kept)


def records(log: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(kind, world, the record with its frame); the world of records that have none means nothing."""
    at = 0
    while at < len(log):
        if at + _FRAME.size > len(log):
            raise InternalError(f"the recording of the session is torn at byte {at}", grpc.StatusCode.DATA_LOSS)
        size, checksum = _FRAME.unpack_from(log, at)
        begin, end = at + _FRAME.size, at + _FRAME.size + size
        if end > len(log) or size < _BEGIN.size or zlib.crc32(log[begin:end]) != checksum:
            raise InternalError(f"the recording of the session is torn at byte {at}", grpc.StatusCode.DATA_LOSS)
        _, kind, world = _BEGIN.unpack_from(log, begin)
        yield kind, world, log[at:end]
        at = end
