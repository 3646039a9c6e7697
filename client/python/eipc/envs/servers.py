"""Where environments run: one server of this process that they share, or one that the caller names."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any, Optional, Protocol, Union, runtime_checkable

import grpc

from ..client import Client, connect
from ..errors import UnavailableError
from ..server_process import ServerProcess, launch



@runtime_checkable
class ServerChoice(Protocol):
    """Servers of which one is chosen, such as an eipc.Farm, whose connections are its own."""

    def client(self) -> Client: ...

    def failed(self, address: str) -> None: ...


# A call may step many worlds on a machine that is busy.
_CALL_TIMEOUT_S = 600.0
Server = Union[None, str, Client, ServerProcess, ServerChoice]


class _Shared:
    """A server of this process, started with the first environment and stopped with the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Optional[ServerProcess] = None
        self._users = 0
        self._owner = 0  # process that started it: a forked child must not use or stop its parent's

    def join(self) -> None:
        with self._lock:
            if self._owner != os.getpid():
                self._process, self._users, self._owner = None, 0, os.getpid()
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            if self._owner != os.getpid():
                return
            self._users -= 1
            if self._users == 0:
                self._stop()

    def process(self) -> ServerProcess:
        """The server, started again when it has ended."""
        with self._lock:
            if self._process is None or not self._process.running:
                self._stop()
                self._process = launch()
            return self._process

    def stop(self) -> None:
        """At the end of the process."""
        with self._lock:
            if self._owner == os.getpid():
                self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None


SHARED = _Shared()
atexit.register(SHARED.stop)


class Connection:
    """A client of the server of an environment, that can be renewed when the server ended."""

    def __init__(self, server: Server = None, timeout: float = 20.0) -> None:
        """server: None for the shared one, an address "host:port", a Client, an eipc.Farm, or what launch() returned. timeout: s to wait
        for it."""
        self._server, self._timeout = server, timeout
        self._closed = False
        if server is None:
            SHARED.join()
        try:
            self.client = self._connect()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"Connection({self.client.address})"

    def renew(self) -> None:
        """Connects again. The shared server is started again when it has ended; any other must be there. Raises UnavailableError."""
        if isinstance(self._server, Client):
            return  # its channel connects again by itself
        if isinstance(self._server, ServerChoice):
            self._server.failed(self.client.address)
            self.client = self._server.client()
            return
        former, self.client = self.client, self._connect()
        former.close()

    @property
    def attempts(self) -> int:
        """How often worlds are put back before their loss is reported: a farm has other servers to try."""
        return 4 if isinstance(self._server, ServerChoice) else 1

    @property
    def process(self) -> Optional[ServerProcess]:
        """The server, where it is of this process."""
        if self._server is None:
            return SHARED.process()
        return self._server if isinstance(self._server, ServerProcess) else None

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        client: Any = getattr(self, "client", None)
        if client is not None and not isinstance(self._server, (Client, ServerChoice)):
            client.close()
        if self._server is None:
            SHARED.leave()

    def _connect(self) -> Client:
        if isinstance(self._server, Client):
            return self._server
        if isinstance(self._server, ServerChoice):
            return self._server.client()
        if isinstance(self._server, str):
            return connect(self._server, timeout=self._timeout, default_timeout=_CALL_TIMEOUT_S)
        process = SHARED.process() if self._server is None else self._server
        if not process.running:
            raise UnavailableError(f"the server at {process.address} has ended; its last words: {process.output}",
                                   grpc.StatusCode.UNAVAILABLE)
        return process.client(timeout=self._timeout, default_timeout=_CALL_TIMEOUT_S)
