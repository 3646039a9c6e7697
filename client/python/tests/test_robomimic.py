"""Data sets in robomimic's layout, read again by h5py alone."""

import json
import sys

import numpy as np
import pytest

import eipc
from eipc import robomimic
from server_client import client  # noqa: F401 (fixture)
from test_recorder import DT, pusher_at, recorder, server, soft_scene  # noqa: F401 (fixtures)


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


@pytest.fixture
def episodes(recorder, client):  # noqa: F811
    """Two of 6 and 8 steps; the second succeeds."""
    with client.create_scene(soft_scene()).create_session() as session:
        for seed in range(2):
            with recorder.episode(session, seed=seed, task="push") as episode:
                for k in range(6 + 2 * seed):
                    episode.step(DT, targets=pusher_at(0.2 + 0.001 * k))
                    episode.mark(reward=k, done=k == 5 + 2 * seed)
                if seed:
                    episode.success = True
            session.reset()
    return list(eipc.load_episodes(recorder.folder))


def test_the_layout(h5py, episodes, tmp_path):
    robomimic.write_hdf5(tmp_path / "set.hdf5", episodes, env_name="eipc/Push-v0", env_kwargs={"speed": 1})
    with h5py.File(tmp_path / "set.hdf5") as file:
        data = file["data"]
        assert sorted(data) == ["demo_0", "demo_1"] and data.attrs["total"] == 14
        assert json.loads(data.attrs["env_args"]) == {"env_name": "eipc/Push-v0", "env_type": 2, "env_kwargs": {"speed": 1}}
        for number, episode in enumerate(episodes):
            demo = data[f"demo_{number}"]
            steps = 6 + 2 * number
            assert demo.attrs["num_samples"] == steps and demo.attrs["seed"] == number
            assert {"states", "actions", "rewards", "dones", "obs", "next_obs"} == set(demo)
            assert all(len(demo[name]) == steps for name in ("states", "actions", "rewards", "dones"))
            assert demo["rewards"][:].tolist() == list(range(steps)) and demo["dones"][:].tolist() == [0] * (steps - 1) + [1]
            low, high = data.attrs["action_low"], data.attrs["action_high"]
            assert abs(demo["actions"][:]).max() <= 1
            np.testing.assert_allclose(robomimic.unscaled(demo["actions"][:], low, high), episode["action"], atol=1e-15)
            np.testing.assert_array_equal(demo["obs/cube_position"], episode["position_m"][:-1, 0])
            np.testing.assert_array_equal(demo["next_obs/cube_position"], episode["position_m"][1:, 0])
            np.testing.assert_array_equal(demo["obs/pusher_frame_position"], episode["frame_position_m"][:-1, 0])
            assert set(demo["obs"]) == set(demo["next_obs"]) and not any(name.startswith("slab") for name in demo["obs"])
            assert demo["states"].shape == (steps, 3 * (8 + 4))
            np.testing.assert_array_equal(demo["states"][3][:24].reshape(8, 3), episode.cage("cube")[3])
        assert data["demo_0"]["actions"][0, 0] == -1 and data["demo_1"]["actions"][-1, 0] == 1
        assert not data["demo_0"]["actions"][:, 1:].any()  # of one value over the data set
        assert file["mask/success"][:].tolist() == [b"demo_1"] and list(file["mask"]) == ["success"]
    assert not list(tmp_path.glob("*.part"))


def test_contact_forces_are_sums(h5py, episodes, tmp_path):
    robomimic.write_hdf5(tmp_path / "set.hdf5", episodes)
    with h5py.File(tmp_path / "set.hdf5") as file:
        force = file["data/demo_1/next_obs/cube_contact_force"][:]
    episode = episodes[1]
    (pair,) = [i for i, names in enumerate(episode["wrench_pairs"].tolist()) if names == ["cube", "slab"]] or [None]
    expected = np.zeros((8, 3)) if pair is None else episode["normal_force_n"][1:, pair] + episode["friction_force_n"][1:, pair]
    np.testing.assert_array_equal(force, expected)


def test_masks_share_the_episodes(h5py, episodes, tmp_path):
    robomimic.write_hdf5(tmp_path / "set.hdf5", episodes * 5, valid=0.3)
    with h5py.File(tmp_path / "set.hdf5") as file:
        held, trained = set(file["mask/valid"][:]), set(file["mask/train"][:])
    assert len(held) == 3 and held | trained == {f"demo_{k}".encode() for k in range(10)} and not held & trained


def test_own_observations(h5py, episodes, tmp_path):
    robomimic.write_hdf5(tmp_path / "set.hdf5", episodes, observations=lambda episode: {"soft/height": episode["position_m"][:, 0, 2]})
    with h5py.File(tmp_path / "set.hdf5") as file:
        assert list(file["data/demo_0/obs"]) == ["soft_height"]
    for bad, words in (({"x": np.zeros(3)}, "must have 7 finite rows"), ({"x": np.full(7, np.nan)}, "must have 7 finite rows"),
                       ({"a/b": np.zeros(7), "a_b": np.zeros(7)}, "equal once '/' is '_'")):
        with pytest.raises(eipc.EpisodeError, match=words):
            robomimic.write_hdf5(tmp_path / "set.hdf5", episodes[:1], observations=lambda _: bad)
    with pytest.raises(eipc.EpisodeError, match="observations extra differ from those of the first episode"):
        robomimic.write_hdf5(tmp_path / "set.hdf5", episodes, observations=lambda episode: {
            "height": episode["time_s"], **({"extra": episode["time_s"]} if episode.number else {})})
    with h5py.File(tmp_path / "set.hdf5") as file:  # what failed has not touched it
        assert list(file["data/demo_0/obs"]) == ["soft_height"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["set.hdf5"]


def test_episodes_that_do_not_fit_are_named(h5py, episodes, client, recorder, tmp_path):  # noqa: F811
    with pytest.raises(eipc.EpisodeError, match="no episodes"):
        robomimic.write_hdf5(tmp_path / "set.hdf5", [])
    with pytest.raises(eipc.EpisodeError, match=r"\[0, 1\), got 1"):
        robomimic.write_hdf5(tmp_path / "set.hdf5", episodes, valid=1)
    with client.create_scene(soft_scene()).create_session() as session:
        for options in ({}, {"action": [1.0, 2.0]}):
            with recorder.episode(session) as episode:
                episode.step(DT, **options)
    *_, none, two = eipc.load_episodes(recorder.folder)
    with pytest.raises(eipc.EpisodeError, match="episode_000003.npz has actions 2, episode_000000.npz .*pusher/x_m"):
        robomimic.write_hdf5(tmp_path / "set.hdf5", [*episodes, two])
    with pytest.raises(eipc.EpisodeError, match="have no actions: step with targets="):
        robomimic.write_hdf5(tmp_path / "set.hdf5", [none])


def test_a_missing_library_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(eipc.EpisodeError, match="apt-get install python3-h5py"):
        robomimic.write_hdf5(tmp_path / "set.hdf5", [])
