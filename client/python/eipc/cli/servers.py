"""The server that a command uses: one that is there, or one that is started for it."""

from __future__ import annotations

import argparse
import contextlib
from typing import Any, Iterator

from ..client import Client, connect
from ..farm.worker import credentials
from ..server_process import launch

# A call may step many worlds on a machine that is busy.
CALL_TIMEOUT_S = 600.0


def add_server_option(parser: Any) -> None:
    parser.add_argument("--server", metavar="HOST:PORT", help="a server that is there; default: one that is started for this")


@contextlib.contextmanager
def client_of(options: argparse.Namespace) -> Iterator[Client]:
    if options.server:
        with connect(options.server, default_timeout=CALL_TIMEOUT_S, **credentials()) as client:
            yield client
    else:
        with launch() as server, server.client(default_timeout=CALL_TIMEOUT_S) as client:
            yield client
