"""Commands for drives as messages, and their readings."""

import numpy as np
import pytest

import eipc
from eipc import drives
from eipc.v1 import observation_pb2, scene_pb2


def test_commands_are_motions():
    assert drives.force(5).to_message() == scene_pb2.DriveMotion(
        mode=scene_pb2.DriveMotion.FORCE, interpolation=scene_pb2.Trajectory.LINEAR, keys=[scene_pb2.DriveKey(value=5)])
    assert drives.velocity(-0.1).to_message().mode == scene_pb2.DriveMotion.VELOCITY
    path = drives.path([0, 0.5], [0.01, 0.03]).to_message()
    assert path.mode == scene_pb2.DriveMotion.POSITION and path.interpolation == scene_pb2.Trajectory.MINIMUM_JERK
    assert [(key.time_s, key.value) for key in path.keys] == [(0, 0.01), (0.5, 0.03)]


@pytest.mark.parametrize("times, values", [([], []), ([0, 1], [0]), ([0, 0], [1, 2])])
def test_a_motion_needs_increasing_times(times, values):
    with pytest.raises(ValueError):
        drives.path(times, values)


def test_a_request_carries_them(session):
    request = session._step_request(0.01, drives={"finger": drives.force(2), ("pad", "back"): drives.position(0.1)})
    assert [(drive.body, drive.boundary_set, drive.motion.keys[0].value) for drive in request.drives] == [
        ("finger", "", 2), ("pad", "back", 0.1)]


def test_readings_come_with_boundary_poses():
    message = observation_pb2.Observation(boundary_poses=[
        observation_pb2.BoundaryPose(body="pad", boundary_set="back"),
        observation_pb2.BoundaryPose(body="finger", error_m=0.02, drive=observation_pb2.DriveReading(
            mode=scene_pb2.DriveMotion.POSITION, commanded=0.05, position_m=0.03, effort_n=7, saturated=True, blocked=True)),
    ])
    seen = eipc.observation.observation_from_message(message)
    assert seen.boundary_poses["pad", "back"].drive is None
    assert seen.drives == {("finger", ""): eipc.DriveReading(eipc.DriveMode.POSITION, 0.05, 0.03, 0, 7, True, True)}


@pytest.mark.parametrize("interpolation", eipc.Interpolation)
def test_trajectories_are_eased_as_the_server_does(interpolation):
    trajectory = eipc.Trajectory([1, 3], [eipc.Pose([0, 0, 0]), eipc.Pose([1, 0, 0])], interpolation)
    parts = {"LINEAR": 0.25, "CUBIC": 0.15625, "MINIMUM_JERK": 0.103515625}
    assert trajectory.at(1.5).position[0] == pytest.approx(parts[interpolation.name], abs=1e-15)
    assert eipc.Trajectory.from_message(trajectory.to_message()).interpolation is interpolation
    assert np.allclose(trajectory.at(5).position, [1, 0, 0])
