"""The server behind HAProxy (eipc-server-with-proxy): calls, identity, certificates, health, and how both end."""

import contextlib
import json
import os
import queue
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from concurrent import futures
from pathlib import Path

import grpc
import pytest

import eipc
from awaiting import wait_until
from eipc.v1 import service_pb2, service_pb2_grpc
from proxy_fixtures import (  # noqa: F401 (fixtures are used by their names)
    LOOPBACK, MANY_STEPS, MIB, PATIENCE_S, certificates, descendants, launch, proxied, server, stub_of, tls_files)
from server_client import client  # noqa: F401 (fixture)
from test_real_server import DT, cube_scene

# --- calls as without a proxy ------------------------------------------------------------------------------------------


def test_steps_streams_and_errors_come_through(client):
    scene = client.create_scene(cube_scene())
    with scene.create_session() as session:
        assert session.step(DT, substeps=3).step == 3
        with session.stream() as stream:
            assert [seen.step for seen in stream.run({"dt": DT} for _ in range(20))] == list(range(4, 24))
        with pytest.raises(eipc.AbortedError):
            session.step(DT, expected_step=7)
    with pytest.raises(eipc.NotFoundError) as error:
        client.get_scene("scenes/none")
    assert error.value.reason == "SCENE_NOT_FOUND"


def test_large_messages_in_both_directions(client):
    scene = cube_scene()
    scene.description = "x" * (40 * MIB)
    name = client.create_scene(scene).name
    assert client.get_scene(name).message.description == scene.description


def test_cancelling_reaches_the_server(proxied):
    (metrics,) = free_ports(1)
    with (launch(proxied, f"--metrics=127.0.0.1:{metrics}") as server, server.client() as client,
          client.create_scene(cube_scene()).create_session() as session):
        call = stub_of(server).Step.future(service_pb2.StepRequest(session=session.name, dt_s=1e-4, substeps=MANY_STEPS))
        wait_until(lambda: "eipc_solve_slots_busy 1" in http(metrics, "/metrics")[1], "the step runs")
        call.cancel()
        assert session.state(timeout=PATIENCE_S).step < MANY_STEPS


def test_a_deadline_reaches_the_server(server, client):
    with client.create_scene(cube_scene()).create_session() as session:
        with pytest.raises(eipc.DeadlineExceededError):
            session.step(1e-4, substeps=MANY_STEPS, timeout=0.3)
        assert session.state(timeout=PATIENCE_S).step < MANY_STEPS


# --- calls that end early ----------------------------------------------------------------------------------------------


def test_calls_that_end_at_once_end_no_stream(server, client):
    """gRPC may send the end of a call before its headers, for which HAProxy ends the connection with all that is on it."""
    scene = client.create_scene(cube_scene())
    late = []

    def end_at_once(session):
        for i in range(1000):
            try:
                session.info(timeout=1e-4 + 3e-6 * i)
            except (eipc.DeadlineExceededError, eipc.UnavailableError, eipc.InternalError) as error:  # of one another, too
                late.append(error)

    # Sessions are made before and deleted after: a call that shares a connection with those that end may end with them.
    with (scene.create_session() as first, scene.create_session() as second, scene.create_session() as session,
          session.stream() as stream, futures.ThreadPoolExecutor(2) as pool):
        ending = [pool.submit(end_at_once, one) for one in (first, second)]
        while not all(future.done() for future in ending):
            stream.step(DT)
        for future in ending:
            future.result()
    assert late


def test_a_stream_is_confirmed_before_its_first_request(server):
    """So that a client knows from when on it can cancel it."""
    requests = queue.SimpleQueue()
    call = stub_of(server).StepStream(iter(requests.get, None), timeout=PATIENCE_S)
    call.initial_metadata()
    assert call.is_active()
    requests.put(None)
    assert not list(call)


def test_calls_that_run_out_of_time_end_no_other_call(server, client):
    """gRPC's server would end the stream of such a call twice, for which HAProxy ends the server's connection."""
    scene = client.create_scene(cube_scene())
    late = []

    def run_out_of_time():
        for _ in range(20):
            try:
                session.step(1e-4, substeps=MANY_STEPS, timeout=0.2)
            except eipc.DeadlineExceededError as error:
                late.append(error)

    with scene.create_session() as session, scene.create_session() as other, futures.ThreadPoolExecutor(16) as pool:
        running = [pool.submit(run_out_of_time) for _ in range(16)]
        while not all(future.done() for future in running):
            other.info(timeout=PATIENCE_S)
        for future in running:
            future.result()
    assert len(late) == 320


