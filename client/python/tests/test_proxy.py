"""The server behind HAProxy (eipc-server-with-proxy): hostile clients, identity, certificates, health, and how both end."""

import contextlib
import itertools
import json
import os
import queue
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import urllib.error
import urllib.request
from concurrent import futures
from pathlib import Path

import grpc
import pytest

import eipc
from awaiting import wait_until
from eipc.v1 import observation_pb2, service_pb2, service_pb2_grpc
from raw_http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, LARGEST_FRAME, PREFACE, RESET, SETTINGS, RawConnection,
                       call_headers, frame, grpc_message, integer)
from test_real_server import DT, cube_scene

LOOPBACK = "--listen=127.0.0.1:0"
PATIENCE_S = 30
MIB = 1 << 20
MANY_STEPS = 100_000  # longer than any test waits


def launch(binary, *arguments):
    return eipc.launch_server(binary, (LOOPBACK, "--log-level=off", *arguments), timeout=60)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A CA, a server's certificate for localhost, and a client's named arm-1."""
    folder = tmp_path_factory.mktemp("tls")

    def run(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    try:
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out",
            "ca.pem", "-subj", "/CN=test ca", "-days", "2")
    except FileNotFoundError:
        pytest.skip("no openssl command")
    for name, alternative in (("server", "DNS:localhost,IP:127.0.0.1"), ("client", "DNS:arm-1")):
        (folder / f"{name}.ext").write_text(f"subjectAltName={alternative}\n")
        run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out",
            f"{name}.csr", "-subj", f"/CN={name}")
        run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem",
            "-days", "2", "-extfile", f"{name}.ext")
    return folder


@pytest.fixture(scope="module")
def proxied(server_binary):
    if not Path(os.environ.get("EIPC_HAPROXY", "/usr/sbin/haproxy")).exists():
        pytest.skip("haproxy is not installed")
    return server_binary.with_name("eipc-server-with-proxy")


@pytest.fixture(scope="module")
def server(proxied):
    with launch(proxied) as server:
        yield server
    assert server.process.returncode == 0, "SIGTERM must end the server in order:\n" + server.output


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def descendants(process):
    """Process ids of the server and the proxy, whatever their order."""
    children = [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return [*children, *(pid for child in children for pid in descendants(child))]


def resident_bytes(server):
    pages = 0
    for process in descendants(server.process.pid):
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def stub_of(server):
    """On a connection of its own."""
    return service_pb2_grpc.SimulationServiceStub(
        grpc.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]))


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
    scene.display_name = "x" * (40 * MIB)
    name = client.create_scene(scene).name
    assert client.get_scene(name).message.display_name == scene.display_name


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


# --- hostile clients ---------------------------------------------------------------------------------------------------


def endless_header(connection):
    """The beginning of a request with a header of 1 GiB (CVE-2023-33953): what follows in CONTINUATION frames is its value."""
    endless = b"\0" + integer(1, 7) + b"a" + integer(1 << 30, 7)
    connection.socket.sendall(frame(HEADERS, 0, 1, call_headers("GetServerInfo") + endless))


@pytest.mark.parametrize("connections", [1, 3])
def test_headers_without_end_end_their_connection_only(server, client, connections):
    before = resident_bytes(server)
    ended = []

    def attack():
        with RawConnection(server.address) as connection:
            endless_header(connection)
            ended.append(connection.send_until_closed(frame(CONTINUATION, 0, 1, b"x" * LARGEST_FRAME), 64 * MIB))

    attackers = [threading.Thread(target=attack) for _ in range(connections)]
    for attacker in attackers:
        attacker.start()
    for _ in range(20):
        assert client.server_info(timeout=PATIENCE_S).build
        stub_of(server).GetServerInfo(service_pb2.GetServerInfoRequest(), timeout=PATIENCE_S)
    for attacker in attackers:
        attacker.join()
    assert ended == [True] * connections
    assert resident_bytes(server) - before < 64 * MIB


def test_many_small_continuations_end_their_connection_only(server, client):
    with RawConnection(server.address) as connection:
        connection.socket.sendall(frame(HEADERS, 0, 1, call_headers("GetServerInfo")))
        assert connection.send_until_closed(frame(CONTINUATION, 0, 1, b"\0\1a\1b") * 100, 64 * MIB)
    assert client.server_info(timeout=PATIENCE_S).build


def test_too_many_headers_are_refused(server, client):
    with RawConnection(server.address) as connection:
        many = [(b"a%d" % i, b"x") for i in range(200)]
        connection.socket.sendall(frame(HEADERS, END_HEADERS, 1, call_headers("GetServerInfo", *many)))
        kinds = {kind for kind, _, stream, _ in first_frames_of(connection, 1)}
        assert kinds <= {HEADERS, RESET}
    assert client.server_info(timeout=PATIENCE_S).build


def first_frames_of(connection, stream):
    """Up to the end of the stream."""
    for kind, flags, of, payload in connection.frames():
        if of != stream:
            continue
        yield kind, flags, of, payload
        if kind == RESET or flags & 1:
            return


def step_messages(session, count):
    observe = observation_pb2.ObservationRequest(surface_positions=True)
    return count * grpc_message(service_pb2.StepRequest(session=session.name, dt_s=1e-4, observe=observe))


def test_a_client_that_does_not_read_holds_up_nobody(server, client):
    """Neither other clients nor its own other calls: each stream is apart."""
    scene = client.create_scene(cube_scene())
    with scene.create_session() as unread, scene.create_session() as other, scene.create_session() as mine:
        with RawConnection(server.address, initial_window=0) as attacker:
            attacker.call(1, "StepStream", step_messages(unread, 300))
            wait_until(lambda: unread.info().step > 50, "the unread stream has filled what there is to fill")
            for _ in range(20):
                mine.step(DT, timeout=PATIENCE_S)
            with mine.stream() as stream:
                assert len(list(stream.run({"dt": DT} for _ in range(20)))) == 20
            attacker.call(3, "StepStream", step_messages(other, 1), window=1 << 20)
            attacker.call(5, "GetServerInfo", grpc_message(service_pb2.GetServerInfoRequest()), ends=True, window=1 << 20)
            waiting = {3, 5}
            for kind, _, stream, payload in attacker.frames():
                if kind == DATA and payload:
                    waiting.discard(stream)
                if not waiting:
                    break
            assert not waiting


def test_answers_that_nobody_reads_take_no_place_of_others(proxied):
    with launch(proxied, "--max-calls=32") as server, server.client() as client:
        with RawConnection(server.address, initial_window=0) as attacker:
            unanswered = set(range(1, 161, 2))
            for stream in sorted(unanswered):
                attacker.call(stream, "GetServerInfo", grpc_message(service_pb2.GetServerInfoRequest()), ends=True)
            for kind, _, stream, _ in attacker.frames():
                if kind in (HEADERS, RESET):
                    unanswered.discard(stream)
                if not unanswered:
                    break

            def served():
                with contextlib.suppress(eipc.ResourceExhaustedError):  # the last of so many at once may just be ending
                    return client.server_info(timeout=PATIENCE_S).build

            wait_until(served, "the server has places again")
            for _ in range(40):
                assert client.server_info(timeout=PATIENCE_S).build


def closed_by_the_other_side(address, words=b""):
    """After having said no more than that."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as silent:
        silent.sendall(words)
        while silent.recv(1024):
            pass
    return True


