#!/usr/bin/python3
"""Prints where the surfaces of a glTF file are at a time, by the reader of the client's tests: surfaces_of_glb.py FILE.glb SECONDS

A line of JSON: body -> positions [n][3], m, in the file's axes (y up).
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "client" / "python"), str(ROOT / "client" / "python" / "tests")]

from glb_reader import Glb  # noqa: E402

surfaces = Glb(Path(sys.argv[1]).read_bytes()).surfaces(float(sys.argv[2]))
print(json.dumps({name: points.tolist() for name, points in surfaces.items()}))
