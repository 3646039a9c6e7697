"""Parquet files read back by readers of other hands (./dev setup viewer brings Node.js, ./dev test installs them)."""

import numpy as np
import pytest

from eipc.export.parquet import Column, write_parquet
from eipc.export.thrift import I64, ListOf, encoded
from format_readers import read_with

COLUMNS = [Column("whole", "int64"), Column("half", "float32"), Column("flag", "bool"), Column("words", "string"), Column("pair", "float32", 1),
           Column("names", "string", 1), Column("picture", "float64", 3), Column("small", "int32"), Column("nested", "int64", 2)]


def rows(first, count):
    numbers = range(first, first + count)
    return {
        "whole": [2**40 * n for n in numbers], "half": [0.5 * n for n in numbers], "flag": [n % 3 == 0 for n in numbers],
        "words": [f"task {n} – ü" for n in numbers], "pair": [np.array([n, -n]) for n in numbers],
        "names": [["a"] * (n % 3) for n in numbers], "picture": [np.arange(3.0).reshape(3, 1, 1) + n for n in numbers],
        "small": [-n for n in numbers], "nested": [[[n, n + 1], [], [n]] if n % 2 else [] for n in numbers]}


@pytest.mark.parametrize("counts", [[1], [7, 20, 1], [300]])
def test_two_readers_find_what_was_written(tmp_path, counts):
    groups = [rows(first, count) for first, count in zip(np.cumsum([0, *counts]).tolist(), counts)]
    write_parquet(tmp_path / "a.parquet", COLUMNS, groups, {"pandas": "{}", "who": "ü"})
    found = read_with("parquet.mjs", tmp_path / "a.parquet")
    expected = [{name: _plain(group[name][k]) for name in group} for group, count in zip(groups, counts) for k in range(count)]
    assert found["groups"] == counts
    assert found["metadata"] == {"pandas": "{}", "who": "ü"}
    assert found["wasm"] == expected
    assert found["hyparquet"] == expected
    assert found["types"]["whole"] == "Int64" and found["types"]["half"] == "Float32" and found["types"]["flag"] == "Bool"
    assert found["types"]["words"] == "Utf8" and "List<" in found["types"]["pair"]


def _plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_rows_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(ValueError, match="column 'b' has 1 rows, 'a' has 2"):
        write_parquet(tmp_path / "a.parquet", [Column("a", "int64"), Column("b", "int64")], [{"a": [1, 2], "b": [1]}])
    assert list(tmp_path.iterdir()) == []


def test_thrift_is_compact():
    """The bytes that thrift's compact protocol prescribes, by hand."""
    assert encoded([(1, 1), (2, I64(-1))]) == b"\x15\x02\x16\x01\x00"
    assert encoded([(3, True), (20, False)]) == b"\x31" + b"\x02\x28" + b"\x00"
    assert encoded([(4, "ab"), (5, ListOf([1, 2]))]) == b"\x48\x02ab" + b"\x19\x25\x02\x04" + b"\x00"
    assert encoded([(1, ListOf([0] * 15)), (2, [(1, 300)])]) == b"\x19\xf5\x0f" + b"\x00" * 15 + b"\x1c\x15\xd8\x04\x00" + b"\x00"
