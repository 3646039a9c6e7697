import numpy as np
import pytest

from eipc import Pose, Trajectory
from eipc.geometry import quaternion_from_rpy, slerp
from eipc.v1 import geometry_pb2, scene_pb2


def random_pose(rng):
    return Pose(rng.normal(size=3), rng.normal(size=4))


def test_rpy_is_fixed_axes_x_then_y_then_z():
    roll, pitch, yaw = 0.3, -0.7, 1.9
    c, s = np.cos, np.sin
    rx = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
    ry = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
    rz = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
    np.testing.assert_allclose(Pose.from_rpy([0, 0, 0], [roll, pitch, yaw]).rotation_matrix(), rz @ ry @ rx, atol=1e-14)


def test_composition_inverse_and_points_agree():
    rng = np.random.default_rng(1)
    a, b, points = random_pose(rng), random_pose(rng), rng.normal(size=(5, 3))
    np.testing.assert_allclose((a @ b).apply(points), a.apply(b.apply(points)), atol=1e-12)
    np.testing.assert_allclose((a.inverse() @ a).apply(points), points, atol=1e-12)


def test_message_round_trip_and_w_not_negative():
    pose = Pose([1, 2, 3], [-0.5, 0.5, 0.5, -0.5])
    back = Pose.from_message(pose.to_message())
    assert back.orientation[0] >= 0
    np.testing.assert_allclose(back.orientation, pose.orientation)
    np.testing.assert_allclose(back.position, pose.position)


def test_a_pose_of_the_server_keeps_its_bits():
    """Quaternions that are units but for rounding, of which NumPy's norm differs from 1 in the last digit."""
    units = np.random.default_rng(3).normal(size=(2000, 4))
    units /= np.linalg.norm(units, axis=1)[:, None]
    units[units[:, 0] < 0] *= -1
    assert any(np.linalg.norm(q) != 1 for q in units)
    for q in units:
        message = geometry_pb2.Pose(quaternion=geometry_pb2.Quaternion(w=q[0], x=q[1], y=q[2], z=q[3]))
        np.testing.assert_array_equal(Pose.from_message(message).orientation, q)


def test_absent_rotation_means_identity():
    np.testing.assert_array_equal(Pose.from_message(geometry_pb2.Pose()).orientation, [1, 0, 0, 0])


@pytest.mark.parametrize("position,orientation", [([0, 0], [1, 0, 0, 0]), ([0, 0, 0], [0, 0, 0, 0]),
                                                  ([0, 0, np.nan], [1, 0, 0, 0]), ([0, 0, 0], [np.inf, 0, 0, 0])])
def test_bad_poses_are_refused(position, orientation):
    with pytest.raises(ValueError):
        Pose(position, orientation)


def test_trajectory_interpolates_and_holds_its_ends():
    quarter = Pose.from_rpy([1, 0, 0], [0, 0, np.pi / 2])
    message = scene_pb2.Trajectory(keyframes=[
        scene_pb2.Keyframe(time_s=1, pose=Pose().to_message()), scene_pb2.Keyframe(time_s=3, pose=quarter.to_message())])
    trajectory = Trajectory.from_message(message)
    np.testing.assert_allclose(trajectory.at(0).position, [0, 0, 0])
    np.testing.assert_allclose(trajectory.at(9).orientation, quarter.orientation)
    middle = trajectory.at(2)
    np.testing.assert_allclose(middle.position, [0.5, 0, 0])
    np.testing.assert_allclose(middle.orientation, Pose.from_rpy([0, 0, 0], [0, 0, np.pi / 4]).orientation, atol=1e-14)


def test_slerp_goes_the_short_way():
    a, b = quaternion_from_rpy([0, 0, 0.2]), -quaternion_from_rpy([0, 0, 0.4])
    np.testing.assert_allclose(np.abs(slerp(a, b, 0.5)), np.abs(quaternion_from_rpy([0, 0, 0.3])), atol=1e-12)
    np.testing.assert_allclose(slerp(a, a, 0.7), a, atol=1e-12)


@pytest.mark.parametrize("times", [[], [0.0, 0.0], [1.0, 0.0], [0.0]])
def test_bad_trajectories_are_refused(times):
    with pytest.raises(ValueError):
        Trajectory(times, [Pose(), Pose()] if times else [])
