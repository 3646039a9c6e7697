"""A client of GR00T's policy server (NVIDIA/Isaac-GR00T, gr00t/policy/server_client.py): msgpack over ZeroMQ, one request at a time.

A request is a map with "endpoint" ("ping", "reset", "get_action", "get_modality_config"), "data" where the endpoint wants some, and
"api_token" where the server does. An answer with "error" is one. Actions come as a map of arrays [batch, steps, numbers] by key.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from .chunks import ActionChunks
from .errors import PolicyServerError, needed
from .packing import pack_gr00t, unpack_gr00t

Observation = Callable[[Any], Mapping[str, Any]]


class Gr00tPolicy:
    """A policy of the server at host:port. Use as a context manager or call close()."""

    def __init__(self, host: str = "127.0.0.1", port: int = 5555, language: str = "", observation: Optional[Observation] = None,
                 keys: Optional[Sequence[str]] = None, horizon: Optional[int] = None, api_token: Optional[str] = None,
                 timeout: float = 30.0) -> None:
        """observation: of what the environment observes, the map that the server's policy wants; default its state [1,1,n] and the
        language under GR00T's groups "state" and "language". keys: of the answer, in the order in which their numbers make an
        action; None: sorted. horizon: actions of a chunk that are carried out; None: all. timeout: s, of every answer. Raises
        PolicyServerError, also when nobody answers."""
        try:
            import zmq
        except ImportError:
            raise needed("zmq", "python3-zmq") from None
        self.address = f"tcp://{host}:{port}"
        self._language, self._observation, self._token = language, observation, api_token
        self._keys = None if keys is None else tuple(keys)
        self._chunks = ActionChunks(self._ask, horizon)
        self._zmq, self._timeout = zmq, timeout
        self._context = zmq.Context()
        self._socket: Any = None
        try:
            self.call("ping")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Gr00tPolicy":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Gr00tPolicy({self.address}, language {self._language!r})"

    def reset(self, seed: int) -> None:
        """An episode begins."""
        self._chunks.clear()
        self.call("reset", {"options": {"seed": seed}})

    def act(self, observation: Any) -> np.ndarray:
        return self._chunks.next(observation)

    def call(self, endpoint: str, data: Optional[Mapping[str, Any]] = None) -> Any:
        """What an endpoint answers. Raises PolicyServerError."""
        request: dict[str, Any] = {"endpoint": endpoint}
        if data is not None:
            request["data"] = dict(data)
        if self._token is not None:
            request["api_token"] = self._token
        socket = self._connected()
        try:
            socket.send(pack_gr00t(request))
            answer = unpack_gr00t(socket.recv())
        except self._zmq.Again:
            self._disconnect()  # the socket still waits for that answer and takes no other request
            raise PolicyServerError(f"no answer from the policy server at {self.address} within {self._timeout:g} s") from None
        if isinstance(answer, Mapping) and "error" in answer:
            raise PolicyServerError(f"the policy server at {self.address} failed: {answer['error']}")
        return answer

    def close(self) -> None:
        self._disconnect()
        self._context.term()

    def _connected(self) -> Any:
        if self._socket is None:
            self._socket = self._context.socket(self._zmq.REQ)
            milliseconds = max(1, int(1000 * self._timeout))
            for option in (self._zmq.RCVTIMEO, self._zmq.SNDTIMEO):
                self._socket.setsockopt(option, milliseconds)
            self._socket.setsockopt(self._zmq.LINGER, 0)
            self._socket.connect(self.address)
        return self._socket

    def _disconnect(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ask(self, observation: Any) -> np.ndarray:
        """Chunk [steps, numbers] of the one observation."""
        if self._observation is not None:
            message = self._observation(observation)
        else:
            state = np.asarray(observation, dtype=np.float32).reshape(1, 1, -1)
            message = {"state": {"state": state}, "language": {"task": [[self._language]]}}
        answer = self.call("get_action", {"observation": dict(message), "options": None})
        action = answer[0] if isinstance(answer, (list, tuple)) and answer else answer
        if not isinstance(action, Mapping) or not action:
            raise PolicyServerError(f"{self.address} answered a {type(action).__name__}, not a map of actions")
        keys = self._keys or tuple(sorted(action))
        missing = [key for key in keys if key not in action]
        if missing:
            raise PolicyServerError(f"{self.address} answered no {missing[0]!r}; it has: {', '.join(sorted(action))}")
        return np.concatenate([_of_one(key, np.asarray(action[key])) for key in keys], axis=1)


def _of_one(key: str, values: np.ndarray) -> np.ndarray:
    """[1,steps,n] or [steps,n] as [steps,n]."""
    if values.ndim == 3 and len(values) == 1:
        values = values[0]
    if values.ndim != 2:
        raise PolicyServerError(f"the action {key!r} has shape {values.shape}; it is [1, steps, numbers]")
    return values
