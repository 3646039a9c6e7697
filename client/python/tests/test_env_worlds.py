"""What carries environments: requests made of bytes, worlds that survive their server, digests that do not depend on threads."""

import signal

import grpc
import numpy as np
import pytest

import eipc
from eipc.envs import EipcVectorEnv, make_vec, servers
from eipc.envs.batch_request import BatchRows, batch_request
from eipc.envs.history import History
from eipc.v1 import service_pb2
from small_grasp import small_task


def test_rows_say_what_messages_would():
    frames = [("left", "base"), ("right", "")]
    rows = BatchRows(300, frames, 0.01, eipc.Observe(bodies=["x"]), eipc.Interpolation.MINIMUM_JERK)
    random = np.random.default_rng(0)
    begin, end = random.normal(size=(2, 3, 2, 7))
    begin[0] = 0
    worlds, substeps = np.array([0, 7, 299]), np.array([1, 2, 200])
    request = service_pb2.StepBatchRequest.FromString(batch_request("sessions/1", "once", rows.make(worlds, begin, end, substeps)))
    assert request.session == "sessions/1" and request.request_id == "once" and len(request.steps) == 3
    for k, step in enumerate(request.steps):
        assert (step.world, step.substeps, step.dt_s) == (worlds[k], substeps[k], 0.01)
        assert list(step.observe.bodies) == ["x"]
        assert [(t.body, t.boundary_set) for t in step.trajectories] == frames
        for f, target in enumerate(step.trajectories):
            assert target.trajectory.interpolation == eipc.Interpolation.MINIMUM_JERK.value
            first, last = target.trajectory.keyframes
            assert first.time_s == 0 and last.time_s == pytest.approx(0.01 * substeps[k])
            for key, pose in ((first, begin[k, f]), (last, end[k, f])):
                p, q = key.pose.position_m, key.pose.quaternion
                np.testing.assert_array_equal([p.x, p.y, p.z, q.w, q.x, q.y, q.z], pose)


def test_history_repeats_what_each_world_needs_and_no_more():
    history = History(3, snapshot_every=3)
    row = lambda *numbers: np.array(numbers, dtype=np.uint8)[:, None]  # noqa: E731
    digest = np.array(["a", "b", "c"], dtype=object)
    history.add(np.array([0, 1, 2]), row(10, 11, 12), digest)
    history.forget(1)
    history.add(np.array([1, 2]), row(21, 22), digest)
    repeated = [(worlds.tolist(), rows[:, 0].tolist()) for worlds, rows in history.since_snapshots()]
    assert repeated == [([0, 2], [10, 12]), ([1, 2], [21, 22])] and not history.due
    assert history.moved(1) and history.digest.tolist() == ["a", "b", "c"]
    history.add(np.array([0]), row(30), digest)
    assert history.due
    history.keep([b"0", b"1", b"2"])
    assert not history.due and list(history.since_snapshots()) == []
    history.forget(2)
    history.add(np.array([0, 2]), row(40, 42), digest)
    assert dict(history.snapshots()) == {0: b"0", 1: b"1"}
    assert [worlds.tolist() for worlds, _ in history.since_snapshots()] == [[0, 2]]


def digests(env, steps=12, seed=0, at_step=lambda step: None):
    """Of every world after every step of a random policy."""
    random = np.random.default_rng(seed)
    rows = [env.reset(seed=seed)[1]["state_digest"]]
    for step in range(steps):
        at_step(step)
        rows.append(env.step(random.uniform(-1, 1, (env.num_envs, 4)))[4]["state_digest"])
    return np.stack(rows)


def short_task(client):
    return small_task(client, max_episode_steps=5)


@pytest.fixture
def own_server(server_binary, monkeypatch):
    monkeypatch.setenv("EIPC_SERVER", str(server_binary))


