"""`eipc robot` as scripts use it: the page's example, coordinates, exit status and errors."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import eipc

from conftest import REPOSITORY

CLI = os.environ.get("EIPC_CLI")
pytestmark = pytest.mark.skipif(not CLI or not Path(CLI).exists(), reason="no eipc program (EIPC_CLI)")
ARM = "models/robots/arm_gripper.urdf"
PADS = "models/robots/pad_gripper.sdf"


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


def test_a_description_in_sdf_is_read_too(tmp_path):
    printed = robot(PADS)
    assert printed.startswith("robot pad_gripper: 4 links, 3 joints (2 driven, 1 following, 0 fixed), 0.5 kg")
    assert "follows 1 * left" in printed and "sdf/model/link/visual (line 15)" in printed
    assert position(robot(PADS, "--joint", "lift=0.1", "--joint", "left=-0.01"), "right_finger") == pytest.approx([0, -0.02, 0.19])
    bad = tmp_path / "hand.sdf"
    bad.write_text((REPOSITORY / PADS).read_text(encoding="utf-8").replace("<child>palm</child>", "<child>plam</child>"), encoding="utf-8")
    message = robot(bad, expect=1)
    assert re.search(r'hand\.sdf:\d+: sdf/model\[@name="pad_gripper"\]/joint\[@name="lift"\]/child: no link is named "plam"', message)
    (tmp_path / "page.html").write_text("<html/>", encoding="utf-8")
    assert "its first element must be <robot> (URDF) or <sdf>, not <html>" in robot(tmp_path / "page.html", expect=1)


def test_springs_of_joints_become_those_of_the_scene(tmp_path):
    """A finger that a spring of 40 N/m opens, at rest at 5 mm, placed at -10 mm."""
    hand = tmp_path / "hand.sdf"
    spring = "<dynamics><spring_reference>0.005</spring_reference><spring_stiffness>40</spring_stiffness></dynamics>"
    text = (REPOSITORY / PADS).read_text(encoding="utf-8")
    before, _, after = text.partition('<joint name="left"')
    hand.write_text(before + '<joint name="left"' + after.replace("</axis>", spring + "</axis>", 1), encoding="utf-8")
    printed = robot(hand, "--joint", "left=-0.01", "--scene", tmp_path / "scene.textproto")
    assert "joint left: prismatic along (0 1 0), -0.02 to 0.02 m, at most 0.2 m/s, at most 20 N, spring 40 N/m at rest at 0.005 m" in printed
    assert 'joint "left": its spring acts beside its drive' in printed and "spring_stiffness" not in printed
    joints = {joint.name: joint for joint in eipc.load_scene(tmp_path / "scene.textproto", inline_meshes=False).joints}
    assert joints["left"].slider.spring_n_m == 40 and joints["left"].slider.rest_m == pytest.approx(0.015, rel=1e-15)
    assert joints["right"].slider.spring_n_m == 0
    hand.write_text(text.replace('type="prismatic"', 'type="revolute"').replace("</axis>", spring + "</axis>"), encoding="utf-8")
    robot(hand, "--joint", "left=-0.01", "--scene", tmp_path / "scene.textproto")
    joints = {joint.name: joint for joint in eipc.load_scene(tmp_path / "scene.textproto", inline_meshes=False).joints}
    assert joints["left"].hinge.spring_nm_rad == 40 and joints["left"].hinge.rest_rad == pytest.approx(0.015, rel=1e-15)


def test_names_of_links_lead_out_of_no_folder(tmp_path):
    """Two names that differ by what a file's name cannot hold, one that leads upwards, one that is too long for a file."""
    names = ["arm/tip", "arm_tip", "../../up", "n" * 250]
    box = '<collision><geometry><box size="0.02 0.02 0.02"/></geometry></collision>'
    links = "".join(f'<link name="{name}">{box}</link>' for name in names)
    joints = "".join(f'<joint name="j{k}" type="fixed"><origin xyz="{k} 0 0"/><parent link="{names[0]}"/><child link="{name}"/></joint>'
                     for k, name in enumerate(names) if k > 0)
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "robot.urdf").write_text(f'<robot name="r">{links}{joints}</robot>', encoding="utf-8")
    robot(folder / "robot.urdf", "--scene", folder / "scene.textproto")
    assert sorted(path.name for path in (folder / "scene_meshes").iterdir()) == sorted(
        [".._.._up.obj", "arm_tip.obj", "arm_tip_2.obj", "n" * 200 + ".obj"])
    assert sorted(path.name for path in folder.iterdir()) == ["robot.urdf", "scene.textproto", "scene_meshes"]
    assert list(tmp_path.iterdir()) == [tmp_path / "a"] and list((tmp_path / "a").iterdir()) == [folder]
    bodies = eipc.load_scene(folder / "scene.textproto").bodies  # with their meshes
    assert [body.name for body in bodies] == names


