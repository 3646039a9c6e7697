"""A client of OpenPI's policy server (Physical-Intelligence/openpi, serve_policy.py): msgpack over a WebSocket.

The server speaks first and says what it serves; then each binary message is an observation, and each binary answer a map with
"actions" [steps, numbers]. A text answer is an error in words.
"""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Mapping, Optional

import numpy as np

from .chunks import ActionChunks
from .errors import PolicyServerError, needed
from .packing import pack_openpi, unpack_openpi

Observation = Callable[[Any], Mapping[str, Any]]


class OpenPiPolicy:
    """A policy of the server at host:port. Use as a context manager or call close().

    metadata: what the server said of itself.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 8000, prompt: str = "", observation: Optional[Observation] = None,
                 horizon: Optional[int] = None, api_key: Optional[str] = None, timeout: float = 30.0) -> None:
        """observation: of what the environment observes, the map that the server's policy wants; default {"observation/state": it,
        "prompt": prompt}. horizon: actions of a chunk that are carried out; None: all. timeout: s, of connecting and of every
        answer. Raises PolicyServerError."""
        _websockets()
        self.address = f"ws://{host}:{port}"
        self._prompt, self._observation, self._timeout = prompt, observation, timeout
        self._chunks = ActionChunks(self._ask, horizon)
        self._loop = asyncio.new_event_loop()
        self._socket: Any = None
        try:
            self._socket = self._wait(_opened(self.address, {"Authorization": f"Api-Key {api_key}"} if api_key else None))
            self.metadata: Mapping[str, Any] = self._received()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "OpenPiPolicy":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"OpenPiPolicy({self.address}, prompt {self._prompt!r})"

    def reset(self, seed: int) -> None:
        self._chunks.clear()

    def act(self, observation: Any) -> np.ndarray:
        return self._chunks.next(observation)

    def infer(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Sends a map as it is, and returns the server's answer."""
        self._wait(self._socket.send(pack_openpi(dict(message))))
        answer = self._received()
        if not isinstance(answer, Mapping):
            raise PolicyServerError(f"{self.address} answered a {type(answer).__name__}, not a map")
        return answer

    def close(self) -> None:
        if self._loop.is_closed():
            return
        if self._socket is not None:
            self._loop.run_until_complete(asyncio.wait([self._loop.create_task(self._socket.close())], timeout=self._timeout))
        self._loop.close()

    def _ask(self, observation: Any) -> np.ndarray:
        if self._observation is not None:
            message = self._observation(observation)
        else:
            message = {"observation/state": np.asarray(observation, dtype=np.float32), "prompt": self._prompt}
        answer = self.infer(message)
        if "actions" not in answer:
            raise PolicyServerError(f"{self.address} answered without actions; it has: {', '.join(map(str, answer))}")
        return np.asarray(answer["actions"])

    def _received(self) -> Any:
        data = self._wait(self._socket.recv())
        if isinstance(data, str):
            raise PolicyServerError(f"the policy server at {self.address} failed: {data.strip()}")
        return unpack_openpi(data)

    def _wait(self, what: Any) -> Any:
        """The result of an awaitable, within the time that is allowed."""
        try:
            return self._loop.run_until_complete(asyncio.wait_for(what, self._timeout))
        except asyncio.TimeoutError:
            raise PolicyServerError(f"no answer from the policy server at {self.address} within {self._timeout:g} s") from None
        except PolicyServerError:
            raise
        except Exception as error:  # of sockets, and many of websockets
            raise PolicyServerError(f"the policy server at {self.address} cannot be reached: {error or type(error).__name__}") from error


def _websockets() -> Any:
    try:
        import websockets.client
    except ImportError:
        raise needed("websockets", "python3-websockets") from None
    return websockets.client


async def _opened(address: str, headers: Optional[Mapping[str, str]]) -> Any:
    return await _websockets().connect(address, compression=None, max_size=None, extra_headers=headers, ping_interval=None)