def test_connections_that_ask_nothing_are_closed(proxied, tls_files):
    begun = PREFACE + frame(SETTINGS, 0, 0)
    with launch(proxied, "--proxy-handshake-timeout=0.5", "--write-timeout=3600") as server:
        assert closed_by_the_other_side(server.address, begun)
    with launch(proxied, "--write-timeout=0.5") as server:
        assert closed_by_the_other_side(server.address)
    with launch(proxied, "--write-timeout=0.5", f"--proxy-cert={tls_files[0]}") as server:
        assert closed_by_the_other_side(server.address)


def test_an_answer_that_is_not_read_is_given_up(proxied):
    with launch(proxied, "--write-timeout=1") as server, RawConnection(server.address, initial_window=0) as attacker:
        attacker.call(1, "GetServerInfo", grpc_message(service_pb2.GetServerInfoRequest()), ends=True)
        assert len(list(first_frames_of(attacker, 1))) >= 2  # the headers, and the end


def test_a_stream_that_idles_too_long_is_ended(proxied):
    with launch(proxied, "--proxy-idle-timeout=1") as server, server.client() as client:
        with client.create_scene(cube_scene()).create_session() as session:
            requests = queue.SimpleQueue()
            requests.put(service_pb2.StepRequest(session=session.name, dt_s=DT))
            answers = stub_of(server).StepStream(iter(requests.get, None))
            assert next(answers).session_step == 1
            with pytest.raises(grpc.RpcError) as error:
                next(answers)
            requests.put(None)
            assert error.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED), error.value
            assert session.step(DT, timeout=PATIENCE_S).step == 2


def test_streams_that_are_reset_at_once_get_their_address_refused(proxied):
    """CVE-2023-44487."""
    with launch(proxied) as server, server.client() as client, RawConnection(server.address, source="127.0.0.9") as attacker:
        streams = iter(range(1, 400_000, 2))

        def burst():
            headers = call_headers("GetServerInfo")
            return b"".join(frame(HEADERS, END_HEADERS, stream, headers) + frame(RESET, 0, stream, b"\0\0\0\x08")
                            for stream in itertools.islice(streams, 50))

        with pytest.raises(ConnectionError):
            while chunk := burst():
                attacker.socket.sendall(chunk)
        for _ in range(20):
            assert client.server_info(timeout=PATIENCE_S).build


