"""Episodes recorded from the real server, and read again."""

import json
import re
import signal
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest

import eipc
from conftest import CLIENT_ROOT, REPOSITORY
from eipc.action_log import log_of_world
from eipc.camera import Camera
from eipc.commands import command_form, command_vector
from eipc.recorded_requests import stripped
from eipc.recorded_scene import scene_path
from eipc.v1 import scene_pb2
from observed_arrays import observation_arrays, receipt_arrays
from puppet_server import BOX_TRIANGLES, box
from server_client import client  # noqa: F401 (fixture)
from test_real_server import CUBE_TETS, cube_scene

DT = 0.01
SURFACE = eipc.Observe(surface_positions=True)


def soft_scene(made_cage=False, height=0.06):
    """A small box embedded in a cube of six tetrahedra, falling onto a slab, and the kinematic box of cube_scene."""
    scene = cube_scene()
    body = scene.bodies[0]
    embedded = scene_pb2.EmbeddedBody()
    embedded.surface.CopyFrom(eipc.mesh_from_arrays(box([0, 0, 0], [0.09, 0.09, 0.09]), BOX_TRIANGLES))
    if made_cage:
        embedded.cage_vertices = 20
    else:
        embedded.cage_mesh.CopyFrom(eipc.mesh_from_arrays(box([0, 0, 0], [0.1, 0.1, 0.1]), CUBE_TETS))
    body.embedded.CopyFrom(embedded)
    body.pose.position_m.z = height
    return scene


def pusher_at(x):
    return {"pusher": eipc.Pose(np.array([x, 0, 0.2]))}


def record(recorder, session, steps=20, **known):
    """One episode; returns what was observed with surfaces, the start first."""
    seen = [session.state(SURFACE)]
    with recorder.episode(session, **known) as episode:
        for k in range(steps):
            seen.append(episode.step(DT, targets=pusher_at(0.2 + 0.001 * k), observe=SURFACE))
    return seen


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch_server(server_binary) as server:
        yield server


@pytest.fixture
def session(client):
    with client.create_scene(soft_scene()).create_session(record=True) as session:
        yield session


@pytest.fixture
def recorder(tmp_path):
    with eipc.Recorder(tmp_path / "episodes") as recorder:
        yield recorder


def the_episode(recorder):
    (episode,) = eipc.load_episodes(recorder.folder)
    return episode


