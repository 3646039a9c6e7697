"""Some rounds of what `./dev validate service` does with hundreds: kill -9 amid concurrent calls (tests/validate/service_kill.py)."""

import shutil
import sys
from pathlib import Path

import pytest

import eipc
from awaiting import wait_until
from server_metrics import gauges
from test_real_server import cube_scene
from test_service import launch_with_metrics

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "validate"))
from service_kill import kill_rounds  # noqa: E402


def test_kill_nine_loses_nothing_takes_nothing_twice_and_raises_nothing(server_binary, tmp_path):
    counts = kill_rounds(str(server_binary), str(tmp_path / "state"), cube_scene(), rounds=4, seed=7)
    assert not counts.problems
    assert (counts.lost, counts.taken_twice, counts.risen) == (0, 0, 0)
    assert counts.calls > 0


def test_a_state_folder_that_is_removed_stops_its_sessions_and_raises_the_alarm(server_binary, tmp_path):
    folder = tmp_path / "state"
    launched, port = launch_with_metrics(server_binary, f"--state-dir={folder}")
    with launched as server, server.client() as client:
        scene = client.create_scene(cube_scene())
        stepped, idle = scene.create_session(), scene.create_session()
        stepped.step(0.01)
        shutil.rmtree(folder)
        with pytest.raises(eipc.UnavailableError, match="JOURNAL_FAILED: somebody removed or replaced"):
            stepped.step(0.01)
        assert stepped.state().step == 1
        with pytest.raises(eipc.UnavailableError, match="put it back and restart"):
            scene.create_session()
        wait_until(lambda: gauges(port)["eipc_journal_failed_sessions"] == 2, "the session that nobody steps is stopped, too")
        with pytest.raises(eipc.UnavailableError, match="JOURNAL_FAILED"):
            idle.step(0.01)
