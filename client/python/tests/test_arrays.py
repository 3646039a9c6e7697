import numpy as np
import pytest

from eipc import arrays
from eipc.v1 import geometry_pb2


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<i4", "<i8", "u1"])
def test_round_trip_keeps_type_shape_and_bits(dtype):
    array = (np.arange(24).reshape(2, 4, 3) * 1.5).astype(dtype)
    back = arrays.to_numpy(arrays.to_message(array))
    assert back.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(back, array)


def test_reading_is_a_view_and_read_only():
    message = arrays.to_message(np.ones((1000, 3)))
    array = arrays.to_numpy(message)
    assert not array.flags.owndata
    assert not array.flags.writeable


def test_big_endian_and_strided_input_is_packed_little_endian_and_dense():
    array = np.arange(12, dtype=">f8").reshape(4, 3)[::2]
    message = arrays.to_message(array)
    assert message.data == np.ascontiguousarray(array).astype("<f8").tobytes()


def test_empty_array():
    assert arrays.to_numpy(arrays.to_message(np.zeros((0, 3)))).shape == (0, 3)


@pytest.mark.parametrize("shape,size", [((2, 3), 47), ((-1, -3), 24), ((4,), 0)])
def test_shape_that_does_not_match_the_data_is_refused(shape, size):
    message = geometry_pb2.NdArray(dtype=geometry_pb2.FLOAT64, shape=shape, data=b"\0" * size)
    with pytest.raises(ValueError, match="needs"):
        arrays.to_numpy(message)


def test_unknown_types_are_refused():
    with pytest.raises(ValueError):
        arrays.to_message(np.zeros(3, dtype=complex))
    with pytest.raises(ValueError):
        arrays.to_numpy(geometry_pb2.NdArray(dtype=99, shape=[0]))
