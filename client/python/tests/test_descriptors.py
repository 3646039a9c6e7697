"""A server that has no descriptor left: what runs goes on, what needs one is refused, and afterwards all is as before."""

import contextlib
import os
import socket

import pytest

import eipc
from awaiting import wait_until
from server_metrics import gauges
from test_real_server import cube_scene
from test_service import launch_with_metrics

# Descriptors that the process may have, and connections that take all that are left of them.
DESCRIPTORS, CROWD = 150, 300


def limited(tmp_path, server_binary):
    """A program that is the server within RLIMIT_NOFILE."""
    program = tmp_path / "eipc-server"
    program.write_text(f"#!/bin/sh\nulimit -n {DESCRIPTORS}\nexec '{server_binary}' \"$@\"\n")
    program.chmod(0o755)
    return program


def open_descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@contextlib.contextmanager
def crowd_of(server):
    """Connections, held, beyond what the server has descriptors for."""
    host, port = server.address.rsplit(":", 1)
    with contextlib.ExitStack() as stack:
        for _ in range(CROWD):
            stack.enter_context(socket.create_connection((host, int(port)), timeout=30))
        wait_until(lambda: open_descriptors(server) >= DESCRIPTORS - 2, "all descriptors are taken")
        yield


def serves_a_new_client(server):
    try:
        with server.client() as client:
            return client.server_info(timeout=2).build
    except eipc.EipcError:
        return False


def test_without_a_descriptor_what_runs_goes_on_and_the_rest_is_refused_until_there_are_some(server_binary, tmp_path):
    program = limited(tmp_path, server_binary)
    launched, port = launch_with_metrics(program, f"--state-dir={tmp_path / 'state'}", "--journal-replay-ms=1", "--log-level=off")
    with launched as server, server.client() as client:
        scene = client.create_scene(cube_scene())
        session, other = scene.create_session(), scene.create_session()
        with session.stream() as stream:
            stream.step(0.01)
            for _ in range(2):  # a listener that ends at the first shortage would not see the second
                with crowd_of(server):
                    # Enough of them that journals would begin anew; that cannot be, and stops nothing.
                    for _ in range(50):
                        stream.step(0.01)
                    other.step(0.01)
                    with pytest.raises(eipc.UnavailableError, match="JOURNAL_FAILED: cannot create .*Too many open files"):
                        scene.create_session()
                    with pytest.raises(eipc.UnavailableError), server.client() as late:
                        late.server_info(timeout=10)
                wait_until(lambda: serves_a_new_client(server), "a new client is served again")
                scene.create_session().delete()
        values = gauges(port)
        assert values["eipc_connections_without_descriptor"] > 0
        assert values["eipc_journal_failed_sessions"] == 0
        assert session.state().step == 101 and other.state().step == 2