def test_an_episode_holds_what_was_observed(recorder, session):
    seen = record(recorder, session, seed=7, task="fall")
    episode = the_episode(recorder)
    assert (episode.number, episode.seed, episode.task, episode.steps, episode.success) == (0, 7, "fall", 20, None)
    assert episode.scene_name == session.scene and episode.bodies == ["cube", "slab", "pusher"]
    np.testing.assert_array_equal(episode["time_s"], [o.time_s for o in seen])
    np.testing.assert_array_equal(episode["position_m"][:, 0], [o.bodies["cube"].pose.position for o in seen])
    np.testing.assert_array_equal(episode["orientation_wxyz"][:, 0], [o.bodies["cube"].pose.orientation for o in seen])
    for k in range(1, 21):
        assert episode["linear_velocity_m_s"][k, 0].tolist() == seen[k].bodies["cube"].linear_velocity.tolist()
        counts = seen[k].contact_counts
        assert episode["contacts"][k].tolist() == [counts.point_triangle, counts.edge_edge]
        assert episode["min_distance_m"][k] == seen[k].min_distance_m
        for i, pair in enumerate(episode["wrench_pairs"].tolist()):
            wrench = seen[k].contact_wrenches.get(tuple(pair))
            expected = np.zeros(3) if wrench is None else wrench.normal_force
            np.testing.assert_array_equal(episode["normal_force_n"][k, i], expected)
    assert episode["normal_force_n"].any() and episode["contacts"].any()
    assert episode.receipts == [o.step_receipt for o in seen[1:]]
    assert episode["frame_names"].tolist() == [["pusher", ""]]
    np.testing.assert_allclose(episode["frame_target_position_m"][1:, 0, 0], 0.2 + 0.001 * np.arange(20), atol=1e-15)
    assert episode.action_names == [f"pusher/{part}" for part in ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")]
    np.testing.assert_allclose(episode["action"][:, 0], 0.2 + 0.001 * np.arange(20), atol=1e-15)
    assert "20 steps" in repr(episode)


def test_surfaces_are_made_from_cages(recorder, session):
    seen = record(recorder, session)
    episode = the_episode(recorder)
    assert not any(name.startswith("surface") for name in episode.arrays)
    for name in episode.bodies:
        np.testing.assert_allclose(episode.surface(name), [o.bodies[name].surface_positions for o in seen], atol=1e-15)
        np.testing.assert_array_equal(episode.surface(name, 3), episode.surface(name)[3])
    assert episode.scene.topology["cube"].triangles.tolist() == BOX_TRIANGLES.tolist()
    assert episode.scene.bodies["cube"].mass_kg == pytest.approx(1000 * 0.09**3)
    assert [body.name for body in episode.scene.message.bodies] == episode.bodies


def test_surfaces_are_kept_where_the_server_makes_the_cage(recorder, client):
    with client.create_scene(soft_scene(made_cage=True)).create_session() as session:
        seen = record(recorder, session)
    episode = the_episode(recorder)
    assert episode["surface_0"].dtype == np.float32 and "surface_2" not in episode.arrays
    np.testing.assert_allclose(episode.surface("cube"), [o.bodies["cube"].surface_positions for o in seen], atol=1e-7)


def test_cages_in_single_precision(tmp_path, session):
    with eipc.Recorder(tmp_path, positions_dtype=np.float32) as recorder:
        seen = record(recorder, session)
    (episode,) = eipc.load_episodes(tmp_path)
    assert episode.cage("cube").dtype == np.float32
    np.testing.assert_allclose(episode.surface("cube"), [o.bodies["cube"].surface_positions for o in seen], atol=1e-7)


def test_verify_replays_the_log_of_each_episode(recorder, session, eipc_binary, tmp_path):
    for seed in range(2):
        record(recorder, session, seed=seed, steps=7 + seed)
        session.reset()
    logs = [episode.log for episode in eipc.load_episodes(recorder.folder)]
    for k, (log, episode) in enumerate(zip(logs, eipc.load_episodes(recorder.folder))):
        (tmp_path / "log").write_bytes(log)
        result = subprocess.run([eipc_binary, "verify", tmp_path / "log"], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        assert f"{7 + k} steps, every digest found again" in result.stdout
        assert f"state digest {episode['state_digest'][-1].decode()}" in result.stdout
    assert len(logs[1]) < 1.5 * len(logs[0])  # the second does not repeat the first


def test_worlds_of_a_session_are_recorded_side_by_side(recorder, client):
    with client.create_scene(soft_scene()).create_session(worlds=2, record=True) as session:
        with recorder.episode(session, world=0, seed=1) as one, recorder.episode(session, world=1, seed=2) as other:
            for k in range(5):
                results = session.step_batch([{"dt": DT, "world": world, "substeps": world + 1, "targets": pusher_at(0.2 + 0.01 * world),
                                               "observe": episode.observe()} for world, episode in enumerate((one, other))])
                for episode, result in zip((one, other), results):
                    episode.record(result.observation, action=[k, 2 * k])
                    episode.mark(reward=k, done=k == 4)
            other.success = True
    first, second = eipc.load_episodes(recorder.folder)
    assert (first.seed, second.seed, first.success, second.success) == (1, 2, None, True)
    assert first["step"].tolist() == list(range(6)) and second["step"].tolist() == list(range(0, 12, 2))
    assert second["action"].tolist() == [[k, 2 * k] for k in range(5)] and second.action_names == []
    assert second["reward"].tolist() == [0, 1, 2, 3, 4] and second["done"].tolist() == [False] * 4 + [True]


def test_equal_runs_are_equal_files(recorder, client):
    for _ in range(2):
        with client.create_scene(soft_scene()).create_session(threads=2) as session:
            record(recorder, session, seed=3)
    one, other = eipc.load_episodes(recorder.folder)
    assert one["state_digest"].tolist() == other["state_digest"].tolist()
    for name in one.arrays:
        if name != "meta":
            np.testing.assert_array_equal(one[name], other[name])


def test_an_exception_discards_the_episode(recorder, session):
    with pytest.raises(RuntimeError):
        with recorder.episode(session) as episode:
            episode.step(DT)
            raise RuntimeError
    with recorder.episode(session):
        pass  # without steps
    assert list(eipc.load_episodes(recorder.folder)) == []
    assert recorder.lost == () and not list(recorder.folder.glob("*.open"))
    record(recorder, session)
    assert the_episode(recorder).number == 2


def test_steps_past_the_recorder_are_refused(recorder, session):
    with pytest.raises(eipc.AbortedError):
        with recorder.episode(session) as episode:
            episode.step(DT)
            session.step(DT)
            episode.step(DT)
    with pytest.raises(eipc.EpisodeError, match="something stepped it past the recorder"):
        with recorder.episode(session) as episode:
            episode.step(DT)
            session.step(DT)
    with pytest.raises(eipc.EpisodeError, match="record every step"):
        with recorder.episode(session) as episode:
            session.step(DT)
            episode.record(session.step(DT, observe=episode.observe()), action=[])
    with pytest.raises(eipc.EpisodeError, match="observe=episode.observe"):
        with recorder.episode(session) as episode:
            episode.record(session.step(DT), action=[])


def test_recorded_steps_bring_pictures(recorder, session):
    sense = eipc.CameraSense(Camera.look_at([0.6, 0.5, 0.5], [0, 0, 0.1], width=8, height=6))
    with recorder.episode(session) as episode:
        episode.step(DT)
        seen = episode.step(DT, observe=eipc.Observe(cameras={"side": sense}))
        episode.step(DT)
    assert seen.cameras["side"].depth.shape == (6, 8) and np.isfinite(seen.cameras["side"].depth).any()


def test_actions_have_one_form(recorder, session):
    with pytest.raises(eipc.EpisodeError, match=r"commands nothing, those before it \[pusher/x_m") as caught:
        with recorder.episode(session) as episode:
            episode.step(DT, targets=pusher_at(0.2))
            episode.step(DT)
    assert "step 1" in str(caught.value)
    with pytest.raises(eipc.EpisodeError, match="commands 3 numbers, those before it 2 numbers"):
        with recorder.episode(session) as episode:
            episode.step(DT, action=[1, 2])
            episode.step(DT, action=[1, 2, 3])
    with pytest.raises(eipc.EpisodeError, match="commands .*pusher/x_m.*, those before it 1 numbers"):
        with recorder.episode(session) as episode:
            episode.step(DT, action=[1], targets=pusher_at(0.2))
            episode.step(DT, targets=pusher_at(0.2))
    with pytest.raises(eipc.EpisodeError, match="finite"):
        with recorder.episode(session) as episode:
            episode.step(DT, action=[np.nan])


def test_actions_are_what_was_commanded_when_the_step_was_taken(recorder, session):
    """Whatever becomes of the arguments afterwards; and in the order of their names."""
    targets = pusher_at(0.2)
    with recorder.episode(session) as episode:
        for k in range(3):
            targets["pusher"] = pusher_at(0.2 + 0.001 * k)["pusher"]
            episode.step(DT, targets=targets)
        targets["pusher"] = pusher_at(9)["pusher"]
    np.testing.assert_allclose(the_episode(recorder)["action"][:, 0], [0.2, 0.201, 0.202], atol=1e-15)


def test_forms_of_commands_are_equal_where_their_names_are():
    pose, path = eipc.Pose(), eipc.Trajectory([0], [eipc.Pose()])
    commands = [{}, {"targets": {"a": pose}}, {"targets": {("a", "b"): pose}}, {"trajectories": {"a": path}}, {"drives": {"a": eipc.drives.force(1)}},
                {"drives": {"a": eipc.drives.position(1)}}, {"joints": {"a": eipc.drives.force(1)}}]
    forms = [command_form(options) for options in commands]
    assert len(set(forms)) == len(forms)
    assert command_form({"drives": {"a": eipc.drives.force(2)}, "targets": None}) == forms[4]


def test_trajectories_and_drives_are_actions_by_their_ends():
    path = eipc.Trajectory([0, 1], [eipc.Pose(), eipc.Pose(np.array([1.0, 0, 0]))])
    names, values = command_vector({"trajectories": {("arm", "tip"): path}, "targets": {"box": eipc.Pose(np.array([0, 0, 3.0]))},
                                    "drives": {"jaw": eipc.drives.path([0, 1], [0, 2]), "claw": eipc.drives.force(4)}}, 0.5)
    assert names[2] == "box/z_m" and names[7] == "arm/tip/x_m" and names[14:] == ["claw/force", "jaw/position"]
    assert values[2] == 3 and values[7] == 0.5 and values[14:].tolist() == [4, 1]


def test_files_hold_what_a_user_sees_to_the_bit(recorder, session, client):
    with client.create_scene(soft_scene(made_cage=True)).create_session() as other:
        for world, kept in ((session, set()), (other, {"cube"})):
            with recorder.episode(world) as episode:
                seen = [episode.observation, *(episode.step(DT, targets=pusher_at(0.2 + 0.001 * k)) for k in range(12))]
            stored = eipc.Episode.load(episode.path)
            expected = {**observation_arrays(seen, kept), **receipt_arrays(seen[0], [one.step_receipt for one in seen[1:]])}
            assert [name for name in stored.arrays if name in expected] == list(expected)
            for name, array in expected.items():
                assert stored[name].dtype == array.dtype and stored[name].tobytes() == array.tobytes(), name
            assert [request.targets[0].pose.position_m.x for request in stored.requests] == [0.2 + 0.001 * k for k in range(12)]


def test_steps_taken_elsewhere_are_kept_as_those_of_the_recorder(recorder, session):
    with recorder.episode(session) as episode:
        for k in range(3):
            episode.step(DT, targets=pusher_at(0.2 + 0.001 * k))
    session.reset()
    with recorder.episode(session) as episode:
        for k in range(3):
            options = {"dt": DT, "targets": pusher_at(0.2 + 0.001 * k), "observe": episode.observe()}
            episode.record(session.step(**options), action=[k], request=options)
    one, other = eipc.load_episodes(recorder.folder)
    for name in set(one.arrays) - {"meta", "action", "log", "step", "receipt_step", "receipt_first_step", "request", "request_at"}:
        np.testing.assert_array_equal(one[name], other[name])
    assert len(one.requests) == len(other.requests) == 3


def test_requests_are_kept_without_where_and_when_they_were_sent(recorder, session):
    options = [{"substeps": 2}, {"observe": SURFACE, "request_id": "mine"}, {"time_limit": 5.0, "expected_step": 3}]
    with recorder.episode(session) as episode:
        for k, more in enumerate(options):
            seen = episode.step(DT, targets=pusher_at(0.2 + 0.001 * k), **more)
            assert (seen.bodies["cube"].surface_positions is not None) == ("observe" in more)
        with pytest.raises(eipc.AbortedError):
            episode.step(DT, targets=pusher_at(0.2), expected_step=1)
        with pytest.raises(TypeError):
            episode.step(DT, targets=pusher_at(0.2), speed=1)
    (stored,) = eipc.load_episodes(recorder.folder)
    sent = [session._step_request(DT, targets=pusher_at(0.2 + 0.001 * k), **more) for k, more in enumerate(options)]
    assert [request.SerializeToString(deterministic=True) for request in stored.requests] == [stripped(request) for request in sent]


def test_observations_that_were_made_are_not_kept(recorder, session):
    with pytest.raises(eipc.EpisodeError, match="as the server sent them"):
        with recorder.episode(session) as episode:
            seen = session.step(DT, observe=episode.observe())
            episode.record(eipc.Observation(seen.step, 0.0, {}, {}, None, None, None, None, {}), action=[])


KILLED = """
import os, signal, sys
import eipc
from test_recorder import DT, pusher_at, soft_scene

with eipc.connect(sys.argv[1]) as client, eipc.Recorder(sys.argv[2]) as recorder:
    with client.create_scene(soft_scene()).create_session() as session:
        for seed in range(3):
            with recorder.episode(session, seed=seed, task=f"episode {seed}") as episode:
                for _ in range(4):
                    episode.step(DT, targets=pusher_at(0.2))
                if seed == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
            session.reset()
"""


def test_a_killed_recorder_loses_the_episode_that_it_was_in(server, session, tmp_path):
    folder = tmp_path / "episodes"
    killed = subprocess.run([sys.executable, "-c", KILLED, server.address, folder], cwd=CLIENT_ROOT / "tests", check=False,
                            env={"PYTHONPATH": f"{CLIENT_ROOT}:{CLIENT_ROOT / 'tests'}"})
    assert killed.returncode == -signal.SIGKILL
    assert [episode.seed for episode in eipc.load_episodes(folder)] == [0, 1]
    (folder / "episode_000002.npz.part").write_bytes(b"half")
    with pytest.warns(eipc.LostEpisodeWarning, match=r"episode 2 \(seed 2, task 'episode 2', scenes/"):
        with eipc.Recorder(folder) as recorder:
            assert recorder.lost == (eipc.LostEpisode(2, 2, "episode 2", session.scene),)
            record(recorder, session, seed=9)
    assert [(episode.number, episode.seed) for episode in eipc.load_episodes(folder)] == [(0, 0), (1, 1), (3, 9)]
    assert not list(folder.glob("*.part"))
    with eipc.Recorder(folder) as recorder:
        assert recorder.lost == ()  # said once


def test_killed_between_the_file_and_its_marker_loses_nothing(recorder, session):
    record(recorder, session)
    recorder.close()
    (recorder.folder / "episode_000000.open").write_text(json.dumps({"seed": 0, "task": "", "scene": ""}))
    with eipc.Recorder(recorder.folder) as again:
        assert again.lost == () and not list(recorder.folder.glob("*.open"))


def test_a_folder_has_one_recorder_at_a_time(recorder):
    with pytest.raises(eipc.EpisodeError, match="another recorder uses this folder"):
        eipc.Recorder(recorder.folder)
    recorder.close()
    eipc.Recorder(recorder.folder).close()
    with pytest.raises(eipc.EpisodeError, match="closed"):
        recorder.episode(None)


def test_the_client_needs_no_file_locks(tmp_path):
    code = ("import sys; sys.modules['fcntl'] = None\nimport eipc\ntry: eipc.Recorder(sys.argv[1])\n"
            "except eipc.EpisodeError as error: print(error)")
    result = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True,
                            env={"PYTHONPATH": str(CLIENT_ROOT)})
    assert "recording needs a POSIX system" in result.stdout


def test_files_that_cannot_be_read_are_named(recorder, session, tmp_path):
    record(recorder, session)
    path = recorder.folder / "episode_000000.npz"
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda member: member.compress_size)
    middle = largest.header_offset + 200 + largest.compress_size // 2  # in its data: not all of a header says something
    for name, damaged in {"flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:], "short": whole[:-100],
                          "empty": b"", "text": b"no"}.items():
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(eipc.EpisodeError, match=f"{name}: is no episode file of a recorder, or it is damaged"):
            eipc.Episode.load(tmp_path / name)
    with pytest.raises(eipc.EpisodeError, match="there is no such file"):
        eipc.Episode.load(tmp_path / "none")
    with pytest.raises(eipc.EpisodeError, match="no episode file"):
        eipc.Episode.load(next(recorder.folder.glob("scene_*")))
    np.savez(tmp_path / "later.npz", meta=np.array(json.dumps({"what": "episode", "format": 99})))
    with pytest.raises(eipc.EpisodeError, match="format 99, this version reads 1"):
        eipc.Episode.load(tmp_path / "later.npz")
    alone = tmp_path / "alone.npz"
    alone.write_bytes(whole)
    with pytest.raises(eipc.EpisodeError, match="needs the scene's file"):
        eipc.Episode.load(alone).surface("cube")
    with pytest.raises(eipc.EpisodeError, match="no such folder"):
        next(eipc.load_episodes(tmp_path / "nowhere"))
    with pytest.raises(KeyError, match="no body 'bear'; it has: cube, slab, pusher"):
        eipc.Episode.load(path).surface("bear")


