"""The viewer of a real server: what it serves, whom it lets in, what it refuses, and that watching costs a session nothing."""

import hashlib
import json
import socket
import struct

import pytest

import eipc
from awaiting import wait_until
from eipc.v1 import geometry_pb2, observation_pb2, service_pb2, viewer_pb2
from small_grasp import scene as small_scene
from web_socket import CLOSE, TEXT, Refused, WebSocket, ask_for_socket, read_response, request

TOKENS = {"operator-a": ("alpha", "operator"), "viewer-a": ("alpha", "viewer"), "operator-b": ("beta", "operator")}
OBSERVE = observation_pb2.ObservationRequest(cage_positions=True, poses=True, positions_dtype=geometry_pb2.FLOAT32)
MOST_OPEN_REQUESTS, MOST_WAITING_BYTES = 32, 2**20  # of ViewClient
MOST_SUBSTEPS = 100_000  # of the server
POLICY_VIOLATION, TOO_BIG, PROTOCOL_ERROR, NO_TEXT = 1008, 1009, 1002, 1003


def port_of(server):
    return int(server.viewer_url.rstrip("/").rpartition(":")[2])


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary, ["--listen=127.0.0.1:0", "--viewer=127.0.0.1:0", "--log-level=off"]) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(server_binary, tmp_path_factory):
    file = tmp_path_factory.mktemp("access") / "access"
    file.write_text("".join(f"token {hashlib.sha256(token.encode()).hexdigest()} {tenant} {role}\n" for token, (tenant, role) in TOKENS.items()))
    with eipc.launch(server_binary, ["--listen=127.0.0.1:0", "--viewer=127.0.0.1:0", f"--access-file={file}", "--log-level=off"]) as running:
        yield running


def cookie_of(port, token):
    status, headers, _ = request(port, "POST", "/sign-in", {"Origin": f"http://127.0.0.1:{port}"}, token.encode())
    assert status == 204
    return headers["set-cookie"].split(";")[0]


def watch(session, number=1, **options):
    return viewer_pb2.ViewerRequest(id=number, watch=viewer_pb2.ViewerWatch(session=session, observe=OBSERVE, **options))


def close_code(page):
    opcode, payload = page.receive()
    while opcode not in (CLOSE,):
        opcode, payload = page.receive()
    return struct.unpack(">H", payload[:2])[0] if payload else None


def lives(port):
    status, _, body = request(port, path="/status")
    return status == 200 and "signed_in" in json.loads(body)


def test_the_page_comes_with_a_policy_that_lets_no_inline_code_run(server):
    status, headers, _ = request(port_of(server))
    assert status == 200 and headers["content-type"].startswith("text/html")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff"
    assert request(port_of(server), path="/viewer.css?x")[0] in (200, 404)
    assert request(port_of(server), path="/../../etc/passwd")[0] == 404
    assert request(port_of(server), "PUT")[0] == 405


def test_a_server_without_the_page_says_how_to_build_it(server_binary, tmp_path):
    with eipc.launch(server_binary, ["--listen=127.0.0.1:0", "--viewer=127.0.0.1:0", f"--viewer-page={tmp_path}"]) as running:
        assert "the page was not built" in running.output
        status, _, body = request(port_of(running))
        assert status == 200 and b"./dev viewer" in body


@pytest.mark.parametrize("address, words", [("0.0.0.0:0", "only loopback"), ("unix:/tmp/x", "HOST:PORT"), ("nowhere", "HOST:PORT")])
def test_addresses_that_others_could_reach_are_refused(server_binary, address, words):
    with pytest.raises(eipc.ServerStartError, match=words):
        eipc.launch(server_binary, ["--listen=127.0.0.1:0", f"--viewer={address}"])


def test_an_origin_of_a_proxy_needs_known_callers(server_binary):
    with pytest.raises(eipc.ServerStartError, match="access-file"):
        eipc.launch(server_binary, ["--listen=127.0.0.1:0", "--viewer", "--viewer-origin=https://sim.example.org"])


