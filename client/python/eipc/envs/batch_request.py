"""Requests that step many worlds, made of arrays: a row of bytes a world, of which only the numbers change.

A StepBatchRequest is the concatenation of its fields, so that rows of worlds can be chosen, put together and kept as they are.
"""

from __future__ import annotations

from typing import Optional, Sequence

import numpy as np

from ..geometry import Interpolation, Pose, Trajectory
from ..observation import Observe
from ..v1 import observation_pb2, service_pb2

FrameKey = tuple[str, str]
_STEPS_TAG = service_pb2.StepBatchRequest.DESCRIPTOR.fields_by_name["steps"].number << 3 | 2
_SUBSTEPS_TAG = service_pb2.StepRequest.DESCRIPTOR.fields_by_name["substeps"].number << 3
_WORLD_TAG = service_pb2.StepRequest.DESCRIPTOR.fields_by_name["world"].number << 3
_VARINT = 3  # bytes of every count here: padded, so that rows have one length
_MARK = 3.0e100  # no length or time of a scene


class BatchRows:
    """Makes the rows of worlds whose frames go from one pose to another during a request."""

    def __init__(self, worlds: int, frames: Sequence[FrameKey], dt_s: float, observe: Optional[Observe],
                 interpolation: Interpolation = Interpolation.LINEAR) -> None:
        """frames: (body, boundary set) of each driven frame. observe: None where the batch says it. interpolation: between the two
        poses."""
        self.dt_s = dt_s
        self._frames = len(frames)
        body = _template(frames, dt_s, observe, interpolation)
        fixed = bytes([_SUBSTEPS_TAG, *_varint(0), _WORLD_TAG, *_varint(0)])
        row = bytes([_STEPS_TAG]) + _varint(len(body) + len(fixed)) + body + fixed
        self._template = np.frombuffer(row, dtype=np.uint8)
        numbers = 2 * 8 * self._frames  # a time, a position and a quaternion at both ends of each frame's path
        self._offsets = np.array([row.index(np.float64(_MARK * (1 + k)).tobytes()) for k in range(numbers)])
        self._counts_at = len(row) - len(fixed)
        self._world = _varints(np.arange(worlds))

    def __repr__(self) -> str:
        return f"BatchRows({self._frames} frames, dt {self.dt_s:g} s)"

    def make(self, worlds: np.ndarray, begin: np.ndarray, end: np.ndarray, substeps: np.ndarray) -> np.ndarray:
        """Rows [k,bytes] of uint8. worlds [k]: which; begin, end [k,F,7]: positions m and quaternions w x y z; substeps [k]."""
        rows = np.repeat(self._template[None], len(worlds), axis=0)
        numbers = np.zeros((len(worlds), self._frames, 2, 8))
        numbers[:, :, 1, 0] = (self.dt_s * substeps)[:, None]
        numbers[:, :, 0, 1:], numbers[:, :, 1, 1:] = begin, end
        places = self._offsets[:, None] + np.arange(8)
        rows[:, places] = numbers.reshape(len(worlds), len(places), 1).astype("<f8").view(np.uint8)
        at = self._counts_at + 1
        rows[:, at:at + _VARINT] = _varints(substeps)
        rows[:, at + _VARINT + 1:at + 2 * _VARINT + 1] = self._world[worlds]
        return rows


def batch_request(session: str, request_id: str, rows: np.ndarray, stack: Optional[observation_pb2.StackRequest] = None) -> bytes:
    """The request of some rows [k,bytes]. stack: what is observed of all worlds, where the rows do not say it."""
    return service_pb2.StepBatchRequest(session=session, request_id=request_id, stack=stack).SerializeToString() + rows.tobytes()


def _template(frames: Sequence[FrameKey], dt_s: float, observe: Optional[Observe], interpolation: Interpolation) -> bytes:
    """A request whose changing numbers are all different marks, so that their places can be found."""
    request = service_pb2.StepRequest(dt_s=dt_s, observe=None if observe is None else observe.to_message())
    mark = iter(_MARK * (1 + k) for k in range(2 * 8 * len(frames)))
    for body, boundary_set in frames:
        still = Trajectory(np.array([0.0, 1.0]), [Pose(np.zeros(3))] * 2, interpolation)
        target = request.trajectories.add(body=body, boundary_set=boundary_set, trajectory=still.to_message())
        target.trajectory.interpolation = interpolation.value  # always there, so that rows of both kinds have one length
        for key in target.trajectory.keyframes:
            key.time_s = next(mark)
            for message, names in ((key.pose.position_m, "xyz"), (key.pose.quaternion, "wxyz")):
                for name in names:
                    setattr(message, name, next(mark))
    return request.SerializeToString(deterministic=True)


def _varints(values: np.ndarray) -> np.ndarray:
    """Whole numbers [k] as [k,3] bytes of padded varints. Raises ValueError beyond 2^21."""
    values = np.asarray(values, dtype=np.int64)
    if ((values < 0) | (values >= 1 << 7 * _VARINT)).any():
        raise ValueError(f"counts must be in [0, {1 << 7 * _VARINT})")
    shifts = 7 * np.arange(_VARINT)
    more = np.where(np.arange(_VARINT) < _VARINT - 1, 0x80, 0)
    return ((values[:, None] >> shifts & 0x7F) | more).astype(np.uint8)


def _varint(value: int) -> bytes:
    return _varints(np.array([value]))[0].tobytes()
