"""A gripper with soft pads on its fingers picks up a soft cube: what its fingers feel is the weight that hangs on them."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import eipc
from conftest import REPOSITORY
from test_tutorial import page_blocks

CLI = os.environ.get("EIPC_CLI")
pytestmark = pytest.mark.skipif(not CLI or not Path(CLI).exists(), reason="no eipc program (EIPC_CLI)")

H = 0.01  # s
PAD = "block=0.02,0.008,0.03 cells=3,2,4 at=0,-0.007,-0.018 young=2e5"


@pytest.fixture(scope="module")
def pads(tmp_path_factory):
    """The gripper above the page's cube; one pad is held by distance, one by a box."""
    folder = tmp_path_factory.mktemp("pads")
    made = subprocess.run([CLI, "robot", "models/robots/pad_gripper.sdf", "--scene", str(folder / "gripper.textproto"),
                           "--soft", f"left_pad link=left_finger {PAD} within=1e-4",
                           "--soft", f"right_pad link=right_finger {PAD} box=-1,0.0039,-1,1,1,1"],
                          cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("holds 20 of its 60 vertices") == 2
    page = (REPOSITORY / "docs" / "howto" / "robots.md").read_text(encoding="utf-8")
    blocks = {text.split()[1]: text for _, _, text in page_blocks.BLOCK.findall(page) if text.startswith("# ")}
    (folder / "cube.mesh").write_text(blocks["cube.mesh"])
    scene = (folder / "gripper.textproto").read_text() + blocks["below.textproto"]
    (folder / "pads.textproto").write_text(scene.replace("solver {", "solver { audit_every_n_steps: 1"))
    return folder / "pads.textproto"


@pytest.fixture(scope="module")
def client(server_binary):
    with eipc.launch_server(str(server_binary)) as server, server.client() as connection:
        yield connection


def test_soft_pads_pick_a_cube(client, pads):
    gripper = eipc.robot.Robot.of_scene(pads)
    assert [(joint.name, joint.dynamic) for joint in gripper.joints] == [("lift", False), ("left", True)]
    scene = client.create_scene(pads)
    masses = {name: scene.summary.bodies[name].mass_kg for name in ("cube", "left_pad", "right_pad")}
    observe = eipc.Observe(joints=True, contact_wrenches=True, solver_report=True)
    with scene.create_session() as session:
        start = session.state().bodies["cube"].pose.position

        def go(seconds, to, before):
            now = session.step(H, substeps=round(seconds / H), observe=observe, **gripper.path([0, seconds], [before, to]))
            assert now.solver_report.outcome is eipc.Outcome.CONVERGED
            assert now.solver_report.audit.intersections == 0
            return now

        closed = gripper.coordinates({"left": -0.006})
        lifted = gripper.coordinates({"lift": 0.05}, closed)
        go(0.4, closed, gripper.start)
        go(0.8, lifted, closed)
        now = go(0.6, lifted, lifted)
    forces = {name: now.joints[f"{name}_held"].force for name in ("left_pad", "right_pad")}
    weight = 9.81 * sum(masses.values())
    carried = sum(force[2] for force in forces.values())
    rise = now.bodies["cube"].pose.position - start
    print(f"cube rises by {rise} m, pads press with {forces}, fingers carry {carried} N of {weight} N")
    assert abs(rise[2] - 0.05) < 0.002 and np.abs(rise[:2]).max() < 0.001
    assert carried == pytest.approx(weight, rel=0.01)
    # Each finger's joint feels what the pad does to it; the grip is the same from both sides.
    assert -forces["left_pad"][1] > 0.2 and -forces["left_pad"][1] == pytest.approx(forces["right_pad"][1], rel=0.01)
    grip = now.contact_force_on("left_pad")[1]  # of the cube, outwards
    assert grip == pytest.approx(-forces["left_pad"][1], rel=0.01)
