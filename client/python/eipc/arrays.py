"""NdArray messages to NumPy and back. Reading copies nothing: the array is a read-only view of the message's bytes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .v1 import geometry_pb2

_DTYPE_OF: dict[geometry_pb2.DataType, np.dtype[Any]] = {
    geometry_pb2.FLOAT64: np.dtype("<f8"),
    geometry_pb2.FLOAT32: np.dtype("<f4"),
    geometry_pb2.INT32: np.dtype("<i4"),
    geometry_pb2.INT64: np.dtype("<i8"),
    geometry_pb2.UINT8: np.dtype("u1"),
    geometry_pb2.UINT16: np.dtype("<u2"),
}
_TYPE_OF = {dtype: number for number, dtype in _DTYPE_OF.items()}


def data_type(dtype: DTypeLike) -> geometry_pb2.DataType:
    """The protocol's DataType of a NumPy dtype. Raises ValueError for one it has no word for."""
    dtype = np.dtype(dtype).newbyteorder("<") if np.dtype(dtype).itemsize > 1 else np.dtype(dtype)
    if dtype not in _TYPE_OF:
        raise ValueError(f"the protocol has no arrays of {dtype}; use float64, float32, int32, int64, uint8 or uint16")
    return _TYPE_OF[dtype]


def to_message(array: ArrayLike, dtype: DTypeLike | None = None) -> geometry_pb2.NdArray:
    """Packs an array, converted to `dtype` when given."""
    values = np.asarray(array, dtype=dtype)
    number = data_type(values.dtype)
    values = np.ascontiguousarray(values, dtype=_DTYPE_OF[number])
    return geometry_pb2.NdArray(dtype=number, shape=values.shape, data=values.tobytes())


def to_numpy(message: geometry_pb2.NdArray) -> np.ndarray:
    """A read-only view of the message's data in its shape. Raises ValueError when shape and data do not agree."""
    if message.dtype not in _DTYPE_OF:
        raise ValueError(f"array of unknown element type {message.dtype}")
    dtype, shape = _DTYPE_OF[message.dtype], tuple(message.shape)
    expected = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or expected != len(message.data):
        raise ValueError(f"array of shape {shape} needs {expected} bytes, got {len(message.data)}")
    return np.frombuffer(message.data, dtype=dtype).reshape(shape)
