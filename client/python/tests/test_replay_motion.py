"""The recorded motion of a gripper, replayed with FinRay fingers that take a block: client/python/examples/replay_motion.py."""

import json
import subprocess
import sys

import numpy as np
import pytest

from conftest import CLIENT_ROOT, REPOSITORY

sys.path[:0] = [str(REPOSITORY / "tests" / "support"), str(CLIENT_ROOT / "examples")]
from eipc_cli import default_data  # noqa: E402
from replay_motion import COLUMNS, read_recording, write_replay  # noqa: E402
from surface_positions import read_surface_positions  # noqa: E402

CORNERS = 8  # of the block, and of the stand and the table after it


@pytest.fixture
def recorded():
    """A motion that was recorded on a robot: it takes something, carries it and puts it down, with pauses and corrections."""
    data = default_data()
    path = None if data is None else data / "trajectories" / "simple_franka" / "data__panda_left_last.csv"
    if path is None or not path.is_file():
        pytest.skip("there are no recorded motions: set EIPC_DATA")
    return path


def replay(eipc_binary, recording, folder, *span):
    """The report, and the centre of the block at each frame, [t,3], with the times of the frames."""
    write_replay(recording, folder / "replay.textproto", *span)
    words = [eipc_binary.resolve(), "run", "replay.textproto", "--audit", "--report", "replay.json", "--trajectory", "replay.positions"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    frames = read_surface_positions(folder / "replay.positions")
    block = np.asarray(frames.positions)[:, -3 * CORNERS:-2 * CORNERS].mean(axis=1)
    return json.loads((folder / "replay.json").read_text()), block, np.asarray(frames.times)


def test_a_recorded_motion_takes_carries_and_sets_down_a_block(eipc_binary, recorded, tmp_path):
    span = (4, 20)  # s: before and after it the arm moves with its gripper open
    report, block, times = replay(eipc_binary, recorded, tmp_path, *span)
    assert report["audit"]["intersections"] == 0 and report["audit"]["states_checked"] == report["steps"] == 800
    assert report["steps_not_converged"] == 0
    assert {name: goal["reached"] for name, goal in report["goals"].items()} == {"placed": True, "standing": True, "at_rest": True}
    assert report["holding"]["mean_vertical_force_n"] == pytest.approx(report["holding"]["weight_n"], rel=0.02)
    assert block[:, 2].max() - block[0, 2] > 0.25 and np.linalg.norm(block[-1, :2] - block[0, :2]) > 0.35
    # In the moving hand it sways by up to 3 mm, and comes back: it does not slip.
    motion = read_recording(recorded, *span)
    inside = []
    for row in range(motion.closing.stop, (motion.closing.stop + motion.opening.start) // 2):
        at = [np.interp(motion.times[row], times, block[:, axis]) for axis in range(3)]
        inside.append(motion.poses[row].inverse().apply(at))
    assert len(inside) > 100 and np.ptp(inside, axis=0).max() < 5e-3
    np.testing.assert_allclose(inside[-1], inside[0], atol=2e-3)


def write(path, widths, columns=COLUMNS, changed=()):
    """changed: (row, column, value)."""
    rows = np.zeros((len(widths), len(columns)))
    rows[:, 0], rows[:, 5], rows[:, -1] = 0.1 * np.arange(len(widths)), 1, widths
    for row, column, value in changed:
        rows[row, column] = value
    np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="")
    return path


def test_where_a_recording_closes_and_opens(tmp_path):
    widths = [0.08, 0.08, 0.06, 0.03, 0.02, 0.02, 0.02, 0.03, 0.07, 0.08]
    motion = read_recording(write(tmp_path / "motion.csv", widths))
    assert (motion.closing, motion.opening) == (slice(3, 5), slice(6, 8))
    part = read_recording(tmp_path / "motion.csv", 0.15)
    assert part.closing == slice(1, 3) and part.times[0] == 0


@pytest.mark.parametrize("widths, columns, message", [
    ([0.08, 0.02, 0.08], COLUMNS[:-1], "its columns must be t_s, x_m"),
    ([0.08, 0.08, 0.02], COLUMNS, "must be open, close and open again"),
    ([0.02, 0.08, 0.08], COLUMNS, "must be open, close and open again"),
    ([0.08, 0.08, 0.08], COLUMNS, "must be open, close and open again"),
    ([0.08, 0.02, 0.02, 0.02, 0.08, 0.03, 0.02, 0.08], COLUMNS, "closes again at 0.5 s; name a time span"),
    ([0.08, 0.02, 0.08], COLUMNS, "must stay closed for more than two rows"),
])
def test_recordings_that_cannot_be_replayed_are_refused(tmp_path, widths, columns, message):
    with pytest.raises(ValueError, match=message):
        read_recording(write(tmp_path / "motion.csv", widths, columns))


@pytest.mark.parametrize("change, message", [
    ((3, 0, np.nan), ":5: must be numbers"),
    ((3, 2, np.inf), ":5: must be numbers"),
    ((3, 8, np.nan), ":5: must be numbers"),
    ((3, 5, 0.0), ":5: must be numbers, and a quaternion that is not zero"),
    ((3, 0, 0.2), ":5: its time must be later than that of the row before"),
])
def test_rows_that_are_none_are_named(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        read_recording(write(tmp_path / "motion.csv", [0.08, 0.08, 0.02, 0.02, 0.02, 0.08], changed=[change]))


def test_the_script_says_what_is_wrong_without_a_traceback(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    for words in ([], ["empty.csv"], ["empty.csv", "scene.textproto"], ["none.csv", "scene.textproto"], ["empty.csv", "scene.textproto", "a", "b"]):
        done = subprocess.run([sys.executable, CLIENT_ROOT / "examples" / "replay_motion.py", *words], cwd=tmp_path, capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 1 and "Traceback" not in done.stderr and done.stderr, words
    assert not (tmp_path / "scene.textproto").exists()
