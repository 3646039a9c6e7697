"""Clients of policy servers, against small servers that speak OpenPI's and GR00T's formats."""

import numpy as np
import pytest

from eipc.remote import ActionChunks, Gr00tPolicy, OpenPiPolicy
from eipc.remote.errors import PolicyServerError

CHUNK = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def openpi():
    pytest.importorskip("websockets", reason="python3-websockets is not installed (./dev setup policies)")
    pytest.importorskip("msgpack", reason="python3-msgpack is not installed (./dev setup policies)")
    from policy_servers import OpenPiServer
    return OpenPiServer


@pytest.fixture
def gr00t():
    pytest.importorskip("zmq", reason="python3-zmq is not installed (./dev setup policies)")
    pytest.importorskip("msgpack", reason="python3-msgpack is not installed (./dev setup policies)")
    from policy_servers import Gr00tServer
    return Gr00tServer


def test_openpi_observes_and_acts(openpi):
    with openpi(lambda seen: {"actions": CHUNK + 100 * len(server.seen), "server_timing": {"infer_ms": 1.5}}) as server:
        with OpenPiPolicy(port=server.port, prompt="lift the bear", horizon=2) as policy:
            assert policy.metadata == {"model": "small", "image_size": 224}
            state = np.linspace(0, 1, 26)
            acted = [policy.act(state) for _ in range(3)]
            np.testing.assert_array_equal(acted, [CHUNK[0] + 100, CHUNK[1] + 100, CHUNK[0] + 200])
            policy.reset(seed=1)  # what is left of the chunk belongs to the last episode
            np.testing.assert_array_equal(policy.act(state), CHUNK[0] + 300)
            assert repr(policy) == f"OpenPiPolicy(ws://127.0.0.1:{server.port}, prompt 'lift the bear')"
        np.testing.assert_array_equal(server.seen[0]["observation/state"], state.astype(np.float32))
        assert server.seen[0]["observation/state"].dtype == np.float32 and server.seen[0]["prompt"] == "lift the bear"


def test_openpi_sends_pictures_and_numbers_as_they_are(openpi):
    picture = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
    with openpi(lambda seen: {"actions": np.asfortranarray(CHUNK.T)[:, 0]}) as server:
        observation = {"observation/image": picture[:, ::2], "observation/gripper": 0.5}
        with OpenPiPolicy(port=server.port, observation=lambda seen: observation, api_key=None) as policy:
            np.testing.assert_array_equal(policy.act(None), CHUNK[0])
    np.testing.assert_array_equal(server.seen[0]["observation/image"], picture[:, ::2])
    assert server.seen[0]["observation/gripper"] == 0.5


def test_openpi_takes_a_key(openpi):
    with openpi(lambda seen: {"actions": CHUNK}, api_key="secret") as server:
        with OpenPiPolicy(port=server.port, api_key="secret") as policy:
            policy.act(np.zeros(3))
        with pytest.raises(PolicyServerError, match="cannot be reached"):
            OpenPiPolicy(port=server.port, api_key="wrong")


@pytest.mark.parametrize("answer, words", [
    ("Traceback: no such key", "failed: Traceback: no such key"), ({"action": CHUNK}, "answered without actions; it has: action"),
    ({"actions": CHUNK[None]}, "shape (1, 3, 4)"), ({"actions": np.full((1, 4), np.nan)}, "not finite"), (b"\xc1", "cannot be read"),
    ({"actions": np.empty((0, 4))}, "shape (0, 4)"), (None, "no answer from the policy server")])
def test_openpi_errors_say_what_came(openpi, answer, words):
    with openpi(lambda seen: answer) as server, OpenPiPolicy(port=server.port, timeout=1.0) as policy:
        with pytest.raises(PolicyServerError) as refused:
            policy.act(np.zeros(3))
    assert words in str(refused.value)