def test_other_names_and_origins_are_refused(server):
    port = port_of(server)
    assert request(port, headers={"Host": "evil.example"})[0] == 421
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": ""}, {"Host": "evil.example"}):
        with pytest.raises(Refused) as refused:
            WebSocket(port, headers)
        assert refused.value.status in (403, 421)
    assert request(port, "POST", "/sign-in", {"Origin": "https://evil.example"})[0] == 403
    with WebSocket(port, {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}):
        pass


def test_watching_sends_the_map_once_and_then_cages(server):
    with server.client() as client, WebSocket(port_of(server)) as page:
        with client.create_scene(small_scene()).create_session() as session:
            page.ask(watch(session.name))
            scene = viewer_pb2.ViewerScene.FromString(page.answer(1).response)
            body = next(body for body in scene.bodies if body.HasField("nodes"))
            first = page.next().frame
            seen = observation_pb2.Observation.FromString(first.observation)
            assert (seen.step, first.world, first.dropped) == (0, 0, 0)
            cage = next(found for found in seen.bodies if found.name == body.name).cage_positions
            assert cage.shape[1] == 3 and max(body.nodes.data) >= 0 and body.weights.shape[1] == 4
            session.step(0.01)
            assert observation_pb2.Observation.FromString(page.next().frame.observation).step == 1
            session.reset()
            assert observation_pb2.Observation.FromString(page.next().frame.observation).step == 0


def test_a_watch_ends_with_its_session(server):
    with server.client() as client, WebSocket(port_of(server)) as page:
        scene = client.create_scene(small_scene())
        session = scene.create_session()
        with scene.create_session() as other:
            page.ask(watch(session.name))
            page.ask(watch(other.name, number=2))
            page.answer(1), page.answer(2)
            session.delete()
            ended = page.answer(1)
            assert ended.status_code == 5 and ended.status_message.startswith("SESSION_NOT_FOUND: ")
            other.step(0.01)
            step = 0
            while step < 1:
                frame = page.next().frame
                assert frame.watch == 2, "nothing more comes of the one that has ended"
                step = observation_pb2.Observation.FromString(frame.observation).step
            page.ask(viewer_pb2.ViewerRequest(id=3, unwatch=1))
            assert page.answer(3).status_code == 5


def test_a_page_that_reads_late_sees_the_present_and_how_much_it_missed(server):
    with server.client() as client, WebSocket(port_of(server)) as page:
        with client.create_scene(small_scene()).create_session() as session:
            page.ask(watch(session.name, frames_per_s=1))
            page.answer(1)
            assert observation_pb2.Observation.FromString(page.next().frame.observation).step == 0
            for _ in range(20):
                session.step(0.002)
            shown, step = 0, 0
            while step < 20:  # "the last one is shown after all", and before it one a second that the steps take
                frame = page.next().frame
                shown, step = shown + 1, observation_pb2.Observation.FromString(frame.observation).step
            assert step == 20 and frame.dropped == 20 - shown > 0


def test_calls_of_the_service_are_answered_in_order(server):
    with server.client() as client, WebSocket(port_of(server)) as page:
        with client.create_scene(small_scene()).create_session() as session:
            for number in range(1, 9):
                page.ask(viewer_pb2.ViewerRequest(id=number, call=viewer_pb2.ViewerCall(
                    method="Step", request=service_pb2.StepRequest(session=session.name, dt_s=0.01).SerializeToString())))
            steps = [service_pb2.StepResponse.FromString(page.next().answer.response).session_step for _ in range(8)]
            assert steps == list(range(1, 9))
        answer = page.call(9, "Step", service_pb2.StepRequest(session=session.name, dt_s=0.01))
        assert answer.status_code == 5 and answer.status_message.startswith("SESSION_NOT_FOUND")
        for method in ("StepStream", "NoSuch", "../Health/Check"):
            assert page.call(10, method, service_pb2.StepRequest()).status_code == 12