def test_unknown_methods_are_answered_before_the_server(proxied):
    """And are no flood of calls that were begun and not answered."""
    with launch(proxied, "--proxy-unanswered-rate=50") as server, grpc.insecure_channel(server.address) as channel:
        for path in ("/eipc.v1.SimulationService/Nothing", "/eipc.v2.SimulationService/Step", "/x"):
            for _ in range(100):
                with pytest.raises(grpc.RpcError) as error:
                    channel.unary_unary(path)(b"x" * 50_000, timeout=PATIENCE_S)
                assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED
                assert error.value.details() == "UNIMPLEMENTED: this server has no such method"  # the server's own text is gRPC's


# --- who calls ---------------------------------------------------------------------------------------------------------


def info_as(channel, *metadata):
    stub = service_pb2_grpc.SimulationServiceStub(channel)
    return stub.GetServerInfo(service_pb2.GetServerInfoRequest(), metadata=metadata, timeout=PATIENCE_S)


def refused(channel, *metadata):
    with pytest.raises(grpc.RpcError) as error:
        info_as(channel, *metadata)
    return error.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_nobody_can_claim_a_certificate(proxied, tmp_path):
    access = tmp_path / "access"
    access.write_text("cert robot lab operator\n")
    with launch(proxied, f"--access-file={access}") as server:
        channel = grpc.insecure_channel(server.address)
        assert refused(channel)
        assert refused(channel, ("x-eipc-client-cert", "robot"))
        assert refused(channel, ("x-eipc-client-cert", "robot"), ("x-eipc-client-cert", "robot"))


def logged_peers(server, method):
    lines = (json.loads(line) for line in server.output.splitlines() if line.startswith("{"))
    return [line["peer"] for line in lines if line["event"] == "call" and line["method"] == method]


def test_clients_and_streams_have_connections_of_their_own(server_binary):
    with eipc.launch_server(server_binary, (LOOPBACK, "--log-level=debug"), timeout=60) as server:
        with server.client() as client, server.client() as other:
            with client.create_scene(cube_scene()).create_session() as session, session.stream() as stream:
                stream.step(DT)
            client.server_info()
            other.server_info()
            wait_until(lambda: logged_peers(server, "StepStream") and len(logged_peers(server, "GetServerInfo")) == 2, "all are logged")
        assert len({*logged_peers(server, "StepStream"), *logged_peers(server, "GetServerInfo")}) == 3


@pytest.mark.parametrize("through_proxy", [True, False])
def test_nobody_can_claim_an_address(proxied, server_binary, through_proxy):
    program = proxied if through_proxy else server_binary
    with eipc.launch_server(program, (LOOPBACK, "--log-level=debug"), timeout=60) as server:
        channel = grpc.insecure_channel(server.address)
        info_as(channel, ("x-eipc-peer", "192.0.2.1:99"))
        info_as(channel, ("x-eipc-peer", "192.0.2.1:99"), ("x-eipc-peer", "192.0.2.1:99"))
        wait_until(lambda: len(logged_peers(server, "GetServerInfo")) == 2, "both calls are logged")
        for peer in logged_peers(server, "GetServerInfo"):
            assert peer.startswith("127.0.0.1:" if through_proxy else "ipv4:127.0.0.1:"), peer


def test_the_end_of_an_operation_is_audited(proxied, tmp_path):
    """With what it created, and who began it: an address of the proxy's clients."""
    audit = tmp_path / "audit"
    with launch(proxied, f"--audit-file={audit}") as server:
        stub = stub_of(server)
        scene = cube_scene()
        started = stub.StartCreateScene(service_pb2.CreateSceneRequest(scene=scene))
        done = stub.GetOperation(service_pb2.GetOperationRequest(name=started.name, wait_s=PATIENCE_S))
        broken = stub.StartCreateScene(service_pb2.CreateSceneRequest(scene={}))
        stub.GetOperation(service_pb2.GetOperationRequest(name=broken.name, wait_s=PATIENCE_S))

        def ends():
            lines = [json.loads(line) for line in audit.read_text().splitlines()]
            return {line["source"]: line for line in lines if line["action"] == "create"}

        wait_until(lambda: len(ends()) == 2, "both ends are written")
        made, failed = ends()[started.name], ends()[broken.name]
        assert (made["resource"], made["code"]) == (done.scene.name, "OK")
        assert failed["code"] == "INVALID_ARGUMENT" and not failed.get("resource")
        assert made["peer"].startswith("127.0.0.1:")


