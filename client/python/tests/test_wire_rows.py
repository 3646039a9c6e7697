"""Columns of serialized messages against the messages as protobuf unpacks them."""

import numpy as np
import pytest

from eipc import wire_rows
from eipc.message_parts import PACKED, WHOLE, classes_of_parts
from eipc.v1 import geometry_pb2, observation_pb2, scene_pb2, service_pb2
from eipc.wire_rows import WireRows
from test_episode_columns import observed

RNG = np.random.default_rng(9)
FRAME = observation_pb2.BoundaryPose
REALS = ["error_m", "commanded.position_m.x", "commanded.quaternion.w", "achieved.position_m.z", "drive.effort_n"]
INTEGERS = ["drive.mode", "drive.blocked"]


def frame(**drive):
    """A frame of which numbers are zero now and then, so that they are not on the wire."""
    made = FRAME(body=RNG.choice(["jaw", "pusher"]), error_m=RNG.choice([0, RNG.random()]))
    for pose in (made.commanded, made.achieved):
        for message, names in ((pose.position_m, "xyz"), (pose.quaternion, "wxyz")):
            for name in names:
                setattr(message, name, RNG.choice([0.0, -0.0, RNG.normal()]))
    if RNG.random() < 0.5:
        made.drive.mode, made.drive.effort_n, made.drive.blocked = scene_pb2.DriveMotion.FORCE, RNG.normal(), RNG.random() < 0.5
    return made


def at(message, path):
    for name in path.split("."):
        message = getattr(message, name)
    return message


def read(fields, messages):
    """(reals, integers, names, data) of each message, after it was checked that each is read once."""
    out = {}
    for part in fields.read([message.SerializeToString() for message in messages]):
        for k, row in enumerate(part.rows.tolist()):
            assert row not in out
            out[row] = part.reals[k], part.integers[k], tuple(part.names), tuple(data[k].tobytes() for data in part.data)
    return [out[row] for row in range(len(messages))]


def test_numbers_are_those_of_protobuf_to_the_bit_whatever_is_left_out():
    messages = [frame() for _ in range(300)]
    fields = WireRows(FRAME.DESCRIPTOR, reals=REALS, integers=INTEGERS, names=["body"])
    for _ in range(2):  # with forms that are new, and with known ones
        for message, (reals, integers, names, _) in zip(messages, read(fields, messages)):
            assert reals.tobytes() == np.array([at(message, path) for path in REALS], dtype=float).tobytes()
            assert integers.tolist() == [at(message, path) for path in INTEGERS] and names == (message.body,)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**31 - 1, -1, -(2**31), 2**63 - 1, -(2**63)])
def test_integers_of_every_length(value):
    messages = [observation_pb2.StepReceipt(step=value, first_step=step, state_digest="d" * 16) for step in (1, 2)]
    fields = WireRows(observation_pb2.StepReceipt.DESCRIPTOR, integers=["step", "first_step"])
    assert [row[1].tolist() for row in read(fields, messages)] == [[value, 1], [value, 2]]


def test_an_integer_that_goes_on_is_not_taken_for_one_that_ends():
    receipts = [observation_pb2.StepReceipt(first_step=300, step=300),
                observation_pb2.StepReceipt(first_step=5, newton_iterations=4 << 3, outcome=1)]  # 4 << 3 is the tag of `step`
    assert len({len(receipt.SerializeToString()) for receipt in receipts}) == 1
    fields = WireRows(observation_pb2.StepReceipt.DESCRIPTOR, integers=["first_step", "step", "newton_iterations"])
    assert [row[1].tolist() for row in read(fields, receipts)] == [[300, 300, 0], [5, 0, 32]]


def test_names_decide_over_the_form_and_data_do_not():
    pairs = [("ab", "cd"), ("ab", "ce"), ("ac", "cd"), ("ab", "cd")]
    messages = [observation_pb2.ContactWrench(body=body, other=other) for body, other in pairs]
    assert [row[2] for row in read(WireRows(observation_pb2.ContactWrench.DESCRIPTOR, names=["body", "other"]), messages)] == pairs
    by_data = WireRows(observation_pb2.ContactWrench.DESCRIPTOR, names=["body"], data=["other"])
    assert [(row[2], row[3]) for row in read(by_data, messages)] == [((body,), (other.encode(),)) for body, other in pairs]
    assert len(list(by_data.read([message.SerializeToString() for message in messages]))) == 2


def test_other_fields_may_be_anything():
    scalars = [service_pb2.StepRequest(dt_s=k, session=f"s{k}", time_limit_s=k * 0.5, world=k) for k in range(3)]
    assert [row[0].tolist() for row in read(WireRows(service_pb2.StepRequest.DESCRIPTOR, reals=["dt_s"]), scalars)] == [[0], [1], [2]]
    arrays = [geometry_pb2.NdArray(shape=[k, 300], data=bytes(k)) for k in range(3)]
    assert [row[3] for row in read(WireRows(geometry_pb2.NdArray.DESCRIPTOR, data=["data"]), arrays)] == [(bytes(k),) for k in range(3)]


def test_of_a_field_that_comes_twice_the_last_holds_and_parts_are_merged():
    first = FRAME(error_m=1, drive=observation_pb2.DriveReading(effort_n=3)).SerializeToString()
    second = FRAME(error_m=2, drive=observation_pb2.DriveReading(blocked=True)).SerializeToString()
    (rows,) = WireRows(FRAME.DESCRIPTOR, reals=REALS, integers=INTEGERS).read([first + second])
    assert rows.reals.tolist() == [[2, 0, 0, 0, 3]] and rows.integers.tolist() == [[0, 1]]


def test_forms_beyond_those_that_are_remembered_are_read_too(monkeypatch):
    monkeypatch.setattr(wire_rows, "_MOST_FORMS", 2)
    monkeypatch.setattr(wire_rows, "_MOST_SIZES", 3)
    test_numbers_are_those_of_protobuf_to_the_bit_whatever_is_left_out()


@pytest.mark.parametrize("data", [b"\x08", b"\x09\x00", b"\x0a\x05ab", b"\x0b", b"\x1a\x03\x0a\x05ab", b"\xff" * 3])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(ValueError, match="no message"):
        list(WireRows(FRAME.DESCRIPTOR, reals=REALS).read([data]))


def test_parts_of_messages_have_their_fields_or_their_bytes():
    parts = classes_of_parts("of_a_test", {
        "Observation": (observation_pb2.Observation.DESCRIPTOR, {"step": WHOLE, "bodies": PACKED, "contact_counts": "Counts", "min_distance_m": WHOLE}),
        "Counts": (observation_pb2.ContactCounts.DESCRIPTOR, {"edge_edge": WHOLE, "pairs": PACKED})})
    for step in range(4):
        whole = observed(step)
        part = parts["Observation"].FromString(whole.SerializeToString())
        assert (part.step, part.contact_counts.edge_edge) == (step, whole.contact_counts.edge_edge)
        assert list(part.bodies) == [body.SerializeToString() for body in whole.bodies]
        assert list(part.contact_counts.pairs) == [pair.SerializeToString() for pair in whole.contact_counts.pairs]
        assert part.HasField("min_distance_m") == whole.HasField("min_distance_m") and part.min_distance_m == whole.min_distance_m
