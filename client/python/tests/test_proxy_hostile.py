"""The server behind HAProxy (eipc-server-with-proxy): what hostile clients can do."""

import contextlib
import itertools
import queue
import socket
import struct
import threading
from pathlib import Path

import grpc
import pytest

import eipc
from awaiting import wait_until
from eipc.v1 import observation_pb2, service_pb2
from proxy_fixtures import (  # noqa: F401 (fixtures are used by their names)
    MIB, PATIENCE_S, certificates, descendants, launch, proxied, resident_bytes, server, stub_of, tls_files)
from raw_http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, LARGEST_FRAME, PREFACE, RESET, SETTINGS, RawConnection,
                       call_headers, frame, grpc_message, integer)
from server_client import client  # noqa: F401 (fixture)
from test_real_server import DT, cube_scene


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
                with contextlib.suppress(eipc.ResourceExhaustedError):  # the last of those that came at once may just be ending
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
    """gRPC 1.51 would assemble it before it checks its length."""
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