def test_a_verified_certificate_names_the_caller(proxied, tls_files, certificates, tmp_path):
    both, authority = tls_files
    keys = eipc.Tls(authority, certificates / "client.pem", certificates / "client.key")
    access = tmp_path / "access"
    access.write_text("cert client lab operator\ncert robot lab operator\n")
    settings = (f"--proxy-cert={both}", f"--proxy-client-ca={authority}", f"--access-file={access}")
    with launch(proxied, *settings) as server:
        with server.client(tls=keys) as client:
            assert client.server_info().build
        with pytest.raises(eipc.UnavailableError):
            server.client(tls=eipc.Tls(authority), timeout=1)
        with pytest.raises(eipc.UnavailableError):
            server.client(timeout=1)
    access.write_text("cert robot lab operator\n")  # the certificate says: client
    with launch(proxied, *settings) as server:
        channel = grpc.secure_channel(server.address, keys.credentials())
        assert refused(channel)
        assert refused(channel, ("x-eipc-client-cert", "robot"))


# --- certificates, health, ends ----------------------------------------------------------------------------------------


def served_certificate(address):
    host, port = address.rsplit(":", 1)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as plain, context.wrap_socket(plain) as tls:
        return tls.getpeercert(binary_form=True)


def test_sighup_changes_certificates_and_ends_no_stream(proxied, tls_files, certificates, tmp_path):
    both, authority = tls_files
    with launch(proxied, f"--proxy-cert={both}") as server, server.client(tls=eipc.Tls(authority)) as client:
        first = served_certificate(server.address)
        with client.create_scene(cube_scene()).create_session() as session, session.stream() as stream:
            assert stream.step(DT).step == 1
            folder = tmp_path / "next"
            shutil.copytree(certificates, folder)
            subprocess.run(["openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                            "-out", "server.pem", "-days", "1", "-extfile", "server.ext"], cwd=folder, check=True,
                           capture_output=True)
            both.write_text((folder / "server.pem").read_text() + (folder / "server.key").read_text())
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: served_certificate(server.address) != first, "the new certificate is served")
            assert [stream.step(DT).step for _ in range(20)] == list(range(2, 22))
            with server.client(tls=eipc.Tls(authority)) as late:
                assert late.session(session.name).info().step == 21


def test_a_broken_certificate_changes_nothing(proxied, tls_files):
    both, authority = tls_files
    with launch(proxied, f"--proxy-cert={both}") as server, server.client(tls=eipc.Tls(authority)) as client:
        both.write_text("no certificate")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the proxy goes on as before" in server.output, "the launcher says so")
        assert client.server_info().build
        assert served_certificate(server.address)


def http(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def test_health_over_http(proxied):
    health, metrics = free_ports(2)
    settings = (f"--proxy-health=127.0.0.1:{health}", f"--metrics=127.0.0.1:{metrics}", "--grace=60")
    with launch(proxied, *settings) as server, server.client() as client:
        wait_until(lambda: http(health, "/healthz") == (200, "ready"), "ready")
        wait_until(lambda: http(health, "/livez") == (200, "alive"), "alive")
        assert "eipc_sessions 0" in http(health, "/metrics")[1]
        assert "haproxy_frontend_current_sessions" in http(health, "/metrics/proxy")[1]
        assert http(health, "/else")[0] == 404
        session = client.create_scene(cube_scene()).create_session()
        call = stub_of(server).Step.future(service_pb2.StepRequest(session=session.name, dt_s=1e-4, substeps=MANY_STEPS))
        wait_until(lambda: "eipc_solve_slots_busy 1" in http(health, "/metrics")[1], "the step runs")
        server.process.terminate()
        wait_until(lambda: http(health, "/healthz")[0] == 503, "not ready while it drains")
        call.cancel()
        assert server.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("program", ["eipc-server", "haproxy"])
def test_when_one_ends_both_end(proxied, program):
    with launch(proxied) as server:
        victims = [pid for pid in descendants(server.process.pid) if Path(f"/proc/{pid}/comm").read_text().strip() == program]
        os.kill(victims[0], signal.SIGKILL)
        assert server.process.wait(PATIENCE_S) == 1
        wait_until(lambda: " has ended" in server.output, "the launcher says which")
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in victims), "nothing of it is left")


def test_nothing_survives_the_launcher(proxied):
    with launch(proxied) as server:
        children = descendants(server.process.pid)
        server.process.kill()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), "server and proxy are gone")


def test_errors_in_settings_are_told_before_anything_starts(proxied):
    with pytest.raises(eipc.ServerStartError, match="PROXY_UNSAFE"):
        eipc.launch_server(proxied, ("--listen=0.0.0.0:0",))
    with pytest.raises(eipc.ServerStartError, match="no setting 'no-such'"):
        launch(proxied, "--no-such=1")


def test_an_address_in_use_is_an_error(proxied, server):
    with pytest.raises(eipc.ServerStartError, match="cannot listen on"):
        eipc.launch_server(proxied, (f"--listen={server.address}", "--log-level=off"), timeout=60)
