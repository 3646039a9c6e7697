"""Starts a local eipc-server for a script or a test, and stops it again."""

from __future__ import annotations

import collections
import queue
import re
import subprocess
import threading
from pathlib import Path
from typing import Any, Deque, Optional, Sequence, Union
import os

from .client import Client, connect
from .errors import ServerStartError
from .server_program import find_server

_READY = re.compile(r"eipc-server listening on (\S+:\d+)")
_VIEWER = re.compile(r"eipc-server viewer at (http://\S+/)")
_KEPT_LINES = 40


class ServerProcess:
    """A running server: `address`, `client()`, `stop()`. Used in a `with` block it is stopped at the end."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, output: Deque[str]) -> None:
        self.process = process
        self.address = address
        self._output = output
        found = [match for match in map(_VIEWER.search, output) if match]
        self.viewer_url = found[0].group(1) if found else ""  # of the page, where it was asked for (--viewer)

    def __repr__(self) -> str:
        return f"ServerProcess({self.address}, " + ("running" if self.running else f"ended with status {self.process.returncode}") + ")"

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def client(self, **options: Any) -> Client:
        """A new connection to it; options as connect()."""
        return connect(self.address, **options)

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    @property
    def output(self) -> str:
        """The last lines it wrote, for error reports."""
        return "\n".join(self._output)

    def stop(self, grace_s: float = 10.0) -> int:
        """Asks it to stop (SIGTERM), ends it after `grace_s` s if it does not. Returns its exit status."""
        if self.running:
            self.process.terminate()
            try:
                self.process.wait(timeout=grace_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()


def launch(binary: Optional[Union[str, "os.PathLike[str]"]] = None, args: Sequence[str] = ("--listen=127.0.0.1:0",),
           timeout: float = 20.0) -> ServerProcess:
    """Starts `binary args` and waits until it says where it listens.

    binary: default the server of EIPC_SERVER, of the package, of the checkout's release build or of PATH, the first that
    exists. args: default any free port of the loopback interface. timeout: s. Raises ServerStartError with its last
    words, or with the places where no server was found.
    """
    binary = find_server() if binary is None else binary
    try:
        process = subprocess.Popen([str(Path(binary)), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
    except OSError as error:
        raise ServerStartError(f"cannot start {binary}: {error.strerror}") from error
    output: Deque[str] = collections.deque(maxlen=_KEPT_LINES)
    ready: "queue.SimpleQueue[Optional[str]]" = queue.SimpleQueue()
    # The pipe is read to its end, or a talkative server would block on a full one.
    threading.Thread(target=_pump, args=(process, output, ready), name="eipc-server-output", daemon=True).start()
    try:
        address = ready.get(timeout=timeout)
    except queue.Empty:
        ServerProcess(process, "", output).stop()
        raise ServerStartError(f"{binary} did not say where it listens within {timeout:g} s") from None
    if address is None:
        status = process.wait()
        raise ServerStartError(f"{binary} ended with status {status}: " + (" | ".join(output) or "no output"))
    return ServerProcess(process, address, output)


launch_server = launch  # the former name


def _pump(process: "subprocess.Popen[str]", output: Deque[str], ready: "queue.SimpleQueue[Optional[str]]") -> None:
    assert process.stdout is not None
    announced = False
    with process.stdout:
        for line in process.stdout:
            output.append(line.rstrip())
            match = None if announced else _READY.search(line)
            if match:
                announced = True
                ready.put(match.group(1))
    if not announced:
        ready.put(None)
