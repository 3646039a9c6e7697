"""Episodes that say how their steps were asked for, replayed, and the commands record, replay and verify."""

import os
import re
import subprocess

import numpy as np
import pytest

import eipc
from eipc.cli.__main__ import main
from eipc.diff import first_difference
from eipc.envs import EipcVectorEnv
from eipc.replay import replay
from server_client import client  # noqa: F401 (fixture)
from small_grasp import grasping, small_task
from test_recorder import pusher_at, soft_scene

DT = 0.01


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary) as server:
        yield server


def record(client, folder, record_log=False):
    """An episode with targets, a trajectory and several steps a request, that does not begin at the scene's start."""
    with client.create_scene(soft_scene()).create_session(record=record_log) as session, eipc.Recorder(folder) as recorder:
        session.step(DT, targets=pusher_at(0.19), substeps=3)
        with recorder.episode(session, seed=3, task="push") as episode:
            for k in range(8):
                episode.keep("goal", np.full(2, k))
                trajectory = eipc.Trajectory([0, 2 * DT], [pusher_at(0.19)["pusher"], pusher_at(0.18 - 0.002 * k)["pusher"]])
                episode.step(DT, trajectories={"pusher": trajectory}, substeps=2)
                episode.mark(reward=k)
            episode.keep("goal", np.full(2, 8))
            episode.success = True
    return eipc.Episode.load(episode.path)


def test_every_state_comes_again(client, tmp_path):
    episode = record(client, tmp_path / "a")
    np.testing.assert_array_equal(episode.kept["goal"], np.repeat(np.arange(9), 2).reshape(9, 2))
    seen = []
    with eipc.Recorder(tmp_path / "b") as recorder:
        found = replay(episode, client, recorder, seen=lambda step, observation: seen.append((step, observation.step)))
    assert found.same and found.steps == 8 and found.position_error_m == 0 and found.build == found.recorded_build
    assert seen == [(k, 3 + 2 * k) for k in range(9)]
    again = eipc.Episode.load(found.path)
    assert first_difference(episode, again) is None
    assert again.success and again.seed == 3 and again.task == "push"
    np.testing.assert_array_equal(again.kept["goal"], episode.kept["goal"])
    assert replay(again, client, threads=2).same


def test_another_run_is_told_from_the_first_step_that_differs(client, tmp_path):
    episode = record(client, tmp_path)
    digests = episode.arrays["state_digest"].copy()
    digests[5] = b"0" * 16
    episode.arrays["state_digest"] = digests
    assert replay(episode, client).parted_at == 5
    requests = episode.requests
    requests[3].trajectories[0].trajectory.keyframes[1].pose.position_m.x -= 0.001
    data = [request.SerializeToString(deterministic=True) for request in requests]
    episode.arrays["request"], episode.arrays["request_at"] = np.frombuffer(b"".join(data), dtype=np.uint8), np.cumsum([0, *map(len, data)])
    other = replay(episode, client)
    assert other.parted_at == 4 and other.position_error_m > 5e-4


def test_what_cannot_be_replayed_is_said(client, tmp_path):
    episode = record(client, tmp_path)
    for name, words in (("request", "does not say how its steps were asked for"), ("start", "does not hold where it began")):
        kept = episode.arrays.pop(name)
        with pytest.raises(eipc.EpisodeError, match=words):
            replay(episode, client)
        episode.arrays[name] = kept


def test_rows_that_are_kept_belong_to_observations(client, tmp_path):
    with client.create_scene(soft_scene()).create_session() as session, eipc.Recorder(tmp_path) as recorder:
        episode = recorder.episode(session)
        episode.keep("a", [1.0])
        for name in ("a", "", "b/c"):
            with pytest.raises(eipc.EpisodeError, match="keep\\(\\) it once at the start"):
                episode.keep(name, [2.0])
        episode.step(DT)
        with pytest.raises(eipc.EpisodeError, match="'a' was kept 1 times"):
            episode.finish()
        episode = recorder.episode(session)
        episode.keep("a", [1.0])
        episode.step(DT)
        episode.keep("a", [1.0, 2.0])
        with pytest.raises(eipc.EpisodeError, match="one shape"):
            episode.finish()
        episode.discard()


def run_worlds(server, folder, acts, worlds=3, **options):
    with EipcVectorEnv(small_task, worlds, server=server, record=folder, **options) as env:
        seen, _ = env.reset(seed=1)
        for k in range(acts):
            seen, *_ = env.step(grasping(seen, k % 14))
        return env.metadata["autoreset_mode"]


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_environments_record_their_episodes(client, tmp_path, mode):
    run_worlds(client, tmp_path, 26, autoreset_mode=mode, max_episode_steps=9)
    episodes = list(eipc.load_episodes(tmp_path))
    assert len(episodes) == 6 and [episode.seed for episode in episodes] == [1, 2, 3, None, None, None]
    for episode in episodes:
        assert episode["action"].shape == (episode.steps, 4) and episode.kept["observation"].shape == (episode.steps + 1, 26)
        assert episode.bodies == ["cube", "ground", "left", "right"] and episode.task == "grasp the object, lift it and hold it"
        assert episode["done"].tolist() == [False] * (episode.steps - 1) + [True] and episode.success in (True, False)
        # What was observed is what the states say.
        np.testing.assert_allclose(episode.kept["observation"][:, 25], episode["position_m"][:, 0, 2] - episode["position_m"][0, 0, 2], atol=1e-7)
        assert replay(episode, client).same
    assert any(episode.success for episode in episodes) or all(episode.steps == 9 for episode in episodes)