def test_tokens_tickets_and_roles(guarded):
    port = port_of(guarded)
    status, _, body = request(port, path="/status")
    assert json.loads(body) == {"signed_in": False, "needs_token": True}
    with pytest.raises(Refused) as refused:
        WebSocket(port)
    assert refused.value.status == 401
    assert request(port, path="/recording?session=sessions/1")[0] == 401
    assert request(port, "POST", "/sign-in", {"Origin": f"http://127.0.0.1:{port}"}, b"wrong")[0] == 401
    assert request(port, "POST", "/ticket")[0] == 401

    status, headers, _ = request(port, "POST", "/sign-in", {"Origin": f"http://127.0.0.1:{port}"}, b"operator-a\n")
    assert status == 204 and "HttpOnly" in headers["set-cookie"] and "SameSite=Strict" in headers["set-cookie"]
    assert "operator-a" not in headers["set-cookie"]

    ticket = json.loads(request(port, "POST", "/ticket", {"Authorization": "Bearer viewer-a"})[2])["ticket"]
    status, headers, _ = request(port, path=f"/?ticket={ticket}")
    assert status == 303 and headers["location"] == "/"
    cookie = headers["set-cookie"].split(";")[0]
    assert json.loads(request(port, path="/status", headers={"Cookie": cookie})[2])["role"] == "viewer"
    assert "set-cookie" not in request(port, path=f"/?ticket={ticket}")[1]
    request(port, "POST", "/sign-out", {"Origin": f"http://127.0.0.1:{port}", "Cookie": cookie})
    with pytest.raises(Refused):
        WebSocket(port, {"Cookie": cookie})


def test_tenants_see_their_own_and_viewers_do_not_drive(guarded):
    port = port_of(guarded)
    with eipc.connect(guarded.address, token="operator-a") as client:
        with client.create_scene(small_scene()).create_session(record=True) as session:
            with WebSocket(port, {"Cookie": cookie_of(port, "operator-b")}) as other:
                other.ask(watch(session.name))
                assert other.answer(1).status_message.startswith("SESSION_NOT_FOUND")
            with WebSocket(port, {"Cookie": cookie_of(port, "viewer-a")}) as looker:
                looker.ask(watch(session.name))
                assert looker.answer(1).status_code == 0
                answer = looker.call(2, "Step", service_pb2.StepRequest(session=session.name, dt_s=0.01))
                assert answer.status_message.startswith("PERMISSION_DENIED")
            cookie = cookie_of(port, "operator-a")
            status, headers, recording = request(port, path=f"/recording?session={session.name}", headers={"Cookie": cookie})
            assert status == 200 and recording == session.recording() and "attachment" in headers["content-disposition"]
            assert request(port, path=f"/recording?session={session.name}", headers={"Cookie": cookie_of(port, 'operator-b')})[0] == 404


def keep_busy(page, session):
    """A call that lasts as long as the page is there: the page's later calls wait for it, and watches of the session do."""
    step = service_pb2.StepRequest(session=session.name, dt_s=0.01, substeps=MOST_SUBSTEPS)
    page.ask(viewer_pb2.ViewerRequest(id=1000, call=viewer_pb2.ViewerCall(method="Step", request=step.SerializeToString())))


def refused_with(port, send, *codes):
    with WebSocket(port) as page:
        send(page)
        assert close_code(page) in codes
    assert lives(port)


