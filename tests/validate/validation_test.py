#!/usr/bin/python3
"""Records of figures: whether they meet their targets, and that JSON holds them whatever they were computed with."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from validation import at_least, at_most, equal, reported, within  # noqa: E402


class RecordTest(unittest.TestCase):
    def test_what_comes_from_arrays_is_written(self) -> None:
        values = np.array([0.5, 2.0])
        for record in (at_most("a", values.max(), 1), equal("b", values[0] < 1, True), reported("c", np.int64(3)), reported("d", np.float32(0.25))):
            self.assertEqual(json.loads(json.dumps(record.to_json()))["name"], record.name)
        self.assertIs(equal("b", values[0] < 1, True).value, True)

    def test_numbers_that_json_cannot_hold_become_null(self) -> None:
        for value in (float("nan"), np.float64("inf")):
            self.assertIsNone(reported("a", value).to_json()["value"])

    def test_targets_include_their_limits(self) -> None:
        self.assertTrue(at_most("a", 1.0, 1).passed and at_least("a", 1.0, 1).passed and within("a", 1.0, 1, 2).passed)
        self.assertFalse(at_most("a", 1.1, 1).passed or at_least("a", 0.9, 1).passed or within("a", 2.1, 1, 2).passed or equal("a", 1, 2).passed)
        self.assertFalse(at_most("a", float("nan"), 1).passed or at_least("a", float("nan"), 1).passed)


if __name__ == "__main__":
    unittest.main()
