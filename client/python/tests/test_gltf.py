"""Episodes as glTF, read again by glb_reader, which follows the specification."""

import json
from pathlib import Path

import numpy as np
import pytest

import eipc
from eipc import gltf
from eipc.embedding import find_embedding
from eipc.recorded_scene import RecordedScene
from eipc.v1 import scene_pb2
from format_readers import read_with
from glb_reader import Glb
from puppet_server import BOX_TRIANGLES, box
from test_embedding import CUBE_TETS, embedded, scattered

TIMES = np.array([1.0, 1.01, 1.03, 1.04, 1.05])


@pytest.fixture
def episode():
    """A soft body in a cage, one of nodes, one whose surface is stored, a still one; five samples of scattered cages."""
    random = np.random.default_rng(3)
    cage, stored = box([0, 0, 1], [1, 1, 1]), box([3, 0, 0], [1, 1, 1])
    places = np.array([0, 0, 1]) + scattered(8)
    triangles = np.array(BOX_TRIANGLES)
    soft = find_embedding(embedded(CUBE_TETS, cage), scene_pb2.Scene(), cage, places)
    nodes = find_embedding(scene_pb2.Body(), scene_pb2.Scene(), stored, stored)
    starts = {"soft": cage, "nodes": stored, "stored": stored, "still": np.empty((0, 3))}
    moving = {name: start + np.concatenate([np.zeros((1, *start.shape)), random.uniform(-0.1, 0.1, (4, *start.shape))])
              for name, start in starts.items()}
    arrays = {f"cage_{b}": moving[name] for b, name in enumerate(starts)}
    arrays.update(time_s=TIMES, body_names=np.array(list(starts)), action=np.zeros((4, 0)), surface_2=moving["stored"].astype(np.float32))
    arrays["meta"] = np.array(json.dumps({"scene": "scenes/1", "seed": 5, "task": "push"}))
    made = eipc.Episode(Path("episode_000000.npz"), arrays)
    surfaces = {"soft": places, "nodes": stored, "stored": stored, "still": box([0, 0, -1], [5, 5, 1])}
    topology = {name: eipc.BodyTopology(triangles, surface) for name, surface in surfaces.items()}
    made._scene = RecordedScene("scenes/1", "", scene_pb2.Scene(), {}, topology, {"soft": soft, "nodes": nodes})
    return made


def upright(points):
    """The world's z axis is the viewer's y axis."""
    return np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)


def read(episode, tmp_path, **options):
    gltf.write_glb(tmp_path / "episode.glb", episode, **options)
    return Glb((tmp_path / "episode.glb").read_bytes())


def test_skinning_gives_the_surfaces_of_the_episode(episode, tmp_path):
    glb = read(episode, tmp_path)
    for k, time in enumerate(TIMES):
        seen = glb.surfaces(time - TIMES[0])
        assert list(seen) and set(seen) == set(episode.bodies)
        for name in episode.bodies:
            np.testing.assert_allclose(seen[name], upright(episode.surface(name, k)), atol=1e-5 if k else 1e-6)
    assert glb.document["asset"]["extras"] == {"scene": "scenes/1", "seed": 5, "task": "push"}


def test_the_official_validator_finds_nothing(episode, tmp_path):
    for name, options in {"all": {}, "few": {"every": 3, "bodies": ["soft"]}, "still": {"bodies": ["still"]}}.items():
        gltf.write_glb(tmp_path / f"{name}.glb", episode, **options)
        report = read_with("gltf.mjs", tmp_path / f"{name}.glb")
        assert report["issues"]["messages"] == [], name
        assert report["info"]["animationCount"] == (name != "still") and report["info"]["drawCallCount"] == len(options.get("bodies", episode.bodies))
    broken = (tmp_path / "all.glb").read_bytes().replace(b'"JOINTS_0"', b'"JOINTS_1"')
    (tmp_path / "broken.glb").write_bytes(broken)
    assert read_with("gltf.mjs", tmp_path / "broken.glb")["issues"]["numErrors"] > 0


def test_samples_can_be_left_out(episode, tmp_path):
    glb = read(episode, tmp_path, every=3, bodies=["soft"])
    times, _ = next(iter(glb.moves.values()))
    np.testing.assert_allclose(times, (TIMES - 1)[[0, 3, 4]], atol=1e-7)  # the last one stays
    assert list(glb.surfaces(0)) == ["soft"]


def test_a_scene_at_rest_has_no_animation(episode, tmp_path):
    assert "animations" not in read(episode, tmp_path, bodies=["still"]).document


def test_what_cannot_be_written_is_named(episode, tmp_path, monkeypatch):
    with pytest.raises(eipc.EpisodeError, match="no body 'bear'; it has: soft, nodes"):
        gltf.write_glb(tmp_path / "no.glb", episode, bodies=["bear"])
    with pytest.raises(eipc.EpisodeError, match="every must be at least 1, got 0"):
        gltf.write_glb(tmp_path / "no.glb", episode, every=0)
    monkeypatch.setattr(gltf, "_MOST_JOINTS", 7)
    with pytest.raises(eipc.EpisodeError, match="'soft' has 8 moving points"):
        gltf.write_glb(tmp_path / "no.glb", episode)
    assert list(tmp_path.iterdir()) == []
