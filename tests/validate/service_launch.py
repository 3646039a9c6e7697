"""Servers of the studies of the service."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Iterator, Sequence

import eipc

START_TIMEOUT_S = 120.0


def launch(program: Path | str, arguments: Sequence[str]) -> eipc.ServerProcess:
    """A server that has START_TIMEOUT_S to say where it listens: how soon it does is not what is judged."""
    return eipc.launch_server(program, arguments, timeout=START_TIMEOUT_S)


@contextlib.contextmanager
def exact_heap() -> Iterator[None]:
    """Servers that are started meanwhile count as in use what they use alone. Otherwise glibc counts the blocks that it keeps for each
    thread as in use, too; there are up to 7 of each of 64 sizes, and they take hours to fill."""
    name = "GLIBC_TUNABLES"
    before = os.environ.get(name)
    os.environ[name] = "glibc.malloc.tcache_count=0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
