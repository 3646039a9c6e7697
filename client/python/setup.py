"""Generates the protocol modules before setuptools collects the package; everything else is in pyproject.toml."""

import pathlib
import sys

from setuptools import setup

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate_protos  # noqa: E402  (needs the path above: pip runs this file from a build environment)

# At import, not in a build_py hook alone: setuptools checks that every listed package folder exists first.
generate_protos.generate_if_needed()

setup()
