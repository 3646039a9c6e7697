"""Some rounds of what `./dev validate service` does with hundreds: kill -9 amid concurrent calls (tests/validate/service_kill.py)."""

import sys
from pathlib import Path

from test_real_server import cube_scene

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "validate"))
from service_kill import kill_rounds  # noqa: E402


def test_kill_nine_loses_nothing_takes_nothing_twice_and_raises_nothing(server_binary, tmp_path):
    counts = kill_rounds(str(server_binary), str(tmp_path / "state"), cube_scene(), rounds=4, seed=7)
    assert not counts.problems
    assert (counts.lost, counts.taken_twice, counts.risen) == (0, 0, 0)
    assert counts.calls > 0
