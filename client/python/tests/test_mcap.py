"""MCAP files read back by @mcap/core, with the schemas that they carry."""

import base64

import numpy as np
import pytest

from eipc.export import write_mcap
from eipc.export import mcap_file
from eipc.export.foxglove import _turning_x_to
from format_readers import read_with
from made_episodes import made_episode


@pytest.fixture
def episode(tmp_path):
    return made_episode(tmp_path / "episodes")


@pytest.mark.parametrize("chunk_bytes", [1, 4000, 1 << 20])
def test_another_reader_finds_every_message(tmp_path, episode, monkeypatch, chunk_bytes):
    monkeypatch.setattr(mcap_file, "_CHUNK_BYTES", chunk_bytes)
    write_mcap(tmp_path / "a.mcap", episode, every=4, start_ns=5)
    found = read_with("mcap.mjs", tmp_path / "a.mcap")
    assert found["done"] and found["streamed"] == len(found["messages"]) == 4 * 4
    assert (found["chunks"] > 1) == (chunk_bytes < 1 << 20)
    assert found["channels"] == {"/tf": "protobuf", "/scene": "protobuf", "/surface/cube": "protobuf", "/figures": "json"}
    assert found["schemas"]["foxglove.SceneUpdate"] == "protobuf" and found["schemas"]["eipc.Figures"] == "jsonschema"
    assert found["metadata"]["eipc.episode"] == {"scene": "scenes/made", "build": "made", "task": "lift the cube", "file": "episode_000000.npz",
                                                 "steps": "10", "seed": "7", "success": "true"}
    assert found["statistics"]["messageCount"] == 16 and found["statistics"]["channelCount"] == 4
    figures = [message for message in found["messages"] if message["topic"] == "/figures"]
    assert [message["time"] for message in figures] == [5 + round(1e9 * 0.02 * k) for k in (0, 4, 8, 10)]
    assert [message["sequence"] for message in figures] == [0, 1, 2, 3]
    last = figures[-1]["value"]
    assert last["force_n"]["cube"] == {"x": 0, "y": 0, "z": 2} and last["action"] == {"cube.finger.0": 4.5, "cube.finger.1": 4.75}
    assert figures[0]["value"]["min_distance_m"] is None and last["min_distance_m"] == 1e-3


def test_shapes_are_those_of_the_episode(tmp_path, episode):
    write_mcap(tmp_path / "a.mcap", episode)
    found = read_with("mcap.mjs", tmp_path / "a.mcap")
    scenes = [message["value"] for message in found["messages"] if message["topic"] == "/scene"]
    assert [entity["id"] for entity in scenes[0]["entities"]] == ["cube", "ground", "contact forces"]
    assert [entity["id"] for entity in scenes[-1]["entities"]] == ["cube", "contact forces"]  # what is still is written once
    (mesh,) = scenes[-1]["entities"][0]["triangles"]
    points = np.array([[point.get(axis, 0) for axis in "xyz"] for point in mesh["points"]])
    np.testing.assert_array_equal(points, episode.surface("cube", -1))
    assert mesh["indices"] == episode.scene.topology["cube"].triangles.reshape(-1).tolist()
    (arrow,) = scenes[-1]["entities"][1]["arrows"]
    assert arrow["shaft_length"] + arrow["head_length"] == pytest.approx(0.02)  # 2 N
    clouds = [message["value"] for message in found["messages"] if message["topic"] == "/surface/cube"]
    cloud = np.frombuffer(base64.b64decode(clouds[-1]["data"]), dtype="<f4").reshape(-1, 3)
    np.testing.assert_allclose(cloud, episode.surface("cube", -1), rtol=1e-6)
    assert clouds[0]["point_stride"] == 12 and [one["name"] for one in clouds[0]["fields"]] == ["x", "y", "z"]
    frames = [message["value"]["transforms"] for message in found["messages"] if message["topic"] == "/tf"]
    assert [frame["child_frame_id"] for frame in frames[0]] == ["cube", "ground", "cube/finger/driven"]
    assert frames[-1][0]["translation"]["z"] == pytest.approx(0.01)


def test_arrows_point_along_their_force():
    for direction in ([1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, -1], [0.6, -0.48, 0.64]):
        w, *v = _turning_x_to(np.array(direction, dtype=float))
        turned = np.array([1.0, 0, 0]) + 2 * w * np.cross(v, [1, 0, 0]) + 2 * np.cross(v, np.cross(v, [1, 0, 0]))
        np.testing.assert_allclose(turned, direction, atol=1e-12)


def test_a_file_that_cannot_be_written_is_not_left_behind(tmp_path, episode):
    with pytest.raises(ValueError, match="every is 0; it is at least 1"):
        write_mcap(tmp_path / "a.mcap", episode, every=0)
    assert not (tmp_path / "a.mcap").exists()
