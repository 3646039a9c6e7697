"""Learning in small: policies, their files, the cross-entropy method and cloning on a grasp that takes milliseconds."""

import json

import numpy as np
import pytest

import eipc
from eipc.cli.__main__ import main
from eipc.envs import EipcVectorEnv
from eipc.farm.policies import Scripted
from eipc.learn import CloningSettings, CrossEntropySettings, LinearPolicy, NetworkPolicy, clone, cross_entropy, load, success_rate
from eipc.learn.cloning import _forward, _gradients, _has_torch, _started, demonstrations
from eipc.learn.rollouts import run_episodes
from made_episodes import made_episode
from small_grasp import grasping, small_task


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary) as server:
        yield server


@pytest.fixture
def env(server):
    with EipcVectorEnv(small_task, 12, server=server.address, max_episode_steps=14) as env:
        yield env


def test_policies_survive_their_files(tmp_path):
    seen = np.random.default_rng(0).normal(size=(3, 26))
    linear = LinearPolicy.of(np.random.default_rng(1).normal(size=60))
    network = NetworkPolicy(tuple(_started([14, 8, 4], np.random.default_rng(2))))
    assert repr(linear) == "LinearPolicy(1 of 60 parameters)" and repr(network) == "NetworkPolicy(14 -> 8 -> 4)"
    for policy in (linear, network):
        policy.save(tmp_path / "policy.npz")
        again = load(tmp_path / "policy.npz")
        np.testing.assert_array_equal(again.actions(seen), policy.actions(seen))
        assert policy.actions(seen).shape == (3, 4) and (np.abs(policy.actions(seen)) <= 1).all()
    many = LinearPolicy.of(np.random.default_rng(1).normal(size=(3, 60)))  # one a world
    np.testing.assert_array_equal(many.actions(seen)[1], LinearPolicy(many.weights[1:2]).actions(seen)[1])
    (tmp_path / "policy.npz").write_bytes(b"no zip")
    with pytest.raises(eipc.EpisodeError, match="holds no learned policy"):
        load(tmp_path / "policy.npz")
    with pytest.raises(eipc.EpisodeError, match="there is no such file"):
        load(tmp_path / "none.npz")


def test_an_episode_counts_until_it_is_over(env):
    step = iter(range(100))
    done = run_episodes(env, lambda seen: grasping(seen, next(step)), range(12))
    assert done.success.all() and (done.steps < 14).all() and (done.returns > 1).all()
    still = run_episodes(env, lambda seen: np.zeros((12, 4)), range(12))
    assert not still.success.any() and (still.steps == 14).all() and (np.abs(still.returns) < 0.1).all()


def test_a_grasp_is_learned_and_the_seed_decides_every_bit(env):
    settings = CrossEntropySettings(generations=3)
    curves = []
    policy, curve = cross_entropy(env, 0, settings, curves.append)
    assert curve == curves and [one.number for one in curve] == list(range(1, len(curve) + 1))
    assert curve[-1].mean_return > curve[0].mean_return + 0.1
    again, repeated = cross_entropy(env, 0, settings)
    assert repeated == curve
    np.testing.assert_array_equal(again.weights, policy.weights)
    assert cross_entropy(env, 1, CrossEntropySettings(generations=1))[1] != curve[:1]
    rate = success_rate(env, policy, 13, 1 << 32)
    assert rate.episodes == 24 and rate.low <= rate.rate <= rate.high and str(rate).startswith(f"{100 * rate.rate:.0f} % of 24 episodes succeed")


def test_gradients_are_those_of_the_error():
    """By central differences."""
    random = np.random.default_rng(0)
    layers, x, y = _started([14, 5, 4], random), random.normal(size=(7, 14)), random.uniform(-1, 1, (7, 4))
    parameters = [array for layer in layers for array in layer]
    for array, gradient in zip(parameters, _gradients(layers, x, y)):
        for index in [tuple(random.integers(0, n) for n in array.shape) for _ in range(4)]:
            kept, h, values = array[index], 1e-6, []
            for sign in (1, -1):
                array[index] = kept + sign * h
                values.append(((_forward(layers, x)[-1] - y)**2).mean())
            array[index] = kept
            assert gradient[index] == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("torch", [False, True])
