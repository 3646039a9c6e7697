"""What observations say of touch: net forces of bodies and of hands of several."""

import numpy as np
import pytest

import eipc
from eipc.v1 import geometry_pb2, observation_pb2


def vec(x=0.0, y=0.0, z=0.0):
    return geometry_pb2.Vec3(x=x, y=y, z=z)


def hand_and_ball():
    """Two fingers that hold a ball and touch each other."""
    message = observation_pb2.Observation()
    for name, x in (("left", -1), ("right", 1), ("ball", 0)):
        message.bodies.add(name=name).pose.CopyFrom(geometry_pb2.Pose(position_m=vec(x=x), quaternion=geometry_pb2.Quaternion(w=1)))
    for body, other, sign in (("left", "ball", 1), ("ball", "left", -1)):
        message.contact_wrenches.add(body=body, other=other, normal_force_n=vec(x=-5 * sign), friction_force_n=vec(z=-2 * sign),
                                     normal_moment_nm=vec(y=0.5 * sign))
    message.contact_wrenches.add(body="right", other="ball", normal_force_n=vec(x=5), friction_force_n=vec(z=-3))
    message.contact_wrenches.add(body="left", other="right", normal_force_n=vec(y=7))
    message.contact_wrenches.add(body="right", other="left", normal_force_n=vec(y=-7))
    return eipc.observation.observation_from_message(message)


def test_forces_between_the_bodies_of_a_hand_are_left_out():
    seen = hand_and_ball()
    np.testing.assert_array_equal(seen.contact_force_on("left"), [-5, 7, -2])
    np.testing.assert_array_equal(seen.contact_force_on("right"), [5, -7, -3])
    np.testing.assert_array_equal(seen.contact_force_on("left", "right"), [0, 0, -5])
    np.testing.assert_array_equal(seen.contact_force_on("ball", "left", "right"), [0, 0, 0])


def test_the_moment_of_a_hand_is_about_the_point_that_is_named():
    force, moment = hand_and_ball().contact_wrench_on("left", "right", about=[0, 0, 1])
    np.testing.assert_array_equal(force, [0, 0, -5])
    # (-1,0,-1) x (-5,0,-2) + (0,0.5,0) + (1,0,-1) x (5,0,-3)
    np.testing.assert_allclose(moment, [0, 3 + 0.5 - 2, 0], atol=1e-15)


def test_bodies_that_are_not_there_are_named():
    seen = hand_and_ball()
    with pytest.raises(KeyError, match="no body 'middle'.*left, right, ball"):
        seen.contact_force_on("left", "middle")
    with pytest.raises(ValueError, match="at least one"):
        seen.contact_force_on()
    message = observation_pb2.Observation()
    message.contact_wrenches.add(body="left", other="ball", normal_force_n=vec(x=1))
    with pytest.raises(KeyError, match="'left' needs its pose"):
        eipc.observation.observation_from_message(message).contact_wrench_on("left", about=[0, 0, 0])
