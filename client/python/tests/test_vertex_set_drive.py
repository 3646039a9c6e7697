"""Vertices of a soft body drawn to a pose: by position, with impedance, at a speed, and with no more than a force."""

import numpy as np
import pytest

import eipc
from conftest import REPOSITORY
from test_tutorial import page_blocks

GAIN = "{{ x: {0} y: {0} z: {0} }}"
SCENE = """
display_name: "sponge"
gravity_m_s2 { }
bodies {
  name: "sponge"
  full_space { mesh { file: "cube.mesh" scale: 0.04 } }
  material { density_kg_m3: 300 youngs_modulus_pa: 5e4 poissons_ratio: 0.3 strain_damping_s: 0.01 }
  EXTERNAL
}
bodies {
  name: "handle"
  affine { surface { file: "cube.obj" scale: 0.02 } }
  pose { position_m { x: -0.02 } }
  material { density_kg_m3: 500 youngs_modulus_pa: 1e8 }
  pose_drive {
    stiffness_n_m STIFFNESS
    damping_n_s_m DAMPING
    max_force_n LIMIT
    stiffness_nm_rad: 5
    damping_nm_s_rad: 0.02
    max_moment_nm: 1
  }
}
bodies {
  name: "wall"
  static_body { surface { file: "cube.obj" scale: 0.2 } }
  pose { position_m { x: 0.15 } }
}
joints {
  name: "grip"
  body_a: "sponge"
  body_b: "handle"
  attachment { box { min_m { x: -1 y: -1 z: -1 } max_m { x: -0.019 y: 1 z: 1 } } }
  contact: false
}
solver { newton_tolerance_m_s: 1e-7 audit_every_n_steps: 1 }
"""


@pytest.fixture(scope="module")
def client(server_binary):
    with eipc.launch_server(str(server_binary)) as server, server.client() as connection:
        yield connection


@pytest.fixture
def drawn(client, tmp_path):
    """Makes a session of the sponge, drawn with these gains."""
    page = (REPOSITORY / "docs" / "howto" / "drives.md").read_text(encoding="utf-8")
    for _, _, text in page_blocks.BLOCK.findall(page):
        if text.startswith(("# cube.obj", "# cube.mesh")):
            (tmp_path / text.split()[1]).write_text(text)
    sessions = []

    def make(stiffness, damping, limit, external=""):
        text = SCENE.replace("STIFFNESS", GAIN.format(stiffness)).replace("DAMPING", GAIN.format(damping))
        (tmp_path / "scene.textproto").write_text(text.replace("LIMIT", GAIN.format(limit)).replace("EXTERNAL", external))
        sessions.append(client.create_scene(tmp_path / "scene.textproto").create_session())
        return sessions[-1]

    yield make
    for session in sessions:
        session.delete()


def go(session, h, seconds, start, end):
    """Draws the vertices along x at an even speed, from and to where the handle's centre is, m."""
    path = eipc.Trajectory([0, seconds], [eipc.Pose([start, 0, 0]), eipc.Pose([end, 0, 0])])
    observe = eipc.Observe(boundary_poses=True, joints=True, twists=True, contact_wrenches=True, solver_report=True)
    seen = session.step(h, substeps=round(seconds / h), trajectories={"handle": path}, observe=observe)
    assert seen.solver_report.outcome is eipc.Outcome.CONVERGED and seen.solver_report.audit.intersections == 0
    return seen


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_a_stiff_drive_places_them(drawn, h):
    session = drawn(5000, 20, 10)
    go(session, h, 0.4, -0.02, -0.01)
    seen = go(session, h, 0.4, -0.01, -0.01)
    assert seen.bodies["handle"].pose.position[0] == pytest.approx(-0.01, abs=1e-6)
    assert seen.bodies["sponge"].pose.position[0] == pytest.approx(0.01, abs=1e-5)


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_a_soft_drive_gives_by_its_stiffness(drawn, h):
    session = drawn(200, 5, 10, external="external_force_n { x: 0.5 }")
    seen = go(session, h, 1.0, -0.02, -0.02)
    assert seen.bodies["handle"].pose.position[0] + 0.02 == pytest.approx(0.5 / 200, rel=1e-3)
    assert seen.boundary_poses["handle", ""].pose_drive.force[0] == pytest.approx(-0.5, rel=1e-3)
    assert seen.joints["grip"].force[0] == pytest.approx(-0.5, rel=1e-3)  # what holds the vertices


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_dampers_alone_keep_a_speed(drawn, h):
    session = drawn(0, 50, 10)
    seen = go(session, h, 0.4, -0.02, 0.0)
    assert seen.bodies["handle"].linear_velocity[0] == pytest.approx(0.05, rel=1e-3)
    assert not seen.boundary_poses["handle", ""].pose_drive.saturated


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_a_wall_is_pressed_with_the_limit(drawn, h):
    """The sponge's far side is 30 mm from the wall; its handle is commanded 60 mm further."""
    session = drawn(5000, 20, 2)
    go(session, h, 0.6, -0.02, 0.04)
    seen = go(session, h, 0.6, 0.04, 0.04)
    drive = seen.boundary_poses["handle", ""].pose_drive
    assert drive.saturated and drive.blocked and drive.force[0] == pytest.approx(2, rel=1e-6)
    assert seen.contact_force_on("sponge")[0] == pytest.approx(-2, rel=1e-3)
    assert seen.bodies["handle"].pose.position[0] < 0.03
