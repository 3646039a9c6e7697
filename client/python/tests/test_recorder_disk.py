"""What a recorder's folder holds when the disk, the process or the machine fails."""

import errno
import json
import signal
import subprocess
import sys

import pytest

import eipc
from conftest import CLIENT_ROOT
from server_client import client  # noqa: F401 (fixture)
from test_recorder import DT, record, recorder, server, session  # noqa: F401 (fixtures)


def parts_of(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("scene_") and path.name != ".lock")


def test_a_disk_that_fails_is_said_at_the_next_call_and_takes_no_whole_file(recorder, session, monkeypatch):
    record(recorder, session, steps=2)
    recorder.sync()
    assert parts_of(recorder.folder) == ["episode_000000.npz"]

    def fail(handle):
        raise OSError(errno.EIO, "Input/output error")

    with recorder.episode(session) as episode:
        episode.step(DT)
        recorder.sync()  # its marker
        monkeypatch.setattr("eipc.episode_file.os.fsync", fail)
    with pytest.raises(eipc.EpisodeError, match="could not be put on the disk .*Input/output error"):
        recorder.sync()
    with pytest.raises(eipc.EpisodeError, match="Input/output error"):
        recorder.episode(session)
    with pytest.raises(eipc.EpisodeError, match="Input/output error"):
        recorder.close()
    recorder.close()  # said once
    monkeypatch.undo()
    assert parts_of(recorder.folder) == ["episode_000000.npz", "episode_000001.npz", "episode_000001.open"]
    with eipc.Recorder(recorder.folder) as again:
        assert again.lost == () and len(list(eipc.load_episodes(recorder.folder))) == 2
        assert parts_of(recorder.folder) == ["episode_000000.npz", "episode_000001.npz"]


def test_a_disk_that_fails_in_an_episode_is_said_by_its_next_step_and_its_end(recorder, session, monkeypatch):
    def fail(handle):
        raise OSError(errno.EIO, "Input/output error")

    with recorder.episode(session):
        pass  # writes the scene's file
    recorder.sync()
    monkeypatch.setattr("eipc.episode_file.os.fsync", fail)  # of the marker
    episode = recorder.episode(session)
    with pytest.raises(eipc.EpisodeError):
        recorder.sync()
    for call in (lambda: episode.step(DT), episode.finish):
        with pytest.raises(eipc.EpisodeError, match="Input/output error"):
            call()
    episode.discard()
    assert parts_of(recorder.folder) == []
    with pytest.raises(eipc.EpisodeError):
        recorder.close()


def test_a_full_disk_is_said_when_the_episode_ends(recorder, session, monkeypatch):
    def fail(file, arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("eipc.episode_file.write_npz", fail)
    with pytest.raises(OSError, match="No space left"):
        record(recorder, session, steps=2, seed=5)
    monkeypatch.undo()
    assert parts_of(recorder.folder) == ["episode_000000.open"]
    recorder.close()
    with pytest.warns(eipc.LostEpisodeWarning, match="seed 5"):
        eipc.Recorder(recorder.folder).close()


def test_what_the_end_of_the_machine_left_is_found(recorder, session):
    for seed in range(3):
        record(recorder, session, steps=2, seed=seed)
    recorder.close()
    known = [{"number": number, "seed": number, "task": "", "scene": session.scene} for number in range(5)]
    cut, whole = recorder.folder / "episode_000001.npz", recorder.folder / "episode_000002.npz"
    cut.write_bytes(cut.read_bytes()[:-1000])
    for number in (1, 2, 3):
        (recorder.folder / f"episode_{number:06d}.open").write_text(json.dumps(known[number]))
    (recorder.folder / "episode_000004.open").write_bytes(b"")
    with pytest.warns(eipc.LostEpisodeWarning):
        with eipc.Recorder(recorder.folder) as again:
            assert [(lost.number, lost.seed) for lost in again.lost] == [(1, 1), (3, 3), (4, None)]
    assert whole.exists() and [episode.number for episode in eipc.load_episodes(recorder.folder)] == [0, 2]
    assert parts_of(recorder.folder) == ["episode_000000.npz", "episode_000001.lost", "episode_000002.npz", "episode_000003.lost",
                                         "episode_000004.lost"]


KILLED_BEFORE_THE_DISK = """
import os, signal, sys, threading
import eipc, eipc.episode_file
from test_recorder import DT, pusher_at, soft_scene

with eipc.connect(sys.argv[1]) as client, eipc.Recorder(sys.argv[2]) as recorder:
    with client.create_scene(soft_scene()).create_session() as session:
        eipc.episode_file.EpisodeFile._put_file = lambda self, file: threading.Event().wait()  # a disk that takes for ever
        with recorder.episode(session, seed=1) as episode:
            episode.step(DT, targets=pusher_at(0.2))
        with recorder.episode(session, seed=2) as episode:
            episode.step(DT, targets=pusher_at(0.2))
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_recorder_killed_before_the_disk_was_done_loses_nothing_that_was_finished(server, tmp_path):
    folder = tmp_path / "episodes"
    killed = subprocess.run([sys.executable, "-c", KILLED_BEFORE_THE_DISK, server.address, folder], cwd=CLIENT_ROOT / "tests", check=False,
                            env={"PYTHONPATH": f"{CLIENT_ROOT}:{CLIENT_ROOT / 'tests'}"})
    assert killed.returncode == -signal.SIGKILL
    assert [episode.seed for episode in eipc.load_episodes(folder)] == [1]
    assert parts_of(folder) == ["episode_000000.npz", "episode_000000.open", "episode_000001.open"]
    with pytest.warns(eipc.LostEpisodeWarning):
        with eipc.Recorder(folder) as recorder:
            assert [lost.seed for lost in recorder.lost] == [2]
    assert parts_of(folder) == ["episode_000000.npz", "episode_000001.lost"]
