"""Runs the readers of the folder `readers` (npm packages); tests that need them skip where they are absent."""

import json
import shutil
import subprocess

import pytest

from conftest import CLIENT_ROOT

READERS = CLIENT_ROOT / "tests" / "readers"


def read_with(script, path):
    """What a reader's script prints of a file."""
    if shutil.which("node") is None or not (READERS / "node_modules").is_dir():
        pytest.skip("the npm readers are not installed (./dev setup viewer; ./dev test python installs them)")
    result = subprocess.run(["node", READERS / script, path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
