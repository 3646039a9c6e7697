"""Observations unpack what is asked of them, once."""

import dataclasses
import pickle

import numpy as np

from eipc import arrays
from eipc.observation import Observation, observation_from_message
from eipc.received import observation_from_bytes
from eipc.v1 import observation_pb2
from test_episode_columns import observed


def received():
    message = observation_pb2.Observation(step=3, time_s=0.5)
    body = message.bodies.add(name="cube")
    body.pose.position_m.x = 1
    body.cage_positions.CopyFrom(arrays.to_message(np.arange(12.0).reshape(4, 3)))
    return observation_from_message(message)


def test_nothing_is_unpacked_before_it_is_asked_for():
    seen = received()
    assert list(vars(seen)) == ["message"]
    body = seen.bodies["cube"]
    assert body.pose.position.tolist() == [1, 0, 0] and set(vars(body)) == {"message", "pose"}
    assert seen.bodies is seen.bodies and body.pose is body.pose
    assert seen.contact_counts is None and seen.min_distance_m is None and seen.energies is None and seen.step_receipt is None
    assert not body.cage_positions.flags.writeable and body.surface_positions is None


def test_they_are_observations_in_every_other_respect():
    seen = received()
    assert isinstance(seen, Observation) and repr(seen) == "Observation(step=3, time_s=0.5, bodies={cube})"
    assert repr(seen.bodies["cube"]) == ("BodyObservation(name='cube', pose=Pose(position=[1, 0, 0], orientation=[1, 0, 0, 0]), "
                                         "cage_positions=<4x3 float64>)")
    later = dataclasses.replace(seen, time_s=1.0)
    assert (later.step, later.time_s, seen.time_s) == (3, 1.0, 0.5) and later.bodies is seen.bodies
    copied = pickle.loads(pickle.dumps(seen))
    assert copied.step == 3 and copied.bodies["cube"].cage_positions.tolist() == seen.bodies["cube"].cage_positions.tolist()


def from_stream(message=None):
    return observation_from_bytes((message or received().message).SerializeToString())


def test_of_a_stream_no_more_than_the_head_is_unpacked_before_more_is_asked_for():
    seen = from_stream()
    assert (seen.step, seen.time_s, seen.bodies["cube"].pose.position.tolist()) == (3, 0.5, [1, 0, 0])
    assert seen.bodies["cube"].name == "cube" and seen.solver_report is None
    assert "message" not in vars(seen) and "message" not in vars(seen.whole)
    assert seen.bodies["cube"].cage_positions.tolist() == np.arange(12.0).reshape(4, 3).tolist()
    assert "message" in vars(seen.whole) and seen.message == received().message


def test_of_a_stream_every_field_is_as_in_the_message():
    message = observed(step=1)
    message.solver_report.newton_iterations = 7
    seen, whole = from_stream(message), observation_from_message(message)
    for name in (field.name for field in dataclasses.fields(Observation) if field.name != "bodies"):
        assert repr(getattr(seen, name)) == repr(getattr(whole, name)), name
    assert list(seen.bodies) == list(whole.bodies)
    for body, other in zip(seen.bodies.values(), whole.bodies.values()):
        assert all(repr(getattr(body, field.name)) == repr(getattr(other, field.name)) for field in dataclasses.fields(body))
    assert repr(seen) == repr(whole)


def test_of_a_stream_they_are_observations_in_every_other_respect():
    seen = from_stream()
    assert dataclasses.replace(seen, time_s=1.0).time_s == 1.0
    for copied in (pickle.loads(pickle.dumps(seen)), pickle.loads(pickle.dumps(seen.bodies))):
        bodies = copied.bodies if isinstance(copied, Observation) else copied
        assert bodies["cube"].cage_positions.tolist() == seen.bodies["cube"].cage_positions.tolist()
    large = observation_pb2.Observation(step=4)
    large.bodies.add(name="cloth").surface_positions.CopyFrom(arrays.to_message(np.zeros((4000, 3))))
    assert "whole" not in vars(from_stream(large)) and from_stream(large).bodies["cloth"].surface_positions.shape == (4000, 3)
