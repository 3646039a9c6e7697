"""What a hand feels, for a haptic device: net wrench, the device's frame, scale, limits and smoothing."""

import numpy as np
import pytest

import eipc
from eipc.haptics import Hand
from eipc.v1 import geometry_pb2, observation_pb2
from test_touch import hand_and_ball

FINGERS = ("left", "right")


def pressed(time_s, force):
    """A fingertip at (1, 0, 0) m that is pressed with [3] N."""
    message = observation_pb2.Observation(time_s=time_s)
    message.bodies.add(name="tip").pose.CopyFrom(
        geometry_pb2.Pose(position_m=geometry_pb2.Vec3(x=1), quaternion=geometry_pb2.Quaternion(w=1)))
    x, y, z = force
    message.contact_wrenches.add(body="tip", other="wall", normal_force_n=geometry_pb2.Vec3(x=x, y=y, z=z))
    return eipc.observation.observation_from_message(message)


def test_a_hand_feels_its_net_wrench():
    seen = hand_and_ball()
    felt = Hand(FINGERS, about=[0, 0, 1]).feel(seen)
    force, moment = seen.contact_wrench_on(*FINGERS, about=[0, 0, 1])
    np.testing.assert_array_equal(felt.force, force)
    np.testing.assert_array_equal(felt.moment, moment)
    np.testing.assert_array_equal(felt.contact_force, [0, 0, -5])
    assert not felt.limited


def test_moments_are_about_a_body_that_is_named():
    np.testing.assert_allclose(Hand(["tip"], about="tip").feel(pressed(0, (0, 2, 0))).moment, [0, 0, 0])
    np.testing.assert_allclose(Hand(["tip"], about=[0, 0, 0]).feel(pressed(0, (0, 2, 0))).moment, [0, 0, 2])
    with pytest.raises(KeyError, match="moments about 'wrist'"):
        Hand(["tip"], about="wrist").feel(pressed(0, (0, 2, 0)))


def test_the_device_has_a_frame_a_scale_and_limits():
    quarter = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]  # the device's x is the world's y
    hand = Hand(["tip"], about=[0, 0, 0], frame=quarter, scale=0.5, max_force_n=3)
    felt = hand.feel(pressed(0, (0, 4, 0)))
    np.testing.assert_allclose(felt.force, [2, 0, 0], atol=1e-12)
    assert not felt.limited
    felt = hand.feel(pressed(0.1, (0, 60, 80)))
    np.testing.assert_allclose(felt.force, [1.8, 0, 2.4], atol=1e-12)  # 50 N, shortened to 3
    np.testing.assert_allclose(felt.contact_force, [0, 60, 80])
    assert felt.limited


def test_forces_are_smoothed_over_simulated_time():
    """A step of 8 N through a first-order low-pass, in steps of any size."""
    for steps in (1, 7):
        hand = Hand(["tip"], about=[0, 0, 0], cutoff_hz=10)
        hand.feel(pressed(0, (0, 0, 0)))
        for k in range(steps):
            felt = hand.feel(pressed(0.03 * (k + 1) / steps, (8, 0, 0)))
        assert felt.force[0] == pytest.approx(8 * (1 - np.exp(-2 * np.pi * 10 * 0.03)))
    assert hand.feel(pressed(0, (8, 0, 0))).force[0] == 8  # after a reset


@pytest.mark.parametrize("arguments", [{"bodies": []}, {"bodies": "tip"}, {"scale": 0}, {"scale": np.nan}, {"cutoff_hz": 0},
                                       {"max_force_n": -1}, {"max_moment_nm": np.nan}])
def test_hands_that_cannot_be(arguments):
    with pytest.raises(ValueError):
        Hand(**{"bodies": ["tip"], "about": [0, 0, 0], **arguments})