# Of a server that has read none of the messages that are too long; where it reads them, it takes more than 200 MiB.
MOST_WITHOUT_LONG_MESSAGES = 100 * MIB


def server_peak_bytes(server):
    """The most that the server itself, without its proxy, has had resident."""
    peaks = []
    for process in descendants(server.process.pid):
        if Path(f"/proc/{process}/comm").read_text().strip() == "eipc-server":
            status = Path(f"/proc/{process}/status").read_text()
            peaks.append(1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]))
    return max(peaks)


def announced(length):
    """The prefix of a message of that length."""
    return b"\0" + struct.pack(">I", length)


@pytest.mark.parametrize("second", [False, True], ids=["unary", "second of a stream"])
def test_a_message_that_is_too_long_ends_its_call_before_it_is_read(proxied, second):
    """gRPC 1.51 would assemble it before it looks at its length."""
    with launch(proxied, "--memory-mib=256") as server, server.client() as client:
        with client.create_scene(cube_scene()).create_session() as session, RawConnection(server.address) as attacker:
            if second:
                attacker.call(1, "StepStream", step_messages(session, 1), window=1 << 20)
                answered = (payload for kind, _, stream, payload in attacker.frames() if kind == DATA and stream == 1)
                assert next(answered)
                attacker.socket.sendall(frame(DATA, 0, 1, announced(900 * MIB)))
            else:
                attacker.call(1, "CreateScene", announced(900 * MIB))
            ended, bystander = [], threading.Thread(target=lambda: ended.extend(session.step(DT).step for _ in range(20)))
            bystander.start()
            frames = list(first_frames_of(attacker, 1))
            bystander.join(PATIENCE_S)
            assert len(ended) == 20
            assert frames, "the stream has been ended"
            if not second:
                assert any(b"MESSAGE_TOO_LONG" in payload for kind, _, _, payload in frames if kind == HEADERS)
            # The stream is gone: what still comes for it is not kept.
            attacker.send_until_closed(frame(DATA, 0, 1, b"x" * LARGEST_FRAME), 64 * MIB)
            assert client.server_info(timeout=PATIENCE_S).build
        assert server_peak_bytes(server) < MOST_WITHOUT_LONG_MESSAGES


def test_gathering_a_long_message_takes_no_memory(proxied):
    """The same from gRPC's own client, which sends all of it as fast as it is taken."""
    with launch(proxied, "--memory-mib=256") as server, server.client() as client:
        with client.create_scene(cube_scene()).create_session() as session:
            request = service_pb2.CreateSceneRequest()
            request.scene.display_name = "x" * (500 * MIB)
            call = stub_of(server).CreateScene.future(request)
            for _ in range(20):
                session.step(DT, timeout=PATIENCE_S)
            code = call.code()
            assert server_peak_bytes(server) < MOST_WITHOUT_LONG_MESSAGES
            assert code in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.CANCELLED)
            long = service_pb2.StepRequest(session="x" * (500 * MIB))
            answers = stub_of(server).StepStream(iter([service_pb2.StepRequest(session=session.name, dt_s=DT), long]))
            with pytest.raises(grpc.RpcError):
                for answer in answers:
                    assert answer.status_code == 0
            session.step(DT, timeout=PATIENCE_S)
        assert server_peak_bytes(server) < MOST_WITHOUT_LONG_MESSAGES


# A prefix may lie in two frames, and one frame may hold many messages.
@pytest.mark.parametrize("size", [1, 3, 4, 7, 4096])
def test_messages_in_pieces_of_any_size_come_through(server, client, size):
    with client.create_scene(cube_scene()).create_session() as session, RawConnection(server.address) as connection:
        messages = step_messages(session, 20)
        connection.socket.sendall(frame(HEADERS, END_HEADERS, 1, call_headers("StepStream")))
        for at in range(0, len(messages), size):
            connection.socket.sendall(frame(DATA, 0, 1, messages[at:at + size]))
        connection.socket.sendall(frame(DATA, END_STREAM, 1))
        assert not any(kind == RESET for kind, _, _, _ in first_frames_of(connection, 1))
        assert session.info().step == 20


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


@pytest.fixture
def tls_files(certificates, tmp_path):  # noqa: F811
    """The proxy's certificate and key in one file, as HAProxy takes them."""
    both = tmp_path / "proxy.pem"
    both.write_text((certificates / "server.pem").read_text() + (certificates / "server.key").read_text())
    return both, certificates / "ca.pem"


def test_a_verified_certificate_names_the_caller(proxied, tls_files, certificates, tmp_path):  # noqa: F811
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


def test_sighup_changes_certificates_and_ends_no_stream(proxied, tls_files, certificates, tmp_path):  # noqa: F811
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
