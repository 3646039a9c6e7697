"""The client against the real server, on scenes small enough for seconds. Skips when the server has not been built."""

import subprocess
import sys

import numpy as np
import pytest

import eipc
from conftest import CLIENT_ROOT, REPOSITORY
from eipc.v1 import geometry_pb2, scene_pb2
from puppet_server import BOX_TRIANGLES, box
from server_client import client  # noqa: F401 (fixture)

GRAVITY = 9.81
DT = 0.01
# Kuhn's six tetrahedra of a cube whose corners are numbered x fastest, z slowest.
CUBE_TETS = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]], dtype=np.int32)


def cube_scene(height=0.2):
    """A soft cube of 10 cm above a slab, and a small kinematic box far to the side."""
    scene = scene_pb2.Scene(display_name="cube")
    cube = scene.bodies.add(name="cube")
    cube.full_space.mesh.CopyFrom(eipc.mesh_from_arrays(box([0, 0, height], [0.1, 0.1, 0.1]), CUBE_TETS))
    cube.material.CopyFrom(scene_pb2.Material(model=scene_pb2.Material.STABLE_NEO_HOOKEAN, density_kg_m3=1000,
                                              youngs_modulus_pa=1e5, poissons_ratio=0.3))
    slab = scene.bodies.add(name="slab")
    slab.static_body.surface.CopyFrom(eipc.mesh_from_arrays(box([0, 0, -0.05], [0.5, 0.5, 0.1]), BOX_TRIANGLES))
    pusher = scene.bodies.add(name="pusher")
    pusher.kinematic.surface.CopyFrom(eipc.mesh_from_arrays(box([0, 0, 0], [0.02, 0.02, 0.02]), BOX_TRIANGLES))
    pusher.pose.position_m.CopyFrom(geometry_pb2.Vec3(x=0.2, z=0.2))
    scene.contact.friction_coefficient = 0.5
    return scene


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch_server(server_binary) as server:
        yield server
    assert server.process.returncode == 0, "SIGTERM must end the server in order:\n" + server.output


@pytest.fixture
def session(client):
    with client.create_scene(cube_scene()).create_session() as session:
        yield session


def test_scene_facts(client):
    scene = client.create_scene(cube_scene())
    assert client.create_scene(cube_scene()).name == scene.name
    assert scene.bodies["cube"].mass_kg == pytest.approx(1.0)
    np.testing.assert_allclose(scene.bodies["cube"].center_of_mass, [0, 0, 0.2], atol=1e-12)
    assert scene.topology()["cube"].triangles.shape == (12, 3)
    np.testing.assert_allclose(scene.topology()["pusher"].positions.mean(axis=0), [0.2, 0, 0.2], atol=1e-12)
    assert scene.name in [listed.name for listed in client.list_scenes()]
    assert client.get_scene(scene.name).summary.unknowns == scene.summary.unknowns


def test_free_fall_is_backward_eulers_recurrence(session):
    for n in range(1, 11):
        observation = session.step(DT, observe=eipc.Observe(twists=True))
        fallen = GRAVITY * DT * DT * n * (n + 1) / 2
        np.testing.assert_allclose(observation.bodies["cube"].pose.position, [0, 0, 0.2 - fallen], atol=1e-9)
        np.testing.assert_allclose(observation.bodies["cube"].linear_velocity, [0, 0, -GRAVITY * DT * n], atol=1e-7)
    assert observation.step == 10 and observation.time_s == pytest.approx(0.1)


def test_stresses_of_a_stretched_cube_are_those_of_its_material(client):  # noqa: F811
    """Both faces are held, one of them 2 % further away: the strain is the same everywhere, and across it there is none."""
    scene, strain = cube_scene(), 0.02
    cube = scene.bodies[0]
    cube.material.model = scene_pb2.Material.LINEAR_COROTATED
    for name, side in (("near", -1), ("far", 1)):
        held = cube.boundary_sets.add(name=name)
        low, high = held.box.min_m, held.box.max_m
        low.x, high.x = (-1, -0.049) if side < 0 else (0.049, 1)
        low.y = low.z = -1
        high.y = high.z = 1
    with client.create_scene(scene).create_session() as session:
        observe = eipc.Observe(stresses=True, boundary_poses=True)
        far = session.state(observe).boundary_poses["cube", "far"].achieved
        seen = session.step(DT, targets={("cube", "far"): far.translated([0.1 * strain, 0, 0])}, observe=observe)
    youngs, poissons = cube.material.youngs_modulus_pa, cube.material.poissons_ratio
    shear = youngs / (2 * (1 + poissons))
    lame = youngs * poissons / ((1 + poissons) * (1 - 2 * poissons))
    along, across = (2 * shear + lame) * strain, lame * strain / (1 + strain)  # Cauchy's
    np.testing.assert_allclose(seen.bodies["cube"].von_mises, along - across, rtol=1e-6)


