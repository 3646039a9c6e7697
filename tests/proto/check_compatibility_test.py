"""The check itself: it must find what it is for."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_compatibility  # noqa: E402

BEFORE = '''syntax = "proto3"; package eipc.v1;
message A { int32 x = 1; oneof o { string s = 2; bytes b = 3; } }
enum E { ZERO = 0; ONE = 1; }
service S { rpc Call(A) returns (A); }'''


def compiled(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "eipc" / "v1" / "a.proto"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return check_compatibility.compile_protos(folder)


class CheckCompatibility(unittest.TestCase):
    def breaks(self, old, new):
        self.assertIn(old, BEFORE)
        return check_compatibility.breaks(compiled(BEFORE), compiled(BEFORE.replace(old, new)))

    def test_additions_are_compatible(self):
        self.assertEqual(self.breaks("int32 x = 1;", "int32 x = 1; string y = 9;"), [])
        self.assertEqual(self.breaks("ONE = 1;", "ONE = 1; TWO = 2;"), [])
        self.assertEqual(self.breaks("rpc Call(A) returns (A);", "rpc Call(A) returns (A); rpc More(A) returns (stream A);"), [])

    def test_changes_are_not(self):
        for old, new in (("int32 x = 1;", "int64 x = 1;"), ("int32 x = 1;", "int32 x = 7;"), ("int32 x = 1;", "int32 z = 1;"),
                         ("int32 x = 1;", "repeated int32 x = 1;"), ("int32 x = 1;", ""), ("ONE = 1;", "ONE = 2;"),
                         ("oneof o { string s = 2; bytes b = 3; }", "string s = 2; bytes b = 3;"),
                         ("rpc Call(A) returns (A);", "rpc Call(A) returns (stream A);"), ("rpc Call(A) returns (A);", "")):
            with self.subTest(new=new):
                self.assertTrue(self.breaks(old, new))


if __name__ == "__main__":
    unittest.main()
