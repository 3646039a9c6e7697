"""Servers of the studies of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import eipc

START_TIMEOUT_S = 120.0


def launch(program: Path | str, arguments: Sequence[str]) -> eipc.ServerProcess:
    """A server that has START_TIMEOUT_S to say where it listens: how soon it does is not what is judged."""
    return eipc.launch_server(program, arguments, timeout=START_TIMEOUT_S)
