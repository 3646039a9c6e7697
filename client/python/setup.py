"""Generates the protocol modules before setuptools collects the package; everything else is in pyproject.toml.

A tree that scripts/build_wheel.py has staged has programs in eipc/bin: its wheel is of this platform, for any Python 3.
"""

import pathlib
import sys

from setuptools import Distribution, setup

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generate_protos  # noqa: E402  (needs the path above: pip runs this file from a build environment)

# At import, not in a build_py hook alone: setuptools checks that every listed package folder exists first.
generate_protos.generate_if_needed()


def options_of_programs() -> dict:
    """Arguments of setup() where the tree has programs."""
    if not (HERE / "eipc" / "bin").is_dir():
        return {}
    from wheel.bdist_wheel import bdist_wheel

    class Platform(Distribution):
        def has_ext_modules(self) -> bool:
            return True

    class PlatformWheel(bdist_wheel):
        def get_tag(self) -> tuple:
            return "py3", "none", super().get_tag()[2]

    return {"distclass": Platform, "cmdclass": {"bdist_wheel": PlatformWheel}}


setup(**options_of_programs())