def frame(kind, world, rest=b""):
    record = struct.pack("<BBi", 2, kind, world) + rest
    return struct.pack("<II", len(record), zlib.crc32(record)) + record


def test_the_log_of_a_world_begins_at_its_last_state():
    header, start, other, step, reset, after, answer = (
        frame(0, 99), frame(1, 0), frame(1, 1), frame(2, 0), frame(1, 0, b"reset"), frame(3, 0), frame(2, -1))
    log = header + start + other + step + reset + after + frame(2, 1) + answer
    assert log_of_world(log, 0) == header + reset + after
    assert log_of_world(log, 1) == header + other + frame(2, 1)
    for torn in (log[:-1], log[:-8] + bytes(8), log + b"1"):
        with pytest.raises(eipc.InternalError, match="torn at byte"):
            log_of_world(torn, 0)


def test_every_array_is_documented(recorder, session):
    page = (REPOSITORY / "docs/reference/episodes.md").read_text(encoding="utf-8")
    of_episodes, of_scenes = page.split("## scene_HASH.npz")
    record(recorder, session)
    for part, path, may_lack in ((of_episodes, "episode_000000.npz", {"surface_0", "kept_NAME"}), (of_scenes, scene_path(recorder.folder, session.scene).name, set())):
        rows = re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
        listed = {name.replace("{b}", "0") for row in rows for name in re.findall(r"`([\w{}]+)`", row)}
        held = {re.sub(r"_\d+$", "_0", name) for name in np.load(recorder.folder / path).files}
        assert held - listed == set() and listed - held == may_lack
