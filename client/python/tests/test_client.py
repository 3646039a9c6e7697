import socket

import grpc
import numpy as np
import pytest

import eipc
import fake_server


def test_connecting_to_nobody_says_so_in_a_sentence():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # bound, not listening: nobody answers here
        address = "127.0.0.1:%d" % probe.getsockname()[1]
        with pytest.raises(eipc.UnavailableError, match=f"no eipc server answers at {address}"):
            eipc.connect(address, timeout=0.3)


def test_create_scene_sends_the_scene_and_reads_the_summary(client, servicer):
    scene = client.create_scene('bodies { name: "teddy" }')
    assert servicer.requests[-1].scene.bodies[0].name == "teddy"
    assert scene.name == "scenes/1"
    assert scene.bodies["teddy"].mass_kg == 0.5
    assert scene.bodies["teddy"].boundary_sets == ("finger",)
    np.testing.assert_array_equal(scene.bodies["teddy"].center_of_mass, [0, 0, 0.1])
    assert client.validate_scene('bodies { name: "teddy" }').unknowns == 12
    assert servicer.requests[-1].validate_only


def test_scene_problems_come_line_by_line(client):
    with pytest.raises(eipc.InvalidArgumentError) as caught:
        client.create_scene('display_name: "empty"\n')
    assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.reason == "INVALID_SCENE"
    assert "contact.dhat_m: must be > 0, got -1" in caught.value.problems


def test_topology_pages_and_refusals(client):
    topology = client.get_scene("scenes/1").topology()["teddy"]
    np.testing.assert_array_equal(topology.triangles, fake_server.TRIANGLES)
    np.testing.assert_array_equal(topology.positions, fake_server.POSITIONS)
    assert [scene.name for scene in client.list_scenes()] == ["scenes/0", "scenes/1", "scenes/2"]
    with pytest.raises(eipc.NotFoundError, match="SCENE_NOT_FOUND"):
        client.get_scene("scenes/9")
    with pytest.raises(eipc.FailedPreconditionError):
        client.get_scene("scenes/1").delete()


def test_step_request_carries_everything(session, servicer):
    pose = eipc.Pose([1, 2, 3])
    session.step(0.02, targets={("left", "finger"): pose, "pusher": pose}, substeps=3, expected_step=0, request_id="a",
                 observe=eipc.Observe(twists=True, bodies=["teddy"], positions_dtype=np.float32))
    request = servicer.requests[-1]
    assert (request.session, request.dt_s, request.substeps, request.request_id) == ("sessions/7", 0.02, 3, "a")
    assert request.HasField("expected_step") and request.expected_step == 0
    assert [(target.body, target.boundary_set) for target in request.targets] == [("left", "finger"), ("pusher", "")]
    assert request.targets[0].pose.position_m.z == 3
    assert request.observe.twists and not request.observe.energies and list(request.observe.bodies) == ["teddy"]
    session.step(0.02)
    assert not servicer.requests[-1].HasField("expected_step")


def test_observation_is_unpacked(session):
    observation = session.step(0.02, observe=eipc.Observe.all())
    assert observation.step == 1 and observation.time_s == 0.02
    teddy = observation.bodies["teddy"]
    np.testing.assert_array_equal(teddy.pose.position, [1, 2, 3])
    np.testing.assert_array_equal(teddy.linear_velocity, [0, 0, 0.08])
    np.testing.assert_array_equal(teddy.surface_positions, fake_server.POSITIONS)
    assert teddy.cage_positions is None and teddy.angular_velocity is None
    np.testing.assert_array_equal(observation.contact_force_on("teddy"), [0, 0, 7])
    wrench = observation.contact_wrenches["teddy", "left"]
    np.testing.assert_array_equal(wrench.force, [0, 5, 4])
    np.testing.assert_allclose(wrench.moment, [0.3, 0, 0])
    assert observation.contact_counts.total == 7
    assert observation.contact_counts.pairs["left", "teddy"].edge_edge == 4
    assert observation.min_distance_m == 2e-4
    assert observation.energies.barrier == 4
    assert observation.solver_report.converged and observation.solver_report.stage_seconds == {"ccd": 0.001}
    report = observation.solver_report
    assert report.linear_solver == "PCG_IC0" and (report.krylov_iterations, report.direct_solves, report.kept_matrices) == (40, 1, 2)
    assert ("left", "finger") in observation.boundary_poses
    assert observation.state_digest == "0123456789abcdef"


def test_outcomes_of_a_newer_server_are_unspecified():
    assert eipc.Outcome(77) is eipc.Outcome.UNSPECIFIED


def test_reset_and_state(session):
    session.step(0.02)
    assert session.state().step == 1
    assert session.reset().step == 0


def test_errors_map_to_their_classes(session):
    with pytest.raises(eipc.InvalidArgumentError, match="INVALID_DT"):
        session.step(-1)
    with pytest.raises(eipc.AbortedError):
        session.step(0.02, expected_step=5)
    with pytest.raises(eipc.DeadlineExceededError):
        session.step(99, timeout=0.2)


def test_a_session_block_deletes_it_and_keeps_the_first_error(client, servicer):
    with pytest.raises(RuntimeError, match="mine"):
        with client.get_scene("scenes/1").create_session(threads=2) as session:
            assert servicer.requests[-1].threads == 2
            raise RuntimeError("mine")
    assert servicer.requests[-1].session == session.name


def test_a_lost_server_names_the_address(servicer):
    with fake_server.serve(servicer) as address:
        client = eipc.connect(address, default_timeout=5)
        session = client.get_scene("scenes/1").create_session()
    with pytest.raises(eipc.UnavailableError, match=address):
        session.step(0.02)
    client.close()
