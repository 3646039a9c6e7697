"""What sessions record, made episodes by taking the steps again, and the commands that do so."""

import re

import numpy as np
import pytest

import eipc
from eipc import drives
from eipc.cli.__main__ import main
from eipc.session_log import read_log, record_again
from server_client import client  # noqa: F401 (fixture)
from test_real_server import finger_scene
from test_recorder import pusher_at, soft_scene

DT = 0.01


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary) as server:
        yield server


def pushed(client):
    """A recording with targets, turned ones, a trajectory, several steps a request and a reset, and the digests of its states since that."""
    with client.create_scene(soft_scene()).create_session(record=True) as session:
        session.step(DT, targets=pusher_at(0.19))
        session.reset()
        seen = [session.step(DT), session.step(DT, targets=pusher_at(0.19), substeps=3)]
        trajectory = eipc.Trajectory([0, 2 * DT], [pusher_at(0.19)["pusher"], pusher_at(0.18)["pusher"]], eipc.Interpolation.MINIMUM_JERK)
        seen += [session.step(DT, trajectories={"pusher": trajectory}, substeps=2, observe=eipc.Observe(state_digest=True))]
        return session.recording(), seen[-1].state_digest


def test_a_recording_becomes_an_episode_of_the_same_states(client, tmp_path):
    log, digest = pushed(client)
    run = read_log(log)
    assert [step.substeps for step in run.steps] == [1, 3, 2]
    with eipc.Recorder(tmp_path) as recorder:
        path, parted = record_again(run, client, recorder, task="push")
    episode = eipc.Episode.load(path)
    assert parted is None and episode.steps == 3 and episode.task == "push"
    assert episode["state_digest"][-1].decode() == digest
    np.testing.assert_allclose(episode["action"][:, :3], [list(pusher_at(x)["pusher"].position) for x in (0.2, 0.19, 0.18)], atol=1e-12)


def test_a_state_that_is_not_found_again_is_named(client, tmp_path):
    run = read_log(pushed(client)[0])
    run.steps[1].targets[0][1].position_m.x -= 1e-4
    with eipc.Recorder(tmp_path) as recorder:
        assert record_again(run, client, recorder)[1] == 2


def test_commands_of_drives_are_taken_again(client, tmp_path):
    with client.create_scene(finger_scene()).create_session(record=True) as session:
        session.step(DT, drives={"finger": drives.force(4)}, substeps=5)
        session.step(DT, drives={"finger": drives.force(2)}, substeps=5)
        run = read_log(session.recording())
    with eipc.Recorder(tmp_path) as recorder:
        path, parted = record_again(run, client, recorder)
    assert parted is None and eipc.Episode.load(path).steps == 2


@pytest.mark.parametrize("damage, words", [(lambda log: b"", "no recording"), (lambda log: log[:-3], "cut short"), (lambda log: b"x" * 100, "cut short")])
def test_what_is_no_recording_is_refused_in_words(client, damage, words):
    with pytest.raises(eipc.EpisodeError, match=words):
        read_log(damage(pushed(client)[0]))


def test_the_command_makes_an_episode_of_what_the_page_saved(client, server, tmp_path, capsys):
    file = tmp_path / "lift.eipcrec"
    file.write_bytes(pushed(client)[0])
    assert main(["replay", str(file), f"--server={server.address}", f"--out={tmp_path / 'out'}"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"3 requests, every state the same", said)
    assert eipc.Episode.load(tmp_path / "out" / "episode_000000.npz").task == "lift"
    assert main(["replay", str(file)]) == 2
    assert "--out" in capsys.readouterr().err
    assert main(["view", str(tmp_path / "none.eipcrec")]) == 2
    assert "cannot be read" in capsys.readouterr().err
