"""LeRobot data sets, v3.0, against that format's contract, read by two Parquet readers of other hands.

The contract is that of huggingface/lerobot 0.6.2 (datasets/dataset_metadata.py, utils.py), restated: LeRobot itself needs a newer Python.
"""

import json
import shutil
import subprocess

import numpy as np
import pytest

import eipc
from eipc.export import write_lerobot
from eipc.export.features import Feature
from eipc.export.statistics import merged, of_values
from eipc.viz import Camera
from format_readers import read_with
from made_episodes import made_episode

SINGLES = {"next.reward": "float32", "next.done": "bool", "timestamp": "float32", "frame_index": "int64", "episode_index": "int64",
           "index": "int64", "task_index": "int64"}
QUANTILES = ("q01", "q10", "q50", "q90", "q99")


def rows(path):
    """What both readers find."""
    found = read_with("parquet.mjs", path)
    assert found["hyparquet"] == found["wasm"]
    return found["wasm"], found


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "set"


@pytest.fixture
def episodes(tmp_path):
    return [made_episode(tmp_path / "episodes", 0, 10), made_episode(tmp_path / "episodes", 1, 6, task="hold it")]


def test_the_info_is_that_of_the_format(folder, episodes):
    write_lerobot(folder, episodes, robot_type="bubbles")
    info = json.loads((folder / "meta" / "info.json").read_text())
    assert info["codebase_version"] == "v3.0" and info["fps"] == 50 and isinstance(info["fps"], int)
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"], info["chunks_size"]) == (2, 16, 2, 1000)
    assert info["splits"] == {"train": "0:2"} and info["robot_type"] == "bubbles" and info["video_path"] is None
    assert info["data_path"].format(chunk_index=0, file_index=0) == "data/chunk-000/file-000.parquet"
    assert (folder / "data/chunk-000/file-000.parquet").is_file() and (folder / "meta/episodes/chunk-000/file-000.parquet").is_file()
    features = info["features"]
    assert set(features) == {"observation.state", "observation.environment_state", "action", *SINGLES}
    assert {name: features[name] for name in SINGLES} == {name: {"dtype": kind, "shape": [1], "names": None} for name, kind in SINGLES.items()}
    assert features["action"] == {"dtype": "float32", "shape": [2], "names": ["cube.finger.0", "cube.finger.1"]}
    assert features["observation.state"]["names"][:4] == ["cube.finger.x", "cube.finger.y", "cube.finger.z", "cube.finger.q.w"]


def test_every_frame_is_there_in_order(folder, episodes):
    write_lerobot(folder, episodes)
    frames, found = rows(folder / "data/chunk-000/file-000.parquet")
    assert found["groups"] == [10, 6]  # an episode a group
    assert [frame["index"] for frame in frames] == list(range(16))
    assert [frame["episode_index"] for frame in frames] == [0] * 10 + [1] * 6
    assert [frame["frame_index"] for frame in frames] == [*range(10), *range(6)]
    assert [frame["task_index"] for frame in frames] == [0] * 10 + [1] * 6
    times = np.array([frame["timestamp"] for frame in frames])
    assert np.abs(times - np.array([*range(10), *range(6)]) / 50).max() < 1e-4
    np.testing.assert_allclose([frame["action"] for frame in frames[:10]], episodes[0]["action"])
    # The state before the step, with the action that was then taken.
    np.testing.assert_allclose([frame["observation.state"][0] for frame in frames[:10]], 0.1 * np.arange(10), rtol=1e-6)
    np.testing.assert_allclose([frame["observation.environment_state"][2] for frame in frames[10:]], 1e-3 * np.arange(6), rtol=1e-6)
    assert [frame["next.done"] for frame in frames[:10]] == [False] * 9 + [True]
    assert {name: found["types"][name] for name in ("timestamp", "index", "next.done")} == {"timestamp": "Float32", "index": "Int64", "next.done": "Bool"}
    assert found["types"]["action"] in ("List<Float32>", "List<element: Float32>")


def test_every_episode_says_where_it_is_and_what_it_is_like(folder, episodes):
    write_lerobot(folder, episodes)
    about, _ = rows(folder / "meta/episodes/chunk-000/file-000.parquet")
    assert [(one["episode_index"], one["length"], one["dataset_from_index"], one["dataset_to_index"]) for one in about] == [(0, 10, 0, 10), (1, 6, 10, 16)]
    assert [one["tasks"] for one in about] == [["lift the cube"], ["hold it"]]
    places = ("data/chunk_index", "data/file_index", "meta/episodes/chunk_index", "meta/episodes/file_index")
    assert all(one[place] == 0 for one in about for place in places)
    for name in ("action", "observation.state", *SINGLES):
        for figure in ("min", "max", "mean", "std", *QUANTILES):
            assert len(about[0][f"stats/{name}/{figure}"]) == (2 if name == "action" else 7 if name == "observation.state" else 1)
        assert about[1][f"stats/{name}/count"] == [6]
    np.testing.assert_allclose(about[0]["stats/action/mean"], episodes[0]["action"].mean(axis=0))


def test_tasks_are_a_frame_with_the_words_as_index(folder, episodes):
    write_lerobot(folder, [*episodes, episodes[0]])
    tasks, found = rows(folder / "meta/tasks.parquet")
    assert tasks == [{"task_index": 0, "task": "lift the cube"}, {"task_index": 1, "task": "hold it"}]
    pandas = json.loads(found["metadata"]["pandas"])
    assert pandas["index_columns"] == ["task"]
    assert {column["name"] for column in pandas["columns"]} == {"task_index", "task"}


