"""A robot picks a soft cube by joint commands: what its wrist feels is what touches it, its weight and its inertia."""

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
GRAVITY = np.array([0, 0, -9.81])  # m/s^2
HAND = ("palm", "palm_flange", "left_finger", "right_finger")


def cube_scene():
    """The page's object, mesh and pedestal."""
    blocks = page_blocks.documented_blocks(REPOSITORY)
    return {block.text.split()[1]: block.text for block in blocks if block.page == "docs/howto/robots.md" and block.text.startswith("# ")}


@pytest.fixture(scope="module")
def pick(tmp_path_factory):
    """Path of a scene with the arm, its wrist a force sensor, and the cube, solved to 1e-9 m/s."""
    folder = tmp_path_factory.mktemp("pick")
    made = subprocess.run([CLI, "robot", "models/robots/arm_gripper.urdf", "--joint", "left=0.025", "--dynamic", "mount", "--dynamic", "left",
                           "--scene", str(folder / "arm.textproto")], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stdout + made.stderr
    blocks = cube_scene()
    (folder / "cube.mesh").write_text(blocks["cube.mesh"])
    text = (folder / "arm.textproto").read_text() + blocks["object.textproto"].replace("newton_tolerance_m_s: 1e-6", "newton_tolerance_m_s: 1e-9")
    (folder / "pick.textproto").write_text(text)
    return folder / "pick.textproto"


@pytest.fixture(scope="module")
def client(server_binary):
    with eipc.launch_server(str(server_binary)) as server, server.client() as connection:
        yield connection


def follow_path(session, masses, arm):
    """How far the wrist's force is from what acts on the hand in each step, relative to it and to what the report allows; the last observation."""
    observe = eipc.Observe(joints=True, twists=True, contact_wrenches=True, force_balance=True)
    before = session.state(observe)
    q, errors, shares = arm.start, [], []
    for goal in ({"left": 0.009}, {"left": 0.009, "elbow": -0.3}):
        to = arm.coordinates(goal)
        for k in range(round(0.5 / H)):
            s = eipc.Interpolation.MINIMUM_JERK.ease((k + 1) * H / 0.5)
            now = session.step(H, observe=observe, **arm.command((1 - s) * q + s * to))
            assert now.solver_report.outcome is eipc.Outcome.CONVERGED
            force = now.joints["mount"].force + sum(w.normal_force + w.friction_force for (body, other), w in now.contact_wrenches.items()
                                                    if body in HAND and other not in HAND)
            change = sum(masses[body] * ((now.bodies[body].linear_velocity - before.bodies[body].linear_velocity) / H - GRAVITY)
                         for body in HAND)
            errors.append(np.linalg.norm(force - change) / np.linalg.norm(now.joints["mount"].force))
            shares.append(np.linalg.norm(force - change) / (len(HAND) * now.solver_report.unbalanced_force + 1e-9))
            before = now
        q = to
    return np.array(errors), np.array(shares), now


@pytest.mark.parametrize("tolerance_m_s, worst, usual", [(1e-9, 1e-6, 1e-6), (0, 0.1, 1e-3)])
def test_the_wrist_feels_contact_weight_and_inertia(client, pick, tolerance_m_s, worst, usual):
    """With the default tolerance (0) the forces of the step in which the fingers meet the cube are known to a few per cent, and the report says
    how well."""
    arm = eipc.robot.Robot.of_scene(pick)
    assert [joint.name for joint in arm.joints if joint.dynamic] == ["left"]
    message = eipc.load_scene(pick)
    message.solver.newton_tolerance_m_s = tolerance_m_s
    scene = client.create_scene(message)
    masses = {name: scene.summary.bodies[name].mass_kg for name in HAND}
    assert sum(masses.values()) == pytest.approx(0.34)
    with scene.create_session() as session:
        errors, shares, now = follow_path(session, masses, arm)
        cube = now.bodies["cube"].pose.position
    print(f"wrist: force balance off by {errors.max():.1e} of it at most, by {np.median(errors):.1e} in half of the steps, "
          f"carries {-now.joints['mount'].force} N; cube at {cube} m")
    assert errors.max() < worst and np.median(errors) < usual
    assert shares.max() < 1, "the report says how far the forces on each body are from balance"
    assert tolerance_m_s > 0 or shares.max() > 0.2, "and not much more"
    assert cube[2] > 0.13 + 0.05
    np.testing.assert_allclose(now.joints["right"].position, now.joints["left"].position, atol=1e-6)  # it follows
