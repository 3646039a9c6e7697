"""How the steps of an episode were asked for, in arrays of its file: what a replay sends again."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence

import numpy as np

from .errors import EpisodeError
from .v1 import service_pb2

_NOT_REPLAYED = ("session", "observe", "expected_step", "request_id", "world")


def stripped(request: service_pb2.StepRequest) -> bytes:
    """What a step does, without where, when and what is observed of it."""
    kept = service_pb2.StepRequest()
    kept.CopyFrom(request)
    for name in _NOT_REPLAYED:
        kept.ClearField(name)
    return bytes(kept.SerializeToString(deterministic=True))


def request_arrays(start: bytes, requests: Sequence[Optional[bytes]]) -> dict[str, np.ndarray]:
    """`start`: a snapshot; `request`: bytes of all requests after another, step t from `request_at[t]` to `request_at[t + 1]`. No
    requests when one is not known."""
    out = {"start": np.frombuffer(start, dtype=np.uint8)}
    known = [request for request in requests if request is not None]
    if len(known) == len(requests):
        out["request"] = np.frombuffer(b"".join(known), dtype=np.uint8)
        out["request_at"] = np.cumsum([0, *map(len, known)])
    return out


def requests_of(arrays: Mapping[str, np.ndarray], name: str) -> list[service_pb2.StepRequest]:
    """Raises EpisodeError when the episode has none."""
    if "request" not in arrays:
        raise EpisodeError(f"{name} does not say how its steps were asked for: its recorder did not receive them (record(..., request=)), or is of "
                           "an earlier version")
    data, at = arrays["request"].tobytes(), arrays["request_at"].tolist()
    return [service_pb2.StepRequest.FromString(data[begin:end]) for begin, end in zip(at, at[1:])]