def test_a_teacher_is_imitated(torch):
    if torch and not _has_torch():
        pytest.skip("PyTorch is not installed (Debian: python3-torch)")
    random = np.random.default_rng(0)
    seen = random.normal(size=(600, 26))
    teacher = LinearPolicy.of(random.normal(size=60) * 0.5)
    policy, losses = clone(seen, teacher.actions(seen), settings=CloningSettings(hidden=(16,), epochs=40, torch=torch))
    assert len(losses) == 40 and losses[-1] < 0.1 * losses[0] and losses[-1] < 0.02
    again, same = clone(seen, teacher.actions(seen), settings=CloningSettings(hidden=(16,), epochs=40, torch=torch))
    assert same == losses
    np.testing.assert_array_equal(again.actions(seen), policy.actions(seen))


def test_demonstrations_are_the_successful_ones(tmp_path):
    kept = {"observation": np.ones((11, 26))}
    good, bad = made_episode(tmp_path, 0, kept=kept, actions=4), made_episode(tmp_path, 1, kept=kept, actions=4, success=False)
    seen, done = demonstrations([good, bad])
    assert seen.shape == (10, 26) and done.shape == (10, 4)
    assert len(demonstrations([good, bad], successful=False)[0]) == 20
    for episodes, words in (([bad], "no successful demonstrations"), ([made_episode(tmp_path, 2)], 'holds no "state"')):
        with pytest.raises(eipc.EpisodeError, match=words):
            demonstrations(episodes)


def test_the_command_leaves_a_policy_and_its_curve(server, tmp_path, monkeypatch, capsys):
    from eipc.cli import learn, record
    monkeypatch.chdir(tmp_path)

    def small(id, worlds, **options):
        return EipcVectorEnv(small_task, worlds, **options)

    monkeypatch.setattr(learn, "make_vec", small)
    monkeypatch.setattr(record, "make_vec", small)
    options = ["--server", server.address, "--max-steps", "20", "--worlds", "8"]
    assert main(["learn", *options, "--generations", "2", "--episodes", "8"]) == 0
    report = json.loads((tmp_path / "learned" / "learning.json").read_text())
    assert report["method"] == "cross-entropy" and len(report["curve"]) == 2 and report["before"]["episodes"] == report["after"]["episodes"] == 8
    monkeypatch.setenv("EIPC_POLICY", "learned/policy.npz")
    assert main(["record", "small", "--policy", "eipc.learn.policies:Saved", "--episodes", "3", "--out", "shown", *options]) == 0
    assert main(["record", "small", "--policy", "test_learn:Teacher", "--episodes", "10", "--out", "demos", *options]) == 0
    assert capsys.readouterr().out.count("success\n") >= 10
    assert [episode.seed for episode in eipc.load_episodes("demos")] == list(range(10)) or len(list(eipc.load_episodes("demos"))) == 10
    assert main(["learn", "--from", "demos", "--out", "cloned", "--epochs", "30", "--episodes", "8", *options]) == 0
    cloned = json.loads((tmp_path / "cloned" / "learning.json").read_text())
    assert cloned["method"] == "cloning" and cloned["losses"][-1] < cloned["losses"][0] and cloned["after"]["successes"] >= 6
    monkeypatch.delenv("EIPC_POLICY")
    assert main(["record", "small", "--policy", "eipc.learn.policies:Saved", *options]) == 2


class Teacher:
    """Closes and lifts."""

    def reset(self, seed):
        self.step = 0

    def act(self, observation):
        self.step += 1
        return grasping(observation[None], self.step - 1)[0]


def test_the_scripted_policy_acts_for_many_worlds_as_for_each():
    random = np.random.default_rng(0)
    together, alone = Scripted(), [Scripted() for _ in range(5)]
    for _ in range(40):
        observations = random.normal(scale=0.01, size=(5, 26)).astype(np.float32)
        np.testing.assert_array_equal(together.act(observations), [policy.act(row) for policy, row in zip(alone, observations)])


def test_bench_measures_worlds_beside_the_solver_alone(server_binary, tmp_path, monkeypatch, capsys):
    from eipc.cli import bench
    monkeypatch.setenv("EIPC_SERVER", str(server_binary))
    monkeypatch.setattr(bench, "task_of", lambda id: small_task)
    assert main(["bench", "--worlds", "1", "10", "--actions", "4", "--json", str(tmp_path / "bench.json")]) == 0
    one, many = json.loads((tmp_path / "bench.json").read_text())
    assert one["together"]["steps"] == 8 and many["together"]["steps"] == 80 == many["alone"]["steps"]
    assert 0 < many["alone"]["solver_s"] and many["share"] > 0 and 0 < many["client_share_of_processor_time"] <= 1
    assert capsys.readouterr().out.count(" worlds: ") == 2
    assert main(["bench", "--worlds", "0"]) == 2