def test_nobody_there_is_said(openpi, gr00t):
    with pytest.raises(PolicyServerError, match="ws://127.0.0.1:1 cannot be reached"):
        OpenPiPolicy(port=1)
    with pytest.raises(PolicyServerError, match="no answer from the policy server at tcp://127.0.0.1:1 within 0.2 s"):
        Gr00tPolicy(port=1, timeout=0.2)


def test_gr00t_observes_and_acts(gr00t):
    actions = {"gripper": CHUNK[None, :, :1], "arm": CHUNK[None, :, 1:]}
    with gr00t(lambda seen: (actions, {"steps": 3})) as server:
        with Gr00tPolicy(port=server.port, language="lift the bear", keys=("gripper", "arm"), horizon=2) as policy:
            policy.reset(seed=5)
            state = np.linspace(0, 1, 26)
            np.testing.assert_array_equal([policy.act(state) for _ in range(3)], [CHUNK[0], CHUNK[1], CHUNK[0]])
            assert repr(policy) == f"Gr00tPolicy(tcp://127.0.0.1:{server.port}, language 'lift the bear')"
    assert [request["endpoint"] for request in server.requests] == ["ping", "reset", "get_action", "get_action"]
    assert "data" not in server.requests[0] and server.requests[1]["data"] == {"options": {"seed": 5}}
    observation = server.requests[2]["data"]["observation"]
    np.testing.assert_array_equal(observation["state"]["state"], state.astype(np.float32)[None, None])
    assert observation["language"] == {"task": [["lift the bear"]]} and server.requests[2]["data"]["options"] is None


def test_gr00t_takes_a_token(gr00t):
    with gr00t(lambda seen: ({"a": CHUNK}, {}), token="secret") as server:
        with Gr00tPolicy(port=server.port, api_token="secret") as policy:
            np.testing.assert_array_equal(policy.act(np.zeros(3)), CHUNK[0])
        with pytest.raises(PolicyServerError, match="Unauthorized"):
            Gr00tPolicy(port=server.port)


@pytest.mark.parametrize("answer, words", [
    ({"error": "no such key"}, "failed: no such key"), (({"b": CHUNK}, {}), "answered no 'a'; it has: b"), (([], {}), "not a map of actions"),
    (({"a": CHUNK[0]}, {}), "shape (4,)"), (b"\xc1", "cannot be read")])
def test_gr00t_errors_say_what_came(gr00t, answer, words):
    with gr00t(lambda seen: answer) as server, Gr00tPolicy(port=server.port, keys=("a",)) as policy:
        with pytest.raises(PolicyServerError) as refused:
            policy.act(np.zeros(3))
    assert words in str(refused.value)


def test_gr00t_goes_on_after_a_silence(gr00t):
    answers = [None, ({"a": CHUNK}, {})]
    with gr00t(lambda seen: answers.pop(0)) as server, Gr00tPolicy(port=server.port, timeout=0.5) as policy:
        with pytest.raises(PolicyServerError, match="no answer"):
            policy.act(np.zeros(3))
        np.testing.assert_array_equal(policy.act(np.zeros(3)), CHUNK[0])


def test_no_objects_are_sent_or_read(openpi, gr00t):
    from eipc.remote import packing
    for pack in (packing.pack_openpi, packing.pack_gr00t):
        for wrong in (np.array([{}]), np.array([1j]), np.zeros(1, dtype=[("a", "f4")]), object()):
            with pytest.raises(PolicyServerError, match="cannot be sent"):
                pack({"x": wrong})
    with pytest.raises(PolicyServerError):
        packing.unpack_openpi(packing._msgpack().packb({b"__ndarray__": True, b"data": b"12345678", b"dtype": "|O", b"shape": [1]}))
    scalar = packing.unpack_openpi(packing.pack_openpi({"x": np.float32(1.5)}))["x"]
    assert scalar == 1.5 and scalar.dtype == np.float32


def test_a_horizon_is_positive():
    with pytest.raises(ValueError, match="horizon is 0"):
        ActionChunks(lambda seen: CHUNK, horizon=0)
