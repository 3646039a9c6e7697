"""Compiles units that share an inline function and expects check_copies to judge each pair rightly.

Usage: check_copies_test.py COMPILER
"""

import contextlib
import io
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import check_copies

COMPILER = "c++"
APART = ["-ffp-contract=off", "-frounding-math"]
HEADER = """
struct Shared {
  [[gnu::noinline]] static double Sum(double a, double b, double c) { return a * b + c; }
  [[gnu::noinline]] static int Count(int a, int b, int c) { return a * b + c; }
};
[[gnu::noinline]] static double Own(double a, double b, double c) { return a * b + c; }
"""
CALL_SHARED = "double {unit}(double x) {{ return Shared::Sum(x, x, 1); }}"
CALL_COUNT = "int {unit}(int x) {{ return Shared::Count(x, x, 1); }}"
CALL_OWN = "double {unit}(double x) {{ return Own(x, x, 1); }}"


def check(call, flags, folder="sim"):
    """The exit status for two units with this call, compiled with these flags each, and what is printed."""
    with tempfile.TemporaryDirectory() as scratch:
        build = pathlib.Path(scratch)
        entries = []
        for unit, options in zip("ab", flags):
            source, target = build / f"{unit}.cc", f"{folder}/{unit}.o"
            source.write_text(HEADER + call.format(unit=unit))
            (build / folder).mkdir(exist_ok=True)
            command = [COMPILER, "-std=c++20", "-O3", "-march=x86-64-v3", *options, "-c", str(source), "-o", target]
            subprocess.run(command, check=True, cwd=build)
            entries.append({"directory": str(build), "command": shlex.join(command), "file": str(source)})
        (build / "compile_commands.json").write_text(json.dumps(entries))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = check_copies.main([scratch])
        return status, printed.getvalue()


class CheckCopies(unittest.TestCase):
    def test_copies_of_other_options(self):
        status, printed = check(CALL_SHARED, [[], APART])
        self.assertEqual(status, 1, printed)
        self.assertIn("Shared::Sum(double, double, double)", printed)
        self.assertIn("sim/b.o (without contraction)", printed)

    def test_copies_of_the_same_options(self):
        for options in ([], APART):
            self.assertEqual(check(CALL_SHARED, [options, options])[0], 0)

    def test_integers_and_functions_of_one_unit(self):
        self.assertEqual(check(CALL_COUNT, [[], APART])[0], 0)
        self.assertEqual(check(CALL_OWN, [[], APART])[0], 0)

    def test_nothing_to_compare(self):
        self.assertEqual(check(CALL_SHARED, [[], APART], folder="tests")[0], 2)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
