"""The real server and Agones' sidecar: which calls it makes, and when. Skips when the server has not been built."""

import threading

import pytest

import eipc
from fake_agones import FakeAgones
from small_grasp import scene


@pytest.fixture
def agones():
    with FakeAgones() as fake:
        yield fake


@pytest.fixture
def server(agones, server_binary):
    with eipc.launch(server_binary, ["--listen=127.0.0.1:0", f"--agones-port={agones.port}", "--agones-health=0.05", "--grace=5"]) as server:
        yield server


def healths(fake):
    return fake.calls.count("/health")


def test_start_allocation_drain(agones, server):
    agones.await_(lambda fake: fake.state_calls == ["/ready"])
    with server.client() as client:
        session = client.create_scene(scene()).create_session()
        agones.await_(lambda fake: fake.state == "Allocated")
        session.delete()
        agones.await_(lambda fake: fake.state_calls == ["/ready", "/allocate", "/ready"])
        client.create_scene(scene()).create_session()
        agones.await_(lambda fake: fake.state == "Allocated")
    assert server.stop() == 0
    assert agones.state_calls == ["/ready", "/allocate", "/ready", "/allocate", "/shutdown"] and agones.calls[-1] == "/shutdown"
    assert agones.problems == []


def test_a_long_solve_holds_up_no_health(agones, server):
    with server.client() as client:
        session = client.create_scene(scene()).create_session()
        failed = []

        def solve():
            try:
                session.step(1e-4, substeps=100000, timeout=600)
            except eipc.EipcError as error:
                failed.append(error)

        solving = threading.Thread(target=solve)
        solving.start()
        before = healths(agones)
        agones.await_(lambda fake: healths(fake) >= before + 10)
        assert solving.is_alive(), "the solve was over before ten calls"
        server.process.kill()
        solving.join()


def test_a_server_that_is_killed_tells_nothing_more(agones, server):
    agones.await_(lambda fake: healths(fake) >= 2 and fake.state == "Ready")
    server.process.kill()
    server.process.wait()
    calls = list(agones.calls)
    assert "/shutdown" not in calls and agones.calls == calls


def test_a_sidecar_that_comes_late_is_told(agones, server_binary, monkeypatch):
    agones.refuse = 3
    monkeypatch.setenv("AGONES_SDK_HTTP_PORT", str(agones.port))
    with eipc.launch(server_binary):
        agones.await_(lambda fake: fake.state == "Ready")
