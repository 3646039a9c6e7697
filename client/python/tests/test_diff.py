"""Where two episodes part, by `eipc diff` and in Python."""

import json

import numpy as np
import pytest

from eipc.cli.__main__ import main
from eipc.diff import first_difference
from made_episodes import made_episode


def changed(episode, name, index, by):
    array = episode[name].copy()
    array[index] = array[index] + by if array.dtype.kind in "fi" else by
    return array


@pytest.fixture
def pair(tmp_path):
    """A made episode, and the same with changes."""
    first = made_episode(tmp_path / "a")
    return first, lambda **changes: made_episode(tmp_path / "b", **changes)


def test_equal_episodes_are_the_same(pair):
    first, second = pair
    assert first_difference(first, second(seed=3, task="another", build="other")) is None


def test_the_first_step_and_the_cause_are_named(pair):
    first, second = pair
    other = second(cage_0=changed(first, "cage_0", (4, 2, 1), 1e-9), position_m=changed(first, "position_m", (4, 0, 1), 2e-9),
                   normal_force_n=changed(first, "normal_force_n", (3, 0, 2), 0.5))
    found = first_difference(first, other)
    assert (found.step, found.time_s, found.field, found.at) == (3, 0.06, "the normal force", " of cube/ground [2]")
    assert (found.first, found.second, found.largest) == ("2", "2.5", 0.5) and found.also == ()
    found = first_difference(first, other, tolerance=0.6)
    assert found is None
    found = first_difference(first, second(cage_0=other["cage_0"], position_m=other["position_m"]))
    assert (found.step, found.field, found.at, found.also) == (4, "the cage of 'cube'", " [2, 1]", ("the position",))
    assert first_difference(first, second(cage_0=other["cage_0"]), tolerance=1e-8) is None


def test_an_action_is_of_the_step_that_it_led_to(pair):
    first, second = pair
    found = first_difference(first, second(action=changed(first, "action", (6, 1), 1), reward=changed(first, "reward", 6, 1)))
    assert (found.step, found.field, found.at) == (7, "the action", " of cube/finger/1") and found.also == ("the reward",)


def test_hidden_state_and_length_count(pair, tmp_path):
    first, second = pair
    found = first_difference(first, second(state_digest=changed(first, "state_digest", 5, b"0123456789abcdef")))
    assert (found.step, found.field, found.second) == (5, "the state digest", "0123456789abcdef")
    shorter = made_episode(tmp_path / "c", steps=8, done=np.zeros(8, dtype=bool))
    found = first_difference(first, shorter)
    assert (found.step, found.field, found.first, found.second) == (9, "the number of steps", "10", "8")
    found = first_difference(first, second(action=first["action"][:, :1]))
    assert (found.step, found.field, found.first, found.second) == (1, "the action", "of shape [2]", "of shape [1]")


def test_the_command_says_it(tmp_path, pair, capsys):
    first, second = pair
    second(cage_0=changed(first, "cage_0", (4, 2, 1), 1e-9))
    made_episode(tmp_path / "a", 1)
    made_episode(tmp_path / "b", 1)
    a, b = (str(tmp_path / name) for name in "ab")
    assert main(["diff", a, b]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "episode_000000.npz: step 4 (0.08 s): the cage of 'cube' [2, 1] is 1 and 1.0000000010000001" in lines[0]
    assert lines[1].endswith("episode_000001.npz: the same")
    assert main(["diff", f"{a}/episode_000001.npz", f"{b}/episode_000001.npz", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out).values()) == [None]
    assert main(["diff", a, f"{b}/episode_000001.npz"]) == 2 and "compare two files or two folders" in capsys.readouterr().err
    made_episode(tmp_path / "a", 2)
    assert main(["diff", a, b]) == 2 and "only one has episode_000002.npz" in capsys.readouterr().err
    assert main(["diff", a, str(tmp_path / "none")]) == 2
    assert main(["diff", a, b, "--tolerance", "-1"]) == 2
