"""Stepping in time with the wall clock: with a clock of the test's own, and against a server."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

import eipc
from eipc.real_time import RealTimeLoop
from server_client import client  # noqa: F401 (fixture)
from test_real_server import DT, cube_scene


class Clock:
    """A clock that moves when somebody sleeps, or when it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


class Stepped:
    """Takes steps that last so long each."""

    def __init__(self, clock: Clock, lasts: float) -> None:
        self.clock, self.lasts = clock, lasts
        self.requests: list[dict[str, Any]] = []
        self.at = 0  # where its world is
        self.fails_after: int | None = None  # steps of the next request

    def step(self, dt: float, **options: Any) -> Any:
        self.requests.append(dict(options, dt=dt))
        taken = options["substeps"] if self.fails_after is None else self.fails_after
        self.clock.now += self.lasts * taken
        self.at += taken
        if self.fails_after is not None:
            self.fails_after = None
            raise eipc.DeadlineExceededError("DEADLINE_EXCEEDED", None)
        report = type("Report", (), {"late_steps": int(self.lasts > options["time_limit"]), "limited_by": eipc.StepLimit.NOTHING})
        return type("Answer", (), {"solver_report": report, "step": self.at})


def loop_of(lasts: float, **options: Any) -> tuple[RealTimeLoop, Stepped, Clock]:
    clock = Clock()
    session = Stepped(clock, lasts)
    return RealTimeLoop(session, 0.02, clock=clock, sleep=clock.sleep, **options), session, clock


def test_fast_steps_are_taken_one_by_one_at_their_turns() -> None:
    loop, session, clock = loop_of(0.005, time_limit=0.015)
    for _ in range(50):
        loop.step(targets={"newest": 1})
    assert [request["substeps"] for request in session.requests] == [1] * 50
    assert all(request["targets"] == {"newest": 1} and request["time_limit"] == 0.015 for request in session.requests)
    assert clock.now == pytest.approx(101.0 + 0.005)
    assert loop.timing == type(loop.timing)(steps=50, requests=50)


def test_a_pause_is_caught_up_with_the_newest_command() -> None:
    loop, session, clock = loop_of(0.001, time_limit=0.02)
    loop.step()
    clock.now += 0.1  # five turns pass
    loop.step(targets={"newest": 2})
    loop.step()
    assert [request["substeps"] for request in session.requests] == [1, 5, 1]
    assert session.requests[1]["time_limit"] == pytest.approx(0.004), "the steps share the time of one"
    assert loop.timing.caught_up_steps == 4 and loop.timing.skipped_s == 0
    assert loop.timing.steps * 0.02 == pytest.approx(clock.now - 100, abs=0.02)


def test_steps_of_a_request_that_failed_count() -> None:
    """Of five steps three were taken when the call's deadline passed."""
    loop, session, clock = loop_of(0.001)
    loop.step()
    clock.now += 0.1
    session.fails_after = 3
    with pytest.raises(eipc.DeadlineExceededError):
        loop.step()
    for _ in range(5):
        loop.step()
        assert session.at == loop.timing.steps
    assert session.at * 0.02 == pytest.approx(clock.now - 100, abs=0.02), "what was taken twice was waited for"


def test_a_world_that_is_put_back_after_a_failure_counts_no_steps() -> None:
    loop, session, _ = loop_of(0.001)
    for _ in range(5):
        loop.step()
    session.fails_after = 0
    with pytest.raises(eipc.DeadlineExceededError):
        loop.step()
    session.at = 0
    loop.step()
    assert loop.timing.steps == 6


def test_the_solver_report_is_there_whatever_is_observed() -> None:
    loop, session, _ = loop_of(0.03, time_limit=0.02)
    loop.step(observe=eipc.Observe(solver_report=False, poses=False, energies=True))
    assert session.requests[0]["observe"] == eipc.Observe(poses=False, energies=True) and loop.timing.late_steps == 1


def test_steps_that_are_too_slow_give_up_time_and_count_it() -> None:
    loop, session, clock = loop_of(0.03, time_limit=0.02, most_due=4)
    for _ in range(100):
        loop.step()
    assert max(request["substeps"] for request in session.requests) == 4
    timing = loop.timing
    assert timing.skipped_s > 0 and timing.late_steps == 100
    assert timing.steps * 0.02 + timing.skipped_s == pytest.approx(clock.now - 100, abs=4 * 0.03 + 0.02)


@pytest.mark.parametrize("options", [{"dt": 0}, {"dt": float("nan")}, {"time_limit": -1}, {"time_limit": float("nan")}, {"most_due": 0}])
def test_bad_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        RealTimeLoop(None, **{"dt": 0.02, **options})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch_server(server_binary) as server:
        yield server


def test_a_limit_ends_solves_and_its_steps_are_verified(client, eipc_binary, tmp_path):  # noqa: F811
    with client.create_scene(cube_scene(0.0505)).create_session(record=True) as session:
        cut = session.step(DT, substeps=20, time_limit=1e-9).solver_report
        assert cut.outcome is eipc.Outcome.ITERATION_CAP and cut.limited_by is eipc.StepLimit.TIME
        assert cut.late_steps == 20 and cut.newton_iterations == 20
        whole = session.step(DT, substeps=20, time_limit=60).solver_report
        assert whole.converged and whole.late_steps == 0 and whole.newton_iterations > 0
        (tmp_path / "limited.log").write_bytes(session.recording())
    done = subprocess.run([str(eipc_binary), "verify", str(tmp_path / "limited.log")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_loop_keeps_a_stream_at_wall_clock_time(client):  # noqa: F811
    with client.create_scene(cube_scene()).create_session() as session, session.stream() as stream:
        loop = RealTimeLoop(stream, DT, time_limit=DT)
        while loop.timing.steps < 20:
            now = loop.step()
        assert now.step == loop.timing.steps and now.time_s == pytest.approx(loop.timing.steps * DT)


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(client, limit):  # noqa: F811
    with client.create_scene(cube_scene()).create_session() as session:
        with pytest.raises(eipc.InvalidArgumentError, match="time_limit_s: must be finite"):
            session.step(DT, time_limit=limit)
