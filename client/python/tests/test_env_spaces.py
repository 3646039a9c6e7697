"""Spaces of environments where Gymnasium is not installed."""

import numpy as np
import pytest

from eipc.envs.spaces import Box, Dict, Space, batch_space


def test_samples_of_a_box_are_members_and_fill_it():
    box = Box(np.array([-1, 0, 5]), np.array([1, 0.5, 5]), dtype=np.float32, seed=3)
    drawn = np.stack([box.sample() for _ in range(500)])
    assert drawn.dtype == np.float32 and all(sample in box for sample in drawn)
    np.testing.assert_allclose(drawn.min(axis=0), [-1, 0, 5], atol=0.02)
    np.testing.assert_allclose(drawn.max(axis=0), [1, 0.5, 5], atol=0.02)


def test_boxes_may_be_open_on_any_side():
    box = Box(np.array([-np.inf, 2, -np.inf]), np.array([np.inf, np.inf, -3]), dtype=np.float64, seed=0)
    drawn = np.stack([box.sample() for _ in range(500)])
    assert all(sample in box for sample in drawn)
    assert drawn[:, 0].std() == pytest.approx(1, rel=0.2)
    assert (drawn[:, 1] - 2).mean() == pytest.approx(1, rel=0.2) and (-3 - drawn[:, 2]).mean() == pytest.approx(1, rel=0.2)
    assert not box.is_bounded() and not box.is_bounded("below") and Box(0, 1, (2,)).is_bounded()


def test_whole_numbers_reach_both_ends():
    box = Box(0, 3, shape=(1,), dtype=np.int32, seed=1)
    assert {int(box.sample()[0]) for _ in range(200)} == {0, 1, 2, 3}


@pytest.mark.parametrize("outside", [np.array([2, 0], np.float32), np.array([np.nan, 0], np.float32), np.zeros(3, np.float32), "ab",
                                     np.zeros(2, np.float64), None])
def test_what_is_no_member_of_a_box(outside):
    assert outside not in Box(-1, 1, shape=(2,))


def test_equal_seeds_draw_equal_samples():
    spaces = [Dict({"a": Box(0, 1, (2,)), "b": Box(0, 1, (2,))}) for _ in range(2)]
    for space in spaces:
        space.seed(5)
    first, second = (space.sample() for space in spaces)
    np.testing.assert_array_equal(first["a"], second["a"])
    np.testing.assert_array_equal(first["b"], second["b"])
    assert not np.array_equal(first["a"], first["b"])
    spaces[1].seed(6)
    assert not np.array_equal(spaces[0].sample()["a"], spaces[1].sample()["a"])


def test_a_dictionary_needs_every_key_and_no_other():
    space = Dict({"a": Box(0, 1, (1,)), "b": Box(0, 1, (2,))})
    sample = space.sample()
    assert sample in space and {"a": sample["a"]} not in space and {**sample, "c": 1} not in space
    assert {**sample, "a": sample["b"]} not in space
    assert list(space) == ["a", "b"] and space["b"].shape == (2,) and len(space) == 2


def test_batches_have_a_first_axis_more():
    single = Dict({"a": Box(np.array([0, -1]), np.array([1, 2])), "b": Box(0, 1, ())})
    many = batch_space(single, 3)
    assert many["a"].shape == (3, 2) and many["b"].shape == (3,)
    np.testing.assert_array_equal(many["a"].low, [[0, -1]] * 3)
    assert batch_space(single, 3) == many and many != single
    with pytest.raises(TypeError, match="no batch of Space"):
        batch_space(Space((1,), np.float32), 2)


def test_impossible_boxes_and_seeds_are_refused():
    with pytest.raises(ValueError, match="low <= high"):
        Box(1, 0, (2,))
    with pytest.raises(ValueError, match="whole number"):
        Box(0, 1, (2,)).seed(-1)
