"""What observations say of touch: net forces of bodies and of hands of several."""

import numpy as np
import pytest

import eipc
from eipc import arrays
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tractions_are_forces_over_areas(dtype):
    message = observation_pb2.Observation()
    message.bodies.add(name="pad").contact_tractions.CopyFrom(observation_pb2.ContactTractions(
        vertices=arrays.to_message([1, 3], np.int32), normal_force_n=arrays.to_message([[0, 0, 2], [0, 0, 0]], dtype),
        friction_force_n=arrays.to_message([[1, 0, 0], [0, 4, 0]], dtype), area_m2=arrays.to_message([0.5, 0.25], dtype)))
    message.bodies.add(name="other")
    seen = eipc.observation.observation_from_message(message)
    assert seen.bodies["other"].contact_tractions is None
    on = seen.bodies["pad"].contact_tractions
    assert on.normal_force.dtype == dtype and not on.normal_force.flags.writeable
    np.testing.assert_array_equal(on.force, [[1, 0, 2], [0, 4, 0]])
    np.testing.assert_array_equal(on.normal, [[0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(on.pressure, [4, 0])
    np.testing.assert_array_equal(on.friction_traction, [[2, 0, 0], [0, 16, 0]])
    np.testing.assert_array_equal(on.traction, [[2, 0, 4], [0, 16, 0]])
    np.testing.assert_array_equal(on.on_surface(on.pressure, 5), [0, 4, 0, 0, 0])
    assert on.on_surface(on.force, 5).shape == (5, 3)
    assert on.slip_velocity is None, "an earlier server does not say"
    message.bodies[0].contact_tractions.slip_velocity_m_s.CopyFrom(arrays.to_message([[0.1, 0, 0], [0, 0, 0]], dtype))
    slip = eipc.observation.observation_from_message(message).bodies["pad"].contact_tractions.slip_velocity
    np.testing.assert_array_equal(slip, np.array([[0.1, 0, 0], [0, 0, 0]], dtype))


def test_peaks_are_of_every_element():
    def seen(*stresses):
        message = observation_pb2.Observation()
        message.bodies.add(name="table")
        if stresses:
            message.bodies.add(name="pad").von_mises_pa.CopyFrom(arrays.to_message(np.array(stresses)))
        return eipc.observation.observation_from_message(message)

    peak = eipc.PeakStress()
    for stresses in ([1.0, 5.0], [3.0, 2.0], [2.0, 2.0]):
        peak.add(seen(*stresses))
    assert list(peak.von_mises) == ["pad"]
    np.testing.assert_array_equal(peak.von_mises["pad"], [3, 5])
    np.testing.assert_array_equal(peak.damaged("pad", 4), [False, True])
    with pytest.raises(ValueError, match="no stresses"):
        peak.add(seen())
    with pytest.raises(KeyError):
        peak.damaged("table", 1)


def test_slips_come_in_both_orders():
    message = observation_pb2.Observation()
    message.slips.add(body="block", other="floor", normal_force_n=3, velocity_m_s=vec(x=0.2), sticking=0.25,
                      since_contact=observation_pb2.SlideTotal(begun_s=0.5, displacement_m=vec(x=0.1, y=0.2), path_m=0.4))
    message.slips.add(body="block", other="wall", normal_force_n=1, sticking=1)
    slips = eipc.observation.observation_from_message(message).slips
    assert len(slips) == 4
    slip, back, held = slips["block", "floor"], slips["floor", "block"], slips["block", "wall"]
    assert (slip.normal_force, slip.sticking, slip.slipping, slip.begun_s, slip.path) == (3, 0.25, True, 0.5, 0.4)
    np.testing.assert_array_equal(slip.velocity, [0.2, 0, 0])
    np.testing.assert_array_equal(slip.displacement, [0.1, 0.2, 0])
    assert (back.body, back.other, back.normal_force, back.path) == ("floor", "block", 3, 0.4)
    np.testing.assert_array_equal(back.velocity, [-0.2, 0, 0])
    np.testing.assert_array_equal(back.displacement, [-0.1, -0.2, 0])
    assert not held.slipping and held.displacement is None and held.begun_s is None
