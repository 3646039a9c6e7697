"""Columns of serialized messages that no serializer writes, but any may: fields in any order and several times, unknown ones, integers of
other lengths, changed bytes. What protobuf's parser takes is read as it reads it."""

import random
import warnings

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from eipc import episode_columns
from eipc.v1 import geometry_pb2, observation_pb2, service_pb2
from eipc.wire_rows import WireRows
from test_episode_columns import observed

READ = [(observation_pb2.BodyObservation, episode_columns._BODY), (observation_pb2.BoundaryPose, episode_columns._FRAME),
        (observation_pb2.StepReceipt, episode_columns._RECEIPT), (observation_pb2.ContactWrench, episode_columns._WRENCH),
        (observation_pb2.PairCount, episode_columns._PAIR)]
VARINT, DOUBLE, LENGTH, FLOAT = 0, 1, 2, 5
INTEGERS = [0, 1, 2, 127, 128, 300, 2**31 - 1, 2**31, 2**32, 2**32 + 7, 2**63 - 1, 2**63, 2**64 - 1]


def varint(value, longer=0):
    """longer: bytes more than are needed."""
    value &= 2**64 - 1
    data = bytearray()
    while value >= 0x80 or longer and len(data) < 9:
        longer -= value < 0x80
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(data) + bytes([value])


def of_length(random_of, data):
    return varint(len(data), random_of.choice([0, 0, 1])) + data


def payload(random_of, wire_type):
    if wire_type == VARINT:
        return varint(random_of.choice([*INTEGERS, random_of.getrandbits(64)]), random_of.choice([0, 0, 1]))
    if wire_type == LENGTH:
        return of_length(random_of, b"a" * random_of.randrange(6))
    return random_of.randbytes(8 if wire_type == DOUBLE else 4)


def field_bytes(random_of, known):
    """A field with its tag."""
    of_another_type = random_of.random() < 0.05
    if of_another_type and known.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_STRING):
        return varint(known.number << 3 | FLOAT) + payload(random_of, FLOAT)
    longer = random_of.choice([0, 0, 0, 2])
    if known.message_type is not None:
        return varint(known.number << 3 | LENGTH, longer) + of_length(random_of, message_bytes(random_of, known.message_type))
    if known.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        return varint(known.number << 3 | LENGTH, longer) + of_length(random_of, random_of.choice(["", "jaw", "gr\u00fcn"]).encode())
    if known.type == FieldDescriptor.TYPE_DOUBLE:
        value = np.array(random_of.choice([0.0, -0.0, np.nan, np.inf, random_of.random()])).tobytes()
        return varint(known.number << 3 | DOUBLE, longer) + value
    return varint(known.number << 3 | VARINT, longer) + payload(random_of, VARINT)


def message_bytes(random_of, descriptor):
    parts = [field_bytes(random_of, known) for known in descriptor.fields for _ in range(random_of.choice([0, 1, 1, 2]))]
    if random_of.random() < 0.3:
        wire_type = random_of.choice([VARINT, DOUBLE, LENGTH, FLOAT])
        parts.append(varint(random_of.choice([60, 1000, 2**28]) << 3 | wire_type) + payload(random_of, wire_type))
    random_of.shuffle(parts)
    return b"".join(parts)