def test_landing_carries_the_weight_and_touches_nothing(session):
    observe = eipc.Observe.all()
    with session.stream() as stream:
        *_, observation = stream.run({"dt": DT, "observe": observe} for _ in range(300))
    assert observation.contact_force_on("cube")[2] == pytest.approx(GRAVITY * 1.0, rel=1e-2)
    np.testing.assert_allclose(observation.contact_force_on("slab"), -observation.contact_force_on("cube"), atol=1e-9)
    np.testing.assert_allclose(observation.contact_force_on("slab", "cube"), 0, atol=0)
    force, moment = observation.contact_wrench_on("cube", about=[1, 0, 0])
    np.testing.assert_allclose(moment, np.cross(observation.bodies["cube"].pose.position - [1, 0, 0], force), atol=1e-3)
    on = observation.bodies["cube"].contact_tractions
    assert 4 <= len(on.vertices) <= 8 and len(observation.bodies["pusher"].contact_tractions.vertices) == 0
    np.testing.assert_allclose(on.force.sum(0), force, atol=1e-9 * np.linalg.norm(force))
    arms = observation.bodies["cube"].surface_positions[on.vertices] - [1, 0, 0]
    np.testing.assert_allclose(np.cross(arms, on.force).sum(0), moment, atol=1e-9 * np.linalg.norm(moment))
    assert (on.normal[on.pressure > 0] @ [0, 0, 1] > 0.99).all()
    assert on.slip_velocity.shape == (len(on.vertices), 3) and np.abs(on.slip_velocity).max() < 1e-3, "it rests"
    stress = observation.bodies["cube"].von_mises  # of the order of the weight over the area
    assert stress.shape == (6,) and 0.1 < stress.max() / (GRAVITY / 0.01) < 10
    assert observation.bodies["slab"].von_mises is None
    assert 0 < observation.min_distance_m < 1e-3
    assert observation.contact_counts.total > 0
    assert observation.bodies["cube"].surface_positions[:, 2].min() > 0


def test_unary_streamed_and_repeated_runs_end_in_the_same_bits(client):
    scene, observe = client.create_scene(cube_scene(0.055)), eipc.Observe(state_digest=True)
    with scene.create_session() as one, scene.create_session(threads=2) as two:
        start = one.state(observe).state_digest
        digests = [one.step(DT, observe=observe).state_digest for _ in range(20)]
        with two.stream() as stream:
            assert [o.state_digest for o in stream.run({"dt": DT, "observe": observe} for _ in range(20))] == digests
        assert one.reset(observe).state_digest == start
        assert one.step(DT, substeps=20, observe=observe).state_digest == digests[-1]
    assert len(set(digests)) == 20


def test_an_explicit_integrator_has_no_balance_of_forces(client):  # noqa: F811
    """It solves no equation that would leave anything; the default one does."""
    found = {}
    for integrator in ("BACKWARD_EULER", "VERLET", "RUNGE_KUTTA_4"):
        scene = cube_scene()
        scene.solver.integrator = scene_pb2.SolverSettings.Integrator.Value(integrator)
        with client.create_scene(scene).create_session() as session:
            found[integrator] = session.step(1e-4, observe=eipc.Observe(force_balance=True)).solver_report.unbalanced_force
    assert found["BACKWARD_EULER"] >= 0 and found["VERLET"] is None and found["RUNGE_KUTTA_4"] is None


def test_a_kinematic_body_goes_where_it_is_told(session):
    target = eipc.Pose.from_rpy([0.25, 0.01, 0.2], [0, 0, 0.1])
    observation = session.step(DT, targets={"pusher": target}, observe=eipc.Observe(boundary_poses=True))
    np.testing.assert_allclose(observation.bodies["pusher"].pose.position, target.position, atol=1e-9)
    np.testing.assert_allclose(observation.bodies["pusher"].pose.orientation, target.orientation, atol=1e-9)
    np.testing.assert_allclose(observation.boundary_poses["pusher", ""].achieved.position, target.position, atol=1e-9)


