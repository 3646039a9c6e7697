"""Shared fixtures. The package is imported from this checkout; its protocol modules are made when they are missing."""

import os
import sys
from pathlib import Path

import pytest

CLIENT_ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = CLIENT_ROOT.parents[1]
sys.path.insert(0, str(CLIENT_ROOT))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import generate_protos  # noqa: E402

generate_protos.generate_if_needed()

import eipc  # noqa: E402
import fake_server  # noqa: E402


@pytest.fixture
def servicer():
    return fake_server.FakeServicer()


@pytest.fixture
def client(servicer):
    with fake_server.serve(servicer) as address:
        with eipc.connect(address, default_timeout=10) as connection:
            yield connection


@pytest.fixture
def session(client):
    return client.get_scene("scenes/1").create_session()


@pytest.fixture(scope="session")
def server_binary():
    """The real server: EIPC_SERVER_BIN or (as ./dev test sets it) EIPC_SERVER, else the release build; skips without."""
    path = Path(os.environ.get("EIPC_SERVER_BIN") or os.environ.get("EIPC_SERVER") or REPOSITORY / "build/release/bin/eipc-server")
    if not path.exists():
        pytest.skip(f"no server at {path}")
    return path


@pytest.fixture(scope="session")
def eipc_binary():
    """The command line: EIPC_CLI, else the release build."""
    path = Path(os.environ.get("EIPC_CLI") or REPOSITORY / "build/release/bin/eipc")
    if not path.exists():
        pytest.skip(f"no eipc at {path}")
    return path
