"""The one process that draws for this program: started by the first picture, kept until the program ends.

VTK stays out of this process for three reasons: its context of OpenGL belongs to one thread, it ends the process where it finds no
display, and a process that was forked must not use its connection. So threads take turns, an end of the process that draws is an
exception, and a forked process starts its own.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Mapping, Optional

import numpy as np

from .drawing.frames import receive, send

_PACKAGES = "python3-vtk9 xvfb"
_DEBIAN_PYTHON, _DEBIAN_VTK = "/usr/bin/python3", Path("/usr/lib/python3/dist-packages/vtkmodules")
_START = "import sys; sys.path.insert(0, sys.argv[1]); from drawing.__main__ import main; main()"
_GRACE_S = 5.0
_SHOWN_CHARACTERS = 2000


class DrawingError(RuntimeError):
    """No picture: VTK or Xvfb is missing, or failed."""


def interpreter() -> str:
    """The Python that has VTK: this one, or Debian's, whose packages a virtual environment does not see. Raises DrawingError."""
    if importlib.util.find_spec("vtkmodules") is not None:
        return sys.executable
    if _DEBIAN_VTK.is_dir():
        return _DEBIAN_PYTHON
    raise DrawingError(f"pictures are drawn by VTK, which is not installed: apt-get install {_PACKAGES}")


class Painter:
    """Sends what to draw to its process. Threads may share it; they take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._said = tempfile.TemporaryFile()

    def __repr__(self) -> str:
        return "Painter(" + ("not started" if self._process is None else f"process {self._process.pid}") + ")"

    def draw(self, order: Mapping[str, Any]) -> np.ndarray:
        """The picture of an order, see `drawing.stage.Stage.draw`. Raises DrawingError where there is none."""
        with self._lock:
            if self._process is None:
                self._process = self._start()
            assert self._process.stdin is not None and self._process.stdout is not None
            try:
                send(self._process.stdin, dict(order))
                answer = receive(self._process.stdout)
            except (EOFError, BrokenPipeError):
                raise DrawingError(f"the process that draws has ended: {self._last_words()}") from None
            except BaseException:  # such as KeyboardInterrupt: what it answers now belongs to no order any more
                self._end()
                raise
        if isinstance(answer, str):
            raise DrawingError(answer)
        return np.asarray(answer)

    def stop(self) -> None:
        """Ends the process; the next picture starts another."""
        with self._lock:
            self._end()

    def _start(self) -> "subprocess.Popen[bytes]":
        self._said.seek(0)
        self._said.truncate()
        # In a session of its own, so that Ctrl-C reaches the program only, which then ends it.
        return subprocess.Popen([interpreter(), "-c", _START, str(Path(__file__).parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=self._said, start_new_session=True)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdout.close()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _last_words(self) -> str:
        self._end()
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip()[-_SHOWN_CHARACTERS:] or "it said nothing"


_painter = Painter()
atexit.register(lambda: _painter.stop())


def _forget() -> None:
    """In a forked process: its parent's process that draws is not its own, and the lock may be held by a thread that is not there."""
    global _painter
    _painter = Painter()


os.register_at_fork(after_in_child=_forget)


def draw(order: Mapping[str, Any]) -> np.ndarray:
    """A picture, by the one process that draws for this program."""
    return _painter.draw(order)