def test_episodes_that_fail_or_are_cut_are_not_kept(client, tmp_path):
    with EipcVectorEnv(small_task, 2, server=client, record=tmp_path, max_episode_steps=5) as env:
        seen, _ = env.reset(seed=1)
        for k in range(5):
            actions = grasping(seen, k)
            if k == 2:
                actions[1] = np.nan
            seen, *_ = env.step(actions)
        env.reset(seed=9)
        env.step(grasping(seen, 0))
        with pytest.raises(eipc.EpisodeError, match="another recorder uses this folder"):
            EipcVectorEnv(small_task, 1, server=client, record=tmp_path)
    episodes = list(eipc.load_episodes(tmp_path))
    assert [(episode.seed, episode.steps) for episode in episodes] == [(1, 5)]
    assert not list(tmp_path.glob("*.open"))


def test_recording_goes_on_after_a_restart_of_the_server(server_binary, tmp_path, monkeypatch):
    monkeypatch.setenv("EIPC_SERVER", str(server_binary))
    with EipcVectorEnv(small_task, 2, record=tmp_path, max_episode_steps=8, snapshot_every=3) as env:
        seen, _ = env.reset(seed=1)
        for k in range(8):
            if k == 5:
                server = env._connection.process.process  # once: when it has ended, the connection starts another one
                server.kill()
                server.wait()
            seen, *_ = env.step(grasping(seen, k))
        assert env.worlds.restarts == 1
        episodes = list(eipc.load_episodes(tmp_path))
        assert [(episode.seed, episode.steps) for episode in episodes] == [(1, 8), (2, 8)]
        assert all(replay(episode, env._connection.client).same for episode in episodes)


SCENE = """
bodies {{ name: "cube" full_space {{ mesh {{ file: "{mesh}" }} }} pose {{ position_m {{ z: 0.2 }} }}
  material {{ density_kg_m3: 1000 youngs_modulus_pa: 1e5 poissons_ratio: 0.3 }} }}
schedule {{ duration_s: 0.1 dt_s: 0.01 }}
"""


@pytest.fixture
def scene(tmp_path):
    from blocks import write_block
    write_block(tmp_path / "block.vtk", cells=1)
    (tmp_path / "fall.textproto").write_text(SCENE.format(mesh="block.vtk"))
    return tmp_path / "fall.textproto"


def test_a_scene_is_recorded_replayed_and_verified_by_the_program(eipc_binary, server_binary, scene, tmp_path):
    def run(*words, status=0):
        environment = {**os.environ, "EIPC_SERVER": str(server_binary), "EIPC_CLI": ""}
        del environment["EIPC_CLI"]
        done = subprocess.run([eipc_binary, *map(str, words)], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "episode_000001.npz: 10 steps of 0.01 s" in run("record", scene, "--out", "falls", "--episodes", 2)
    assert run("replay", "falls").count("10 steps, every state the same") == 2
    assert run("verify", "falls").count("every digest found again") == 2
    assert "1 world(s), 11 records, 10 steps" in run("verify", "falls/episode_000000.npz")
    run("record", scene, "--out", "shorter", "--max-steps", 7, "--no-log")
    assert "step 7 (0.07 s): the end of the task (done) is False and True" in run("diff", "falls/episode_000000.npz", "shorter/episode_000000.npz", status=1)
    assert "carries no log" in run("verify", "shorter", status=2)
    assert re.search(r"episode_000000.glb: 10 steps\n.*episode_000001.glb: 10 steps", run("export", "glb", "falls", "--out", "shown"))
    assert (tmp_path / "shown" / "episode_000001.glb").stat().st_size > 1000
    assert "falls.mcap: 10 steps" in run("export", "mcap", "falls/episode_000000.npz", "--out", "falls.mcap")
    assert "has no actions" in run("export", "lerobot", "falls", "--out", "set", status=2)
    assert "holds no episodes" in run("replay", tmp_path, status=2)


@pytest.mark.parametrize("words, message", [
    (["record", "missing.textproto"], "missing.textproto: there is no such file"), (["record", "eipc/Grasp-v0"], "who acts in eipc/Grasp-v0"),
    (["record", "eipc/None-v0", "--policy", "eipc.farm.policies:Random"], "no environment is called 'eipc/None-v0'"),
    (["record", "eipc/Grasp-v0", "--policy", "no.such"], "no module is called 'no.such'"), (["record", "SCENE", "--policy", "x"], "not in a scene file"),
    (["record", "SCENE", "--episodes", "0"], "at least 1")])
def test_slips_in_commands_are_named(server_binary, scene, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.setenv("EIPC_SERVER", str(server_binary))
    monkeypatch.chdir(tmp_path)
    assert main([str(scene) if word == "SCENE" else word for word in words]) == 2
    assert message in capsys.readouterr().err
