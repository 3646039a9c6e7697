"""Colours of recordings: what surfaces felt is observed while an episode's steps are taken again on a server."""

import numpy as np
import pytest

import eipc
from eipc.cli.__main__ import main
from eipc.scene_mesh import cage_tets
from eipc.viz import replayed_touch, write_episode_page
from eipc.viz import page as page_module
from eipc.viz.page_touch import touch_arrays
from server_client import client  # noqa: F401 (fixture)
from small_grasp import scene
from test_viewer_page import TEMPLATE, unpack

DT, STEPS = 0.01, 12
TOUCH = eipc.Observe(contact_tractions=True, slips=True, stresses=True, contact_wrenches=True)


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary) as server:
        yield server


def squeeze(step):
    """Where the plates are after a step: they press 3 mm into the cube's sides at most."""
    gap = 0.045 - 0.0017 * step
    return {name: eipc.Pose([0, side * gap, 0.03]) for name, side in (("left", -1), ("right", 1))}


@pytest.fixture
def episode(client, tmp_path):  # noqa: F811
    with client.create_scene(scene()).create_session() as session, eipc.Recorder(tmp_path) as recorder:
        with recorder.episode(session, task="squeeze") as writer:
            for step in range(1, STEPS + 1):
                writer.step(DT, targets=squeeze(step))
    return eipc.Episode.load(writer.path)


def test_what_was_felt_is_what_the_same_steps_show(client, episode):  # noqa: F811
    with client.create_scene(scene()).create_session() as session:
        seen = [session.state(TOUCH)] + [session.step(DT, targets=squeeze(step), observe=TOUCH) for step in range(1, STEPS + 1)]
    found = replayed_touch(episode, client)
    expected = touch_arrays(seen, episode["wrench_pairs"])
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    cube = episode.bodies.index("cube")
    assert seen[-1].contact_force_on("cube") is not None and found[f"traction_begin_{cube}"][-1] > 8
    assert found[f"von_mises_pa_{cube}"][-1].max() > 100 > found[f"von_mises_pa_{cube}"][0].max()


def test_tetrahedra_of_a_full_space_body_are_numbered_as_its_nodes(client):  # noqa: F811
    message = scene()
    with client.create_scene(message).create_session() as session:
        nodes = session.state(eipc.Observe(cage_positions=True)).bodies["cube"].cage_positions
    corners = nodes[cage_tets(message.bodies[0], message)]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    np.testing.assert_allclose(volumes, 0.05 ** 3 / 6, rtol=1e-9)  # the six of a cube of 5 cm, none turned inside out


def test_a_page_of_a_recording_offers_what_was_felt(client, episode, tmp_path, monkeypatch):  # noqa: F811
    (tmp_path / "viewer.html").write_bytes(TEMPLATE)
    monkeypatch.setattr(page_module, "PAGE", tmp_path / "viewer.html")
    write_episode_page(episode, tmp_path / "out.html", touch=replayed_touch(episode, client))
    _, carried = unpack((tmp_path / "out.html").read_bytes())
    cube = episode.bodies.index("cube")
    assert carried[f"von_mises_pa_{cube}"].shape == (STEPS + 1, 6) and carried[f"elements_{cube}"].shape == (6, 4)
    assert len(carried[f"normal_traction_pa_{cube}"]) == carried[f"traction_begin_{cube}"][-1] > 0


def test_steps_that_lead_elsewhere_are_an_error(client, episode):  # noqa: F811
    digests = episode.arrays["state_digest"].copy()
    digests[5] = digests[4]
    episode.arrays["state_digest"] = digests
    with pytest.raises(eipc.EpisodeError, match="step 5 leads to another state"):
        replayed_touch(episode, client)


def test_only_one_episode_can_be_taken_again(capsys):
    for words in (["page.html"], ["a.npz", "b.npz"]):
        assert main(["view", *words, "--touch"]) == 2
        assert "the steps of one episode (.npz), or of what a session recorded (.eipcrec), again" in capsys.readouterr().err
