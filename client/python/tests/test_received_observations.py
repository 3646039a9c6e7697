"""Observations unpack what is asked of them, once."""

import dataclasses
import pickle

import numpy as np

from eipc import arrays
from eipc.observation import Observation, observation_from_message
from eipc.v1 import observation_pb2


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
