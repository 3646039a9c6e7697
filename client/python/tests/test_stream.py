import threading

import pytest

import eipc
import fake_server


def test_ping_pong_steps_in_order(session):
    with session.stream() as stream:
        assert [stream.step(0.02).step for _ in range(5)] == [1, 2, 3, 4, 5]
        assert stream.session_step == 5


def test_run_keeps_a_window_on_the_way_and_yields_in_order(session, servicer):
    in_flight = []
    with session.stream() as stream:
        steps = []
        for observation in stream.run(({"dt": 0.01} for _ in range(10)), window=3):
            in_flight.append(stream.pending)
            steps.append(observation.step)
    assert steps == list(range(1, 11))
    assert max(in_flight) == 2  # three sent, one of them just received
    assert len([r for r in servicer.requests if getattr(r, "dt_s", 0) == 0.01]) == 10


def test_a_failed_request_raises_and_the_stream_goes_on(session):
    with session.stream() as stream:
        for dt in (0.02, -1, 0.02):
            stream.send(dt)
        assert stream.receive().step == 1
        with pytest.raises(eipc.InvalidArgumentError, match="INVALID_DT"):
            stream.receive()
        assert stream.receive().step == 2
        assert stream.session_step == 2


def test_sent_steps_are_taken_even_if_never_received(session, servicer):
    with session.stream() as stream:
        for _ in range(4):
            stream.send(0.02)
    assert servicer.steps == 4


def test_misuse_is_refused(session):
    with session.stream() as stream:
        with pytest.raises(eipc.FailedPreconditionError):
            stream.receive()
        stream.send(0.02)
        with pytest.raises(eipc.FailedPreconditionError):
            stream.step(0.02)
    with pytest.raises(eipc.FailedPreconditionError, match="closed"):
        stream.send(0.02)


def test_a_broken_stream_raises_the_servers_status(session):
    with session.stream() as stream:
        with pytest.raises(eipc.InternalError, match="BROKEN"):
            stream.step(99)
        with pytest.raises(eipc.InternalError):
            stream.send(0.02)


def test_an_answer_that_never_comes_times_out(session):
    with session.stream(timeout=0.2) as stream:
        with pytest.raises(eipc.DeadlineExceededError):
            stream.step(98)


def test_what_is_done_meanwhile_is_done_before_the_answer(session, monkeypatch):
    gate, recorded = threading.Event(), fake_server.recorded_observation

    def held(step, dt):
        assert gate.wait(10)
        return recorded(step, dt)

    monkeypatch.setattr(fake_server, "recorded_observation", held)
    with session.stream() as stream:
        for step in (1, 2):
            gate.clear()
            assert stream._take(session._step_request(0.02), meanwhile=gate.set).step == step
            assert gate.is_set()


def test_a_broken_stream_does_what_was_to_be_done_meanwhile_and_raises(session):
    done = []
    with session.stream() as stream:
        with pytest.raises(eipc.InternalError, match="BROKEN"):
            stream._take(session._step_request(99), meanwhile=lambda: done.append(1))
    assert done == [1]


def test_what_is_done_meanwhile_raises_in_place_of_the_answer(session):
    def fails():
        raise KeyError("mine")

    with session.stream() as stream:
        with pytest.raises(KeyError, match="mine"):
            stream._take(session._step_request(0.02), meanwhile=fails)
        assert stream.pending == 0 and stream.step(0.02).step == 2


def test_what_is_done_meanwhile_is_done_once(session):
    done = []
    with session.stream() as stream:
        for step in range(1, 30):
            assert stream._take(session._step_request(0.02).SerializeToString(), meanwhile=lambda: done.append(stream.pending)).step == step
    assert len(done) == 29


def test_an_error_in_the_block_cancels_the_stream(session):
    with pytest.raises(KeyError):
        with session.stream() as stream:
            stream.send(98)
            raise KeyError("mine")


def test_a_stream_is_cancelled_once_the_server_has_confirmed_it(session, servicer):
    """gRPC might send the cancellation before the call itself, for which a proxy ends the connection."""
    stream = session.stream()
    stream.send(97)
    stream.close(cancel=True)
    assert [servicer.stream_events.get(timeout=10) for _ in range(2)] == ["confirmed", "cancelled"]