def as_parsed(kind, fields, data):
    """What protobuf finds, None where it refuses the bytes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # that the bytes end in a group, of protobuf in C++
            reals, integers, names, texts = fields.found(kind.FromString(data))
    except (DecodeError, SystemError):
        return None
    return np.array(reals, dtype=float).tobytes(), [int(value) for value in integers], tuple(names), list(texts)


def as_read(fields, messages):
    """Of each message, after it was checked that each is read once."""
    out = {}
    for part in fields.of_packed(messages):
        for k, row in enumerate(part.rows.tolist()):
            assert row not in out
            out[row] = part.reals[k].tobytes(), part.integers[k].tolist(), tuple(part.names), [data[k].tobytes() for data in part.data]
    return [out[row] for row in range(len(messages))]


@pytest.mark.parametrize("kind, fields", READ, ids=lambda part: getattr(part, "__name__", ""))
def test_whatever_protobuf_takes_is_read_as_it_reads_it(kind, fields):
    random_of = random.Random(kind.__name__)
    messages = [message_bytes(random_of, kind.DESCRIPTOR) for _ in range(200)]
    messages += messages[:50]
    parsed = [as_parsed(kind, fields, data) for data in messages]
    assert None not in parsed and any(names or data or any(integers) for _, integers, names, data in parsed)
    assert as_read(fields, messages) == parsed


@pytest.mark.parametrize("kind, fields", READ, ids=lambda part: getattr(part, "__name__", ""))
def test_changed_bytes_are_read_as_protobuf_reads_them_or_refused(kind, fields):
    random_of, taken = random.Random(kind.__name__), 0
    for _ in range(400):
        data = bytearray(message_bytes(random_of, kind.DESCRIPTOR))
        for _ in range(random_of.randrange(3) if data else 0):
            data[random_of.randrange(len(data))] ^= 1 << random_of.randrange(8)
        data = bytes(data[:random_of.choice([len(data), random_of.randrange(len(data) + 1)])])
        parsed = as_parsed(kind, fields, data)
        try:
            (read,) = as_read(fields, [data])
        except ValueError as error:
            # Groups, and fields of no number, at which protobuf in C++ ends the message without an error.
            assert parsed is None or "wire type 3" in str(error) or "no number" in str(error)
            continue
        if parsed is not None:  # else it may be wrong in what is not read
            assert read == parsed
            taken += 1
    assert taken > 100


@pytest.mark.parametrize("data", [b"\x00\x01", b"\x05\x00\x00\x00\x00", b"\x08" + b"\x80" * 10 + b"\x00", b"\x88\x80\x80\x80\x80\x02\x00"],
                         ids=["field 0", "field 0 of four bytes", "an integer of eleven bytes", "a tag beyond 32 bits"])
def test_what_protobuf_refuses_is_refused(data):
    assert as_parsed(observation_pb2.StepReceipt, episode_columns._RECEIPT, data) is None
    with pytest.raises(ValueError, match="no message"):
        list(episode_columns._RECEIPT.of_packed([data]))


def test_of_two_fields_that_exclude_each_other_the_last_holds():
    turned = geometry_pb2.Pose(quaternion=geometry_pb2.Quaternion(w=0.5, x=0.5)).SerializeToString()
    angles = geometry_pb2.Pose(rpy_rad=geometry_pb2.Vec3(x=1)).SerializeToString()
    fields = WireRows(geometry_pb2.Pose.DESCRIPTOR, reals=["position_m.x", "quaternion.w", "quaternion.x"])
    found = [part.reals[0].tolist() for data in (turned + angles, angles + turned) for part in fields.read([data])]
    assert found == [[0, 0, 0], [0, 0.5, 0.5]]
    for paths in (["quaternion.w", "rpy_rad.x"], ["rpy_rad.x", "quaternion.w"]):
        with pytest.raises(ValueError, match="a message has eipc.v1.Pose"):
            WireRows(geometry_pb2.Pose.DESCRIPTOR, reals=paths)


@pytest.mark.parametrize("kinds", [{"reals": ["crc32"]}, {"integers": ["crc32"]}, {"names": ["data"]}, {"integers": ["data"]}])
def test_a_field_of_another_type_cannot_be_read(kinds):
    with pytest.raises(ValueError, match="is not of the"):
        WireRows(service_pb2.UploadMeshRequest.DESCRIPTOR, **kinds)


def test_a_receipt_that_comes_in_parts_is_one():
    start, more = observed(0), observation_pb2.Observation(step_receipt=observation_pb2.StepReceipt(newton_iterations=99))
    data = observed(1).SerializeToString() + more.SerializeToString()

    def receipt(seen):
        columns = episode_columns.EpisodeColumns(start, ())
        columns.add_later(seen)
        return {name: column for name, column in columns.arrays().items() if name.startswith("receipt_") or name == "state_digest"}

    packed, whole = receipt(data), receipt(observation_pb2.Observation.FromString(data))
    assert packed["receipt_newton_iterations"].tolist() == [99] and packed["state_digest"][1] == b"0" * 15 + b"1"
    assert all(packed[name].tolist() == whole[name].tolist() for name in whole)
