"""Columns of a recorder against arrays made from the same observations as a user sees them, and the files that hold them."""

import zipfile

import numpy as np
import pytest

import eipc
from eipc import arrays
from eipc.episode_columns import EpisodeColumns
from eipc.npz import write_npz
from eipc.observation import observation_from_message
from eipc.v1 import observation_pb2, scene_pb2
from observed_arrays import observation_arrays, receipt_arrays

BODIES = {"cube": 5, "slab": 0, "rag": 8}  # vertices of the cages
FRAMES = [("cube", "left"), ("pusher", ""), ("jaw", "")]
RNG = np.random.default_rng(5)


def set_vector(message):
    message.x, message.y, message.z = RNG.normal(size=3)


def set_pose(message, unset=False):
    set_vector(message.position_m)
    if not unset:
        message.quaternion.w, message.quaternion.x, message.quaternion.y, message.quaternion.z = RNG.normal(size=4)


def observed(step, dtype=np.float64):
    """Touching pairs come and go, the pose of one body says no rotation, and the first observation is the start."""
    seen = observation_pb2.Observation(step=step, time_s=0.01 * step, state_digest="" if step else f"{7:016x}")
    for b, (name, nodes) in enumerate(BODIES.items()):
        body = seen.bodies.add(name=name)
        set_pose(body.pose, unset=b == 1)
        set_vector(body.linear_velocity_m_s)
        set_vector(body.angular_velocity_rad_s)
        body.cage_positions.CopyFrom(arrays.to_message(RNG.normal(size=(nodes, 3)), dtype))
        body.surface_positions.CopyFrom(arrays.to_message(RNG.normal(size=(2 * nodes, 3)), dtype))
    seen.contact_counts.point_triangle, seen.contact_counts.edge_edge = RNG.integers(0, 50, size=2)
    for pair in [("slab", "cube"), ("cube", "slab"), ("cube", "rag")]:
        if RNG.random() < 0.5:
            wrench = seen.contact_wrenches.add(body=pair[0], other=pair[1])
            for part in ("normal_force_n", "friction_force_n", "normal_moment_nm", "friction_moment_nm"):
                set_vector(getattr(wrench, part))
            seen.contact_counts.pairs.add(body_a=pair[0], body_b=pair[1], point_triangle=step, edge_edge=2 * step)
    if step % 2:
        seen.min_distance_m = RNG.random()
    for name in FRAMES:
        frame = seen.boundary_poses.add(body=name[0], boundary_set=name[1], error_m=RNG.random())
        set_pose(frame.commanded)
        set_pose(frame.achieved)
        if name[0] == "jaw":
            values = dict(zip(("commanded", "position_m", "velocity_m_s", "effort_n"), RNG.normal(size=4)))
            frame.drive.CopyFrom(observation_pb2.DriveReading(mode=scene_pb2.DriveMotion.FORCE, saturated=step % 3 == 0, blocked=step % 4 == 0, **values))
    if step:
        seen.step_receipt.CopyFrom(observation_pb2.StepReceipt(
            scene="scenes/a", build="b", first_step=step - 1, step=step, state_digest=f"{step:016x}", min_distance_m=RNG.random(),
            min_ccd_fraction=RNG.random(), residual_m_s=RNG.random(), target_error_m=RNG.random(), newton_iterations=step + 1,
            outcome=observation_pb2.STALLED if step == 3 else observation_pb2.CONVERGED, missed_targets=step % 2, inverted_elements=1 << 40))
    return seen


def columns_of(messages, with_surface=frozenset(), packed=False):
    """packed: all of them but some after the first ones."""
    columns = EpisodeColumns(messages[0], with_surface)
    for step, message in enumerate(messages[1:]):
        if packed and step not in (3, 4):
            columns.add_later(message.SerializeToString())
            columns.work()
        else:
            columns.add(message)
    return columns.arrays()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("steps", [1, 40])
@pytest.mark.parametrize("packed", [False, True])
def test_columns_are_what_the_observations_say_to_the_bit(dtype, steps, packed):
    messages = [observed(step, dtype) for step in range(steps + 1)]
    seen = [observation_from_message(message) for message in messages]
    expected = {**observation_arrays(seen, {"rag"}), **receipt_arrays(seen[0], [one.step_receipt for one in seen[1:]])}
    made = columns_of(messages, {"rag"}, packed)
    assert list(made) == list(expected)
    for name, array in expected.items():
        assert (made[name].dtype, made[name].shape) == (array.dtype, array.shape), name
        assert made[name].tobytes() == array.tobytes(), name


def test_a_scene_without_frames_and_contacts():
    start = observed(0)
    del start.boundary_poses[:], start.contact_wrenches[:], start.contact_counts.pairs[:]
    made = columns_of([start])
    assert made["wrench_pairs"].shape == made["frame_names"].shape == made["drive_names"].shape == (0, 2)
    assert made["normal_force_n"].shape == (1, 0, 3) and made["frame_error_m"].shape == made["drive_mode"].shape == (1, 0)


def test_observations_of_another_form_are_refused():
    columns = EpisodeColumns(observed(0), ())
    fewer, single, unframed = observed(1), observed(1, np.float32), observed(1)
    del fewer.bodies[1:], unframed.boundary_poses[:]
    for other in (fewer, single, unframed):
        with pytest.raises(eipc.EpisodeError, match="in an episode"):
            columns.add(other)
        unchecked = EpisodeColumns(observed(0), ())
        unchecked.add_later(other.SerializeToString())
        with pytest.raises(eipc.EpisodeError, match="in an episode"):
            unchecked.arrays()


def test_columns_grow_while_there_is_time_and_are_the_same(monkeypatch):
    messages = [observed(step) for step in range(12)]
    at_the_end = columns_of(messages)
    monkeypatch.setattr("eipc.episode_columns._AT_A_TIME", 5)
    columns = EpisodeColumns(messages[0], ())
    for step, message in enumerate(messages[1:], start=1):
        columns.add_later(message.SerializeToString())
        if step in (2, 7, 9):  # the others are on their way when the next one is added
            columns.work()
    made = columns.arrays()
    assert list(made) == list(at_the_end)
    for name, array in at_the_end.items():
        assert (made[name].dtype, made[name].tobytes()) == (array.dtype, array.tobytes()), name


def test_files_are_those_of_numpy(tmp_path):
    made = {**columns_of([observed(step) for step in range(4)]), "meta": np.array('{"a": 1}'), "scalar": np.float64(2).reshape(()),
            "backwards": np.arange(6)[::-2], "columns_first": np.asfortranarray(np.arange(12.0).reshape(3, 4)), "größe": np.ones(2, dtype=bool)}
    path = tmp_path / "made.npz"
    with open(path, "wb") as file:
        write_npz(file, made)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    with np.load(path, allow_pickle=False) as read:
        assert read.files == list(made)
        for name, array in made.items():
            assert (read[name].dtype, read[name].shape) == (array.dtype, array.shape)
            np.testing.assert_array_equal(read[name], array)
    with pytest.raises(ValueError, match="'what' is of object"), open(path, "wb") as file:
        write_npz(file, {"what": np.array([None])})


def test_large_files_are_written_too(tmp_path, monkeypatch):
    monkeypatch.setattr("eipc.npz._MOST_BYTES", 100)
    with open(tmp_path / "large.npz", "wb") as file:
        write_npz(file, {"a": np.arange(100.0)})
    with np.load(tmp_path / "large.npz") as read:
        np.testing.assert_array_equal(read["a"], np.arange(100.0))