def test_malformed_and_oversized_frames_end_only_their_connection(server):
    port = port_of(server)
    refused_with(port, lambda page: page.send(b"text", TEXT), NO_TEXT)
    refused_with(port, lambda page: page.send(b"\xff\xff\xff"), POLICY_VIOLATION)
    refused_with(port, lambda page: page.send(b""), POLICY_VIOLATION)
    refused_with(port, lambda page: page.send(viewer_pb2.ViewerRequest(id=1).SerializeToString()), POLICY_VIOLATION)
    refused_with(port, lambda page: page.send(bytes(300_000)), TOO_BIG)
    # Only the header of a frame of 2^62 bytes; an unmasked frame; a reserved operation.
    refused_with(port, lambda page: page.send_raw(bytes([0x82, 0xFF]) + struct.pack(">Q", 1 << 62) + bytes(4)), TOO_BIG, PROTOCOL_ERROR)
    refused_with(port, lambda page: page.send_raw(bytes([0x82, 0x01, 0x00])), PROTOCOL_ERROR)
    refused_with(port, lambda page: page.send_raw(bytes([0x83, 0x80, 0, 0, 0, 0])), PROTOCOL_ERROR)


def test_open_requests_are_bounded(server):
    with server.client() as client, client.create_scene(small_scene()).create_session() as session:

        def fill(page):
            keep_busy(page, session)
            for number in range(1, MOST_OPEN_REQUESTS + 1):
                page.ask(watch(session.name, number))

        refused_with(port_of(server), fill, POLICY_VIOLATION)


def test_watches_are_bounded(server):
    with server.client() as client, WebSocket(port_of(server)) as page:
        with client.create_scene(small_scene()).create_session() as session:
            for number in range(1, 10):
                page.ask(watch(session.name, number))
                assert (page.answer(number).status_code == 0) == (number <= 8)
            page.ask(viewer_pb2.ViewerRequest(id=20, unwatch=3))
            assert page.answer(20).status_code == 0
            for number, options in ((21, {"worlds": [7]}), (22, {"worlds": [0, 0]}), (23, {"frames_per_s": 1e9}), (24, {"frames_per_s": float("nan")})):
                page.ask(watch(session.name, number, **options))
                assert page.answer(number).status_code == 3
            pictures = watch(session.name, 25)
            pictures.watch.observe.cameras.add(name="side", width=8, height=8, fov_y_rad=1, depth=True)
            page.ask(pictures)
            refused = page.answer(25)
            assert refused.status_code == 3 and "observe.cameras: must be empty" in refused.status_message


def test_malformed_requests_of_http_are_refused(server):
    port = port_of(server)
    for sent in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: " + b"y" * 40_000 + b"\r\n\r\n",
                 f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 10000000\r\n\r\n".encode()):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(sent)
            try:
                answer = connection.recv(4096)
            except ConnectionError:
                answer = b""
            assert answer == b"" or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
    assert lives(port)


def test_a_chunk_extension_without_end_is_refused(server):
    port = port_of(server)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n\r\n1;".encode())
        sent, piece = 0, b"x" * 65536
        try:
            while sent < 64 * 2**20:
                connection.sendall(piece)
                sent += len(piece)
        except (ConnectionError, TimeoutError):
            pass
        assert sent < 16 * 2**20, "the server reads on, and keeps what it reads"
    assert lives(port)