def test_arrays_come_as_asked(session):
    observation = session.step(DT, observe=eipc.Observe(surface_positions=True, positions_dtype=np.float32, bodies=["cube"]))
    assert list(observation.bodies) == ["cube"]
    assert observation.bodies["cube"].surface_positions.dtype == np.float32
    assert observation.bodies["cube"].surface_positions.shape == (8, 3)


@pytest.mark.parametrize("dt", [0.0, -0.01, float("nan"), float("inf")])
def test_bad_steps_are_refused_and_change_nothing(session, dt):
    with pytest.raises(eipc.InvalidArgumentError):
        session.step(dt)
    assert session.state().step == 0


def test_wrong_names_are_refused(client, session):
    with pytest.raises(eipc.EipcError, match="nobody"):
        session.step(DT, targets={"nobody": eipc.Pose()})
    with pytest.raises(eipc.EipcError, match="nobody"):
        session.step(DT, observe=eipc.Observe(bodies=["nobody"]))
    with pytest.raises(eipc.NotFoundError):
        client.get_scene("scenes/none")
    with pytest.raises(eipc.AbortedError):
        session.step(DT, expected_step=3)
    assert session.step(DT, expected_step=0).step == 1


def test_every_problem_of_a_scene_is_listed(client):
    scene = cube_scene()
    scene.bodies[0].material.youngs_modulus_pa = -5
    scene.contact.dhat_m = -1
    with pytest.raises(eipc.InvalidArgumentError) as caught:
        client.validate_scene(scene)
    assert "bodies[0].material.youngs_modulus_pa" in caught.value.message
    assert "contact.dhat_m" in caught.value.message


def test_too_large_a_message_is_refused_and_the_server_lives(client):
    scene = cube_scene()
    scene.description = "x" * (101 << 20)
    with pytest.raises(eipc.ResourceExhaustedError):
        client.create_scene(scene)
    assert client.create_scene(cube_scene()).name


def test_a_failed_stream_request_leaves_the_stream_usable(session):
    with session.stream() as stream:
        stream.step(DT)
        with pytest.raises(eipc.InvalidArgumentError):
            stream.step(-DT)
        assert stream.session_step == 1
        assert stream.step(DT).step == 2


def test_a_retried_request_returns_the_same_answer(session):
    first = session.step(DT, request_id="a", observe=eipc.Observe(state_digest=True))
    again = session.step(DT, request_id="a", observe=eipc.Observe(state_digest=True))
    assert again.step == first.step == 1 and again.state_digest == first.state_digest


def finger_scene():
    """The cube on its slab, and a finger of 0.1 kg that slides towards it, 2 cm away, with at most 6 N."""
    scene = cube_scene(0.0505)
    finger = scene.bodies.add(name="finger")
    finger.affine.surface.CopyFrom(eipc.mesh_from_arrays(box([0, 0, 0], [0.04, 0.04, 0.04]), BOX_TRIANGLES))
    finger.pose.position_m.CopyFrom(geometry_pb2.Vec3(x=-0.09, z=0.05))
    finger.material.CopyFrom(scene_pb2.Material(density_kg_m3=1000, youngs_modulus_pa=1e8))
    finger.slider.CopyFrom(scene_pb2.Slider(axis=geometry_pb2.Vec3(x=1), max_force_n=6, stiffness_n_m=2000, damping_n_s_m=30,
                                            max_speed_m_s=0.2, mass_kg=0.036))
    return scene


def test_a_drive_moves_no_faster_than_it_may(client):  # noqa: F811
    """Pushed freely with 60 m/s^2, which would soon be more."""
    scene = finger_scene()
    scene.bodies[-1].pose.position_m.x, scene.bodies[-1].slider.damping_n_s_m = -0.5, 0
    with client.create_scene(scene).create_session() as session:
        seen = session.step(DT, substeps=50, drives={"finger": eipc.drives.force(6)}).drives["finger", ""]
    assert seen.velocity_m_s == pytest.approx(0.2, rel=1e-6) and not seen.blocked
    assert 0.095 < seen.position_m < 0.1