def test_welds_of_parts_are_named_unlike_joints(tmp_path):
    shape = '<collision name="{}"><origin xyz="{} 0 0"/><geometry><box size="0.02 0.02 0.02"/></geometry></collision>'
    joint = '<joint name="{}" type="continuous"><origin xyz="0.2 0 0"/><parent link="{}"/><child link="{}"/><axis xyz="0 0 1"/></joint>'
    (tmp_path / "robot.urdf").write_text(
        f'<robot name="r"><link name="a">{shape.format("s", 0)}</link><link name="b">{shape.format("s", 0)}{shape.format("t", 0.05)}</link>'
        f'<link name="c">{shape.format("s", 0)}</link>{joint.format("j", "a", "b")}{joint.format("b_t_weld", "b", "c")}</robot>',
        encoding="utf-8")
    robot(tmp_path / "robot.urdf", "--scene", tmp_path / "scene.textproto", "--dynamic", "j")
    joints = eipc.load_scene(tmp_path / "scene.textproto", inline_meshes=False).joints
    assert sorted(joint.name for joint in joints) == ["b_t_weld", "b_t_weld_2", "j"]


@pytest.mark.parametrize("soft, message", [
    ("", "must begin with a name"),
    ("pad block=1,1,1 within=1", "needs link=LINK"),
    ("pad link=thumb block=0.01,0.01,0.01 within=1", "link=thumb: there is no such link; there are: world, palm, left_finger, right_finger"),
    ("pad link=world block=0.01,0.01,0.01 within=1", "link=world: has no collision shape to hold it"),
    ("palm link=palm block=0.01,0.01,0.01 within=1", "has the name of another body"),
    ("pad link=palm within=1", "needs mesh=FILE or block=X,Y,Z"),
    ("pad link=palm block=0.01,0.01 within=1", "block=0.01,0.01: needs 3 numbers"),
    ("pad link=palm block=0.01,0.01,nan within=1", '"nan" is not a finite number'),
    ("pad link=palm block=0.01,0.01,0.01", "needs box=X0,Y0,Z0,X1,Y1,Z1 or within=DISTANCE"),
    ("pad link=palm block=0.01,0.01,0.01 at=0,0,0.03 within=0.001", "no vertex is that near to the link (and in the box); the nearest is 0.01 m away"),
    ("pad link=palm block=0.01,0.01,0.01 box=1,1,1,2,2,2", "box: has no vertex in it"),
    ("pad link=palm block=0.01,0.01,0.01 within=1 poisson=0.5", "poisson: must be in [0, 0.5)"),
    ("pad link=palm block=0.01,0.01,0.01 within=1 young=-1", "young and density must be > 0"),
    ("pad link=palm block=0.01,0.01,0.01 within=1 stiffness=3", "stiffness: is no key"),
    ("pad link=palm mesh=models/robots/finger.obj within=1", "has no tetrahedra"),
])
def test_soft_parts_that_cannot_be(tmp_path, soft, message):
    assert message in robot(PADS, "--scene", tmp_path / "scene.textproto", "--soft", soft, expect=1)
    assert not (tmp_path / "scene.textproto").exists()


def test_the_link_holds_the_vertices_near_it_and_in_the_box(tmp_path):
    """A block of 20 mm across the finger's blade, which is 6 mm thick, in layers of 5 mm."""
    def held(region):
        robot(PADS, "--scene", tmp_path / "scene.textproto", "--soft", f"pad link=left_finger block=0.016,0.02,0.02 cells=4,4,4 at=0,-0.005,0 {region}")
        scene = eipc.load_scene(tmp_path / "scene.textproto", inline_meshes=False)
        joint = next(joint for joint in scene.joints if joint.name == "pad_held")
        assert (joint.body_a, joint.body_b) == ("pad", "left_finger")
        return [np.array([v % 5 * 0.004 - 0.008, v // 5 % 5 * 0.005 - 0.015, v // 25 * 0.005 - 0.01]) for v in joint.attachment.vertices]

    inside = held("within=0")
    assert len(inside) == 25 and all(p[1] == pytest.approx(0) for p in inside)  # of five layers one is in the blade
    near = held("within=0.0021")
    assert {round(p[1], 3) for p in near} == {-0.005, 0, 0.005} and len(near) == 75
    both = held("within=0.0021 box=-1,-1,0.0099,1,1,1")
    assert len(both) == 15 and all(p[2] == pytest.approx(0.01) for p in both)
