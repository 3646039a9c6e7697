"""An X server in memory, without a screen, a keyboard or a connection from elsewhere: Debian's VTK draws only on a display."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile

_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2)


def start_display() -> str:
    """Starts Xvfb and returns the name of its display. It ends with its last client, or with this process."""
    program = shutil.which("Xvfb")
    if program is None:
        raise RuntimeError("drawing needs the program Xvfb, which is not on PATH: apt-get install xvfb")
    libc = ctypes.CDLL(None)
    reader, writer = os.pipe()
    # What it says while it looks for a free display is no failure: others may be starting beside it.
    with open(reader, "rb") as announced, tempfile.TemporaryFile() as said:
        # The options after the display are for a server that nobody else uses: a small screen, since windows are drawn in buffers.
        subprocess.Popen([program, "-displayfd", str(writer), "-screen", "0", "64x64x24", "-nolisten", "tcp", "-terminate"],
                         pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                         preexec_fn=lambda: libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM))
        os.close(writer)
        number = announced.readline().strip()
        if not number:
            said.seek(0)
            raise RuntimeError(f"Xvfb ended before it had a display: {said.read().decode(errors='replace').strip()}")
    return f":{number.decode()}"