def test_a_drive_is_commanded_and_reports(client):
    with client.create_scene(finger_scene()).create_session() as session:
        seen = session.step(DT, substeps=100, drives={"finger": eipc.drives.force(3)}).drives["finger", ""]
        # Friction holds the cube, of 1 kg.
        assert seen.mode is eipc.DriveMode.FORCE and seen.effort_n == pytest.approx(3, rel=1e-3)
        assert seen.saturated and 0.018 < seen.position_m < 0.025
        now = session.step(DT, substeps=100, drives={"finger": eipc.drives.path([0, 0.5], [seen.position_m, -0.02])})
        assert now.drives["finger", ""].position_m == pytest.approx(-0.02, abs=1e-4) and not now.drives["finger", ""].saturated
        pose = now.boundary_poses["finger", ""].achieved
        np.testing.assert_allclose(pose.position, [-0.11, 0, 0.05], atol=2e-4)
        assert now.solver_report.missed_targets == 0


def test_a_drive_that_takes_forces_alone_is_reset(client):
    scene = finger_scene()
    scene.bodies[3].slider.stiffness_n_m = scene.bodies[3].slider.damping_n_s_m = 0
    with client.create_scene(scene).create_session() as session:
        first = session.step(DT).drives["finger", ""]
        assert first.mode is eipc.DriveMode.FORCE and first.effort_n == 0  # nothing is commanded
        session.step(DT, drives={"finger": eipc.drives.force(1)})
        assert session.reset().step == 0
        assert session.step(DT).drives["finger", ""] == first


def test_a_recording_with_drives_has_the_same_bits(client, eipc_binary, tmp_path):
    observe = eipc.Observe(state_digest=True)
    with client.create_scene(finger_scene()).create_session(record=True) as session:
        session.step(DT, substeps=30, drives={"finger": eipc.drives.velocity(0.1)})
        snapshot = session.snapshot(data=True)
        end = session.step(DT, substeps=20, drives={"finger": eipc.drives.path([0.05, 0.15], [0.01, 0.03])}, observe=observe)
        (tmp_path / "drives.log").write_bytes(session.recording())
        with client.get_scene(session.scene).create_session(snapshot=snapshot.data) as other:
            again = other.step(DT, substeps=20, drives={"finger": eipc.drives.path([0.05, 0.15], [0.01, 0.03])}, observe=observe)
            assert again.state_digest == end.state_digest
    done = subprocess.run([str(eipc_binary), "verify", str(tmp_path / "drives.log")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name, motion, message", [
    ("cube", eipc.drives.force(1), "drives[0]"),
    ("nobody", eipc.drives.force(1), "drives[0].body: no body 'nobody'"),
    ("pusher", eipc.drives.force(1), "drives[0]: 'pusher' has no slider there; there are: finger"),
    ("finger", eipc.drives.force(7), "drives[0].motion.keys[0].value: must be at most the drive's max_force_n (6), got 7"),
    ("finger", eipc.drives.position(float("nan")), "drives[0].motion.keys[0].value"),
])
def test_bad_commands_name_the_field_and_change_nothing(client, name, motion, message):
    with client.create_scene(finger_scene()).create_session() as session:
        with pytest.raises(eipc.EipcError) as caught:
            session.step(DT, drives={name: motion})
        assert message in caught.value.message
        assert session.state().step == 0


@pytest.mark.parametrize("field, value", [("max_force_n", -1), ("stiffness_n_m", float("nan")), ("damping_n_s_m", -2), ("mass_kg", float("inf"))])
def test_bad_sliders_name_the_field(client, field, value):
    scene = finger_scene()
    setattr(scene.bodies[3].slider, field, value)
    with pytest.raises(eipc.InvalidArgumentError) as caught:
        client.create_scene(scene)
    assert f"bodies[3].slider.{field}" in caught.value.message


def test_the_example_runs(server_binary):
    if not (REPOSITORY / "models" / "scenes" / "bubble_teddy_low.textproto").exists():
        pytest.skip("the scene has not been generated")
    result = subprocess.run([sys.executable, str(CLIENT_ROOT / "examples" / "bubble_teddy.py"), str(server_binary)], cwd=REPOSITORY,
                            env={"PYTHONPATH": str(CLIENT_ROOT), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "t = 4.0 s" in result.stdout