def test_requests_that_wait_are_bounded(server):
    with server.client() as client, client.create_scene(small_scene()).create_session() as session:

        def fill(page):
            keep_busy(page, session)
            call = viewer_pb2.ViewerCall(method="CreateScene", request=bytes(MOST_WAITING_BYTES // 5))
            for number in range(1, 7):
                page.send(viewer_pb2.ViewerRequest(id=number, call=call).SerializeToString())

        refused_with(port_of(server), fill, POLICY_VIOLATION)


def test_a_thousand_connections_disturb_nobody(server):
    port = port_of(server)
    with server.client() as client, WebSocket(port) as page, client.create_scene(small_scene()).create_session() as session:
        page.ask(watch(session.name))
        page.answer(1)
        page.next()
        crowd = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(1000)]
        try:
            session.step(0.01)
            assert observation_pb2.Observation.FromString(page.next().frame.observation).step == 1
        finally:
            for connection in crowd:
                connection.close()
        wait_until(lambda: lives(port), "the server answers again when the crowd is gone")


def test_a_thousand_handshakes_are_bounded_and_disturb_nobody(server):
    port = port_of(server)
    with server.client() as client, WebSocket(port) as page, client.create_scene(small_scene()).create_session() as session:
        page.ask(watch(session.name))
        page.answer(1)
        page.next()
        crowd, statuses = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(1000)], []
        try:
            for connection in crowd:
                ask_for_socket(connection, port)
            session.step(0.01)
            assert observation_pb2.Observation.FromString(page.next().frame.observation).step == 1
            for connection in crowd:
                try:
                    statuses.append(read_response(connection)[0])
                except ConnectionError:
                    statuses.append(None)  # beyond the connections that the server holds
        finally:
            for connection in crowd:
                connection.close()
        assert statuses.count(101) <= 64 and set(statuses) <= {101, 503, None}
        wait_until(lambda: lives(port), "the server answers again when the crowd is gone")


@pytest.mark.parametrize("addresses", [1, 5], ids=["one address", "five addresses"])
def test_idle_strangers_keep_nobody_out_and_are_closed(guarded, addresses):
    """More connections that say nothing than there are places, held open: somebody with a token signs in, and a page that is open stays."""
    port = port_of(guarded)
    with WebSocket(port, {"Cookie": cookie_of(port, "operator-a")}) as before:
        crowd = [socket.create_connection(("127.0.0.1", port), 30, (f"127.0.0.{2 + k % addresses}", 0)) for k in range(400)]
        try:
            assert lives(port)
            with WebSocket(port, {"Cookie": cookie_of(port, "operator-b")}) as page:
                for each in (before, page):
                    assert each.call(1, "GetServerInfo", service_pb2.GetServerInfoRequest()).status_code == 0
            for connection in crowd:
                assert gone(connection), "a connection that says nothing is not closed"
        finally:
            for connection in crowd:
                connection.close()


def gone(connection):
    """Whether the server ends a connection: it has much less than the 30 s that this waits."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_pages_beyond_the_bound_are_refused(server):
    port = port_of(server)
    pages = []
    try:
        with pytest.raises(Refused) as refused:
            for _ in range(70):
                pages.append(WebSocket(port))
        assert refused.value.status == 503 and len(pages) >= 60
    finally:
        for page in pages:
            page.close()


def test_a_page_that_reads_nothing_holds_up_no_step(server):
    with server.client() as client, WebSocket(port_of(server), receive_buffer=4096) as page:
        with client.create_scene(small_scene()).create_session() as session:
            page.ask(watch(session.name, frames_per_s=120))
            for _ in range(200):
                session.step(0.001)
            assert session.state().step == 200


def test_a_watch_that_is_ended_before_it_begins_does_not_begin(server):
    port = port_of(server)
    answered = {}  # the first watches may be answered before the busy call has the session
    with server.client() as client, client.create_scene(small_scene()).create_session() as session, WebSocket(port) as page:
        with WebSocket(port) as busy:
            keep_busy(busy, session)
            for number in range(1, 13):  # more than a page may have
                page.ask(watch(session.name, number))
                page.ask(viewer_pb2.ViewerRequest(id=100 + number, unwatch=number))
            await_answers(page, range(101, 113), answered)
            assert {answered[number].status_code for number in range(101, 113)} == {0}, "a watch that has not begun is ended, too"
        for number in range(200, 208):
            page.ask(watch(session.name, number))
        await_answers(page, [*range(1, 13), *range(200, 208)], answered)
        assert all(answered[number].status_code == 0 for number in range(200, 208)), "those that were ended take no places"


def await_answers(page, numbers, answered):
    """Adds answers by their requests until all of these have one."""
    while not answered.keys() >= set(numbers):
        message = page.next()
        if message.WhichOneof("content") == "answer":
            answered[message.answer.id] = message.answer
