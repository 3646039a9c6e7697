"""Arrays in msgpack, in the two formats that policy servers write.

OpenPI (openpi-client, msgpack_numpy): a map with the binary keys __ndarray__, data, dtype and shape. GR00T (server_client.py): a map
with __ndarray_class__ and the bytes of a .npy file. Neither ever unpickles.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from .errors import PolicyServerError, needed

_KINDS = "biufSU"  # of arrays that are sent: no objects, no structures, no complex numbers


def pack_openpi(value: Any) -> bytes:
    return bytes(_msgpack().packb(value, default=_openpi_array))


def unpack_openpi(data: bytes) -> Any:
    return _unpacked(data, _array_of_openpi)


def pack_gr00t(value: Any) -> bytes:
    return bytes(_msgpack().packb(value, default=_gr00t_array))


def unpack_gr00t(data: bytes) -> Any:
    return _unpacked(data, _array_of_gr00t)


def _msgpack() -> Any:
    try:
        import msgpack
    except ImportError:
        raise needed("msgpack", "python3-msgpack") from None
    return msgpack


def _unpacked(data: bytes, hook: Any) -> Any:
    try:
        return _msgpack().unpackb(data, object_hook=hook, strict_map_key=False)
    except PolicyServerError:
        raise
    except Exception as error:  # msgpack and NumPy each have their own for damaged bytes
        raise PolicyServerError(f"the policy server's answer cannot be read: {error}") from error


def _checked(value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in _KINDS:
        raise PolicyServerError(f"arrays of {array.dtype} cannot be sent to a policy server")
    return array


def _openpi_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(_checked(value))
        return {b"__ndarray__": True, b"data": array.tobytes(), b"dtype": array.dtype.str, b"shape": value.shape}
    if isinstance(value, np.generic):
        return {b"__npgeneric__": True, b"data": value.item(), b"dtype": _checked(value).dtype.str}
    raise PolicyServerError(f"a {type(value).__name__} cannot be sent to a policy server")


def _array_of_openpi(found: Any) -> Any:
    parts = {key.decode() if isinstance(key, bytes) else key: value for key, value in found.items()}
    if "__ndarray__" in parts:
        dtype = np.dtype(parts["dtype"])
        if dtype.kind not in _KINDS:
            raise PolicyServerError(f"the policy server sent an array of {dtype}")
        return np.frombuffer(parts["data"], dtype=dtype).reshape(parts["shape"])
    if "__npgeneric__" in parts:
        return np.dtype(parts["dtype"]).type(parts["data"])
    return found


def _gr00t_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        file = io.BytesIO()
        np.save(file, _checked(value), allow_pickle=False)
        return {"__ndarray_class__": True, "as_npy": file.getvalue()}
    if isinstance(value, np.generic):
        return value.item()
    raise PolicyServerError(f"a {type(value).__name__} cannot be sent to a policy server")


def _array_of_gr00t(found: Any) -> Any:
    if "__ndarray_class__" in found:
        return np.load(io.BytesIO(found["as_npy"]), allow_pickle=False)
    return found