def test_digests_do_not_depend_on_threads_or_on_the_server(own_server):
    with EipcVectorEnv(short_task, 3, threads=1) as env:
        alone = digests(env)
    with EipcVectorEnv(short_task, 3, threads=2, server=None) as env:  # another server: the first was stopped with its last user
        np.testing.assert_array_equal(digests(env), alone)


def kill(env):
    process = env._connection.process.process
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("snapshot_every", [0, 4])
@pytest.mark.parametrize("autoreset_mode", ["NEXT_STEP", "SAME_STEP"])
def test_a_server_that_is_killed_costs_nothing(own_server, snapshot_every, autoreset_mode):
    options = {"snapshot_every": snapshot_every, "autoreset_mode": autoreset_mode}
    with EipcVectorEnv(short_task, 3, **options) as env:
        undisturbed = digests(env)
    with EipcVectorEnv(short_task, 3, **options) as env:
        disturbed = digests(env, at_step=lambda step: kill(env) if step in (1, 7) else None)
        assert env.worlds.restarts == 2
    np.testing.assert_array_equal(disturbed, undisturbed)


def test_a_server_that_is_killed_within_a_batch_costs_nothing(own_server):
    with EipcVectorEnv(short_task, 3) as env:
        undisturbed = digests(env)
    with EipcVectorEnv(short_task, 3) as env:
        def deadly_from_now_on(step):
            if step == 6:
                real = env.worlds._call

                def deadly(request, timeout):
                    answer = real.future(request, timeout=timeout)
                    kill(env)
                    return answer.result()

                env.worlds._call = deadly  # until the restart

        disturbed = digests(env, at_step=deadly_from_now_on)
        assert env.worlds.restarts == 1
    np.testing.assert_array_equal(disturbed, undisturbed)


def test_a_session_that_the_server_lost_is_made_again(server_binary):
    with eipc.launch(server_binary) as server, EipcVectorEnv(short_task, 2, server=server) as env:
        undisturbed = digests(env)
        disturbed = digests(env, at_step=lambda step: env.worlds.session.delete() if step == 3 else None)
        assert env.worlds.restarts == 1
    np.testing.assert_array_equal(disturbed, undisturbed)


def test_a_server_of_the_caller_that_ended_is_an_error(server_binary):
    with eipc.launch(server_binary) as server, EipcVectorEnv(short_task, 2, server=server) as env:
        env.reset(seed=0)
        server.process.kill()
        server.process.wait()
        with pytest.raises(eipc.UnavailableError, match="has ended") as error:
            env.step(np.zeros((2, 4)))
        assert error.value.code is grpc.StatusCode.UNAVAILABLE


def test_environments_share_a_server_and_stop_it(own_server):
    first, second = EipcVectorEnv(short_task, 1), EipcVectorEnv(short_task, 1)
    process = servers.SHARED.process()
    assert first._connection.client.address == second._connection.client.address == process.address
    first.close()
    assert process.running
    second.reset(seed=0)
    second.close()
    second.close()
    assert not process.running


def test_the_bear_is_grasped(own_server):
    """The registered environment and a policy of ten lines."""
    with make_vec("eipc/Grasp-v0", 2) as env:
        seen, info = env.reset(seed=0)
        for step in range(100):
            actions = np.zeros((2, 4))
            actions[:, 0] = np.where((np.abs(seen[:, 4:6]) < 0.004).all(axis=1) | (step > 10), 1, 0)
            actions[:, 1:3] = np.clip(20 * seen[:, 4:6], -1, 1)  # over the bear
            actions[:, 3] = -0.5 if step < 14 else 0.6 if step >= 28 else 0
            seen, _, terminated, truncated, info = env.step(actions)
            if (terminated | truncated).any():
                break
    assert terminated.any() and info["is_success"][terminated].all() and (info["rise_m"][terminated] > 0.05).all()


def test_unknown_ids_are_refused_in_words():
    with pytest.raises(ValueError, match="no environment is called 'eipc/Grab-v0'; there are eipc/Grasp-v0"):
        make_vec("eipc/Grab-v0", 1)