def test_statistics_of_the_whole_are_those_of_all_frames(folder, episodes):
    write_lerobot(folder, episodes)
    stats = json.loads((folder / "meta" / "stats.json").read_text())
    actions = np.concatenate([episode["action"] for episode in episodes])
    for figure in ("min", "max", "mean", "std"):
        np.testing.assert_allclose(stats["action"][figure], getattr(actions, figure)(axis=0), rtol=1e-6)
    assert stats["action"]["count"] == [16]
    assert all(len(stats["action"][q]) == 2 for q in QUANTILES)
    same = merged([{"x": of_values(actions)}, {"x": of_values(actions)}])["x"]
    for q, level in zip(QUANTILES, (0.01, 0.1, 0.5, 0.9, 0.99)):
        np.testing.assert_allclose(same[q], np.quantile(actions, level, axis=0))


def test_what_a_policy_observed_is_the_observation(tmp_path, folder):
    kept = {"agent_pos": np.arange(11.0 * 4).reshape(11, 4), "environment_state": np.ones((11, 26)), "keypoints": np.zeros((11, 3, 2))}
    write_lerobot(folder, [made_episode(tmp_path / "episodes", kept=kept)])
    frames, _ = rows(folder / "data/chunk-000/file-000.parquet")
    assert frames[2]["observation.state"] == [8, 9, 10, 11] and len(frames[0]["observation.environment_state"]) == 26
    assert len(frames[0]["observation.keypoints"]) == 6


@pytest.mark.parametrize("dt, near", [(0.015, "0.0151515 s (66 Hz), 0.0149254 s (67 Hz)"), (0.03, "0.030303 s (33 Hz), 0.0294118 s (34 Hz)"), (1.5, "1 s (1 Hz)")])
def test_a_rate_that_is_no_whole_number_is_refused(tmp_path, folder, dt, near):
    with pytest.raises(eipc.EpisodeError) as refused:
        write_lerobot(folder, [made_episode(tmp_path / "episodes", dt=dt)])
    assert f"steps of {dt:g} s are {1 / dt:.6g} frames a second" in str(refused.value) and near in str(refused.value)
    assert not folder.exists()


def test_what_does_not_fit_is_named(tmp_path, folder, episodes):
    uneven = made_episode(tmp_path / "uneven", time_s=np.array([0, 0.02, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10, 0.11, 0.12]))
    wide = made_episode(tmp_path / "wide", actions=3)
    none = made_episode(tmp_path / "none", actions=0)
    odd = [lambda _: {"observation.state": Feature(np.full((11, 1), np.nan), ["a"])}, lambda _: {"observation.state": Feature(np.zeros((10, 1)), ["a"])}]
    for taken, options, words in (([uneven], {}, "one dt and one number of substeps"), ([episodes[0], wide], {}, "action has other columns"),
                                  ([none], {}, "has no actions"), ([], {}, "no episodes to write"),
                                  ([episodes[0]], {"features": odd[0]}, "finite"), ([episodes[0]], {"features": odd[1]}, "got (10, 1)")):
        with pytest.raises(eipc.EpisodeError, match=words.replace("(", r"\(").replace(")", r"\)")):
            write_lerobot(folder, taken, **options)
        assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("set")) == []
    folder.mkdir()
    with pytest.raises(eipc.EpisodeError, match="exists already"):
        write_lerobot(folder, episodes)


@pytest.mark.parametrize("width, height", [(64, 48), (96, 64)])
def test_a_camera_makes_a_video(tmp_path, folder, width, height):
    if shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None:
        pytest.skip("ffmpeg is not installed (./dev setup datasets)")
    episodes = [made_episode(tmp_path / "episodes", number, 4) for number in range(2)]
    camera = Camera(eye=(1.5, 0.5, 1.0), target=(0, 0, 0.5), vertical_fov_deg=30)
    write_lerobot(folder, episodes, cameras={"front": camera}, picture_size=(width, height))
    key = "observation.images.front"
    info = json.loads((folder / "meta" / "info.json").read_text())
    assert info["features"][key]["dtype"] == "video" and info["features"][key]["shape"] == [height, width, 3]
    assert info["features"][key]["names"] == ["height", "width", "channels"]
    about, _ = rows(folder / "meta/episodes/chunk-000/file-000.parquet")
    for one in about:
        video = folder / info["video_path"].format(video_key=key, chunk_index=one[f"videos/{key}/chunk_index"], file_index=one[f"videos/{key}/file_index"])
        probed = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames",
                                 "-of", "json", video], capture_output=True, text=True, check=True)
        (stream,) = json.loads(probed.stdout)["streams"]
        assert (stream["width"], stream["height"], stream["pix_fmt"], stream["r_frame_rate"], stream["nb_read_frames"]) == (width, height, "yuv420p", "50/1", "4")
        assert stream["codec_name"] == info["features"][key]["info"]["video.codec"]
        assert (one[f"videos/{key}/from_timestamp"], one[f"videos/{key}/to_timestamp"]) == (0, 4 / 50)
    (mean,) = [json.loads((folder / "meta" / "stats.json").read_text())[key]["mean"]]
    assert np.array(mean).shape == (3, 1, 1) and 0 < np.array(mean).min() and np.array(mean).max() < 1
    assert "action" in rows(folder / "data/chunk-000/file-000.parquet")[0][0] and key not in rows(folder / "data/chunk-000/file-000.parquet")[0][0]
