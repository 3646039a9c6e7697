"""`eipc robot` as scripts use it: the page's example, coordinates, exit status and errors."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import REPOSITORY

CLI = os.environ.get("EIPC_CLI")
pytestmark = pytest.mark.skipif(not CLI or not Path(CLI).exists(), reason="no eipc program (EIPC_CLI)")
ARM = "models/robots/arm_gripper.urdf"


def robot(*arguments, expect=0):
    done = subprocess.run([CLI, "robot", *map(str, arguments)], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout if expect == 0 else done.stderr


def position(printed, link):
    return [float(word) for word in re.search(rf"link {link}: at \(([^)]+)\)", printed).group(1).split()]


def test_the_page_shows_what_is_printed():
    page = (REPOSITORY / "docs" / "howto" / "robots.md").read_text(encoding="utf-8")
    assert f"```text\n{robot(ARM)}```\n" in page


def test_links_are_placed_by_joint_coordinates():
    closed, opened = robot(ARM), robot(ARM, "--joint", "left=0.02", "--joint", "turn=1.5707963267948966")
    assert position(closed, "left_finger") == pytest.approx([0.535, 0.002, 0.13])
    assert position(opened, "left_finger") == pytest.approx([-0.022, 0.535, 0.13], abs=1e-6)
    assert position(opened, "right_finger") == pytest.approx([0.022, 0.535, 0.13], abs=1e-6)  # it follows


@pytest.mark.parametrize("arguments, message", [
    (["--joint", "knee=1"], 'joint "knee": robot "arm_gripper" has no such joint'),
    (["--joint", "elbow=3"], 'joint "elbow": 3 is beyond its limits -2 to 2'),
    (["--joint", "elbow=nan"], 'joint "elbow": its coordinate must be finite'),
    (["--joint", "elbow"], "--joint elbow: must be NAME=VALUE"),
    (["--joint", "elbow=one"], "--joint elbow=one: is not a number"),
    (["--joint", "elbow=1", "--joint", "elbow=2"], "--joint elbow=2: is given twice"),
])
def test_coordinates_that_cannot_be(arguments, message):
    assert message in robot(ARM, *arguments, expect=1)


def test_every_problem_has_a_line_with_its_place(tmp_path):
    text = (REPOSITORY / ARM).read_text(encoding="utf-8")
    bad = tmp_path / "arm.urdf"
    bad.write_text(text.replace('xyz="0 2 0"', 'xyz="0 0 0"').replace('effort="30"', 'effort="-30"'), encoding="utf-8")
    lines = robot(bad, expect=1).splitlines()
    assert any(re.search(r'arm\.urdf:\d+: robot/joint\[@name="turn"\]/limit/@effort: must be >= 0, got -30', line) for line in lines)
    assert any(re.search(r'arm\.urdf:\d+: robot/joint\[@name="elbow"\]/axis/@xyz: must not be zero', line) for line in lines)
    assert any('"package://robots/finger.obj": no folder above the description' in line for line in lines)
    assert "cannot be read" in robot(tmp_path / "none.urdf", expect=2)
