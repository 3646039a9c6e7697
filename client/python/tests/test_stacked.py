"""Batches that are answered with one array a quantity: the same numbers as messages of each world, bit for bit."""

import dataclasses

import numpy as np
import pytest

import eipc
from eipc.camera import Camera
from eipc.envs import EipcVectorEnv
from eipc.solver_report import Outcome
from server_client import client  # noqa: F401 (fixture)
from small_grasp import scene as grasp_scene
from small_grasp import small_task

DT = 0.02
STACKED = eipc.Observe(poses=True, twists=True, cage_positions=True, surface_positions=True, contact_wrenches=True, contact_counts=True,
                       min_distance=True, solver_report=True, state_digest=True)
PAIRS = [("cube", "left"), ("right", "cube"), ("cube", "right"), ("left", "right")]
WORLDS = (3, 0, 2)


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch_server(server_binary) as server:
        yield server


def closing(world, **changes):
    """A step in which the plates of a world close, each world by its own way, until they press on the cube; not in world 0."""
    way = 0.015 + 0.001 * world if world > 0 else 0.0
    targets = {name: eipc.Pose([0, side * (0.045 - way), 0.03]) for name, side in (("left", -1), ("right", 1))}
    return {"dt": DT, "world": world, "targets": targets, "substeps": 3, **changes}


def bits(array):
    """Shape, type and bytes: equal where every bit is."""
    array = np.ascontiguousarray(array)
    return array.shape, array.dtype.str, array.tobytes()


def wrench_rows(seen):
    found = seen.contact_wrenches
    names = ("normal_force", "friction_force", "normal_moment", "friction_moment")
    return [[getattr(found[pair], name) if pair in found else np.zeros(3) for name in names] for pair in PAIRS]


def count_rows(seen):
    found = {frozenset(pair): (count.point_triangle, count.edge_edge) for pair, count in seen.contact_counts.pairs.items()}
    return [found.get(frozenset(pair), (0, 0)) for pair in PAIRS]


def test_pictures_come_stacked(client):
    """One of the cameras moves with a plate, which is elsewhere in each world."""
    side = Camera.look_at([0.3, 0.0, 0.1], [0, 0, 0.03], width=24, height=16, fov_y_rad=0.6)
    cameras = {"side": eipc.CameraSense(side, colour=True),
               "plate": eipc.CameraSense(Camera(eipc.Pose([0, 0.1, 0], [0.5**0.5, 0.5**0.5, 0, 0]), 8, 8, 1.0), body="left", segmentation=False)}
    observe = eipc.Observe(cameras=cameras)
    scene = client.create_scene(grasp_scene())
    with scene.create_session(worlds=4) as one, scene.create_session(worlds=4) as other:
        seen = [result.observation.cameras for result in one.step_batch([closing(world, observe=observe) for world in WORLDS])]
        stacked = other.step_stacked([closing(world) for world in WORLDS], observe)
        with pytest.raises(eipc.NotFoundError, match=r"stack.observe.cameras\[0\].body: no body 'nobody'"):
            other.step_stacked([closing(0)], eipc.Observe(cameras={"side": eipc.CameraSense(side, body="nobody")}))
    assert list(stacked.cameras) == ["side", "plate"]
    for name, pictures in stacked.cameras.items():
        for group in ("depth", "segmentation", "colour"):
            singles = [getattr(pictures_of[name], group) for pictures_of in seen]
            stack = getattr(pictures, group)
            assert (stack is None) == (singles[0] is None), (name, group)
            assert stack is None or bits(stack) == bits(np.stack(singles)), (name, group)
        poses = [[*of[name].camera.pose.position, *of[name].camera.pose.orientation] for of in seen]
        assert bits(pictures.poses) == bits(np.array(poses)) and pictures.unfinished == {}
        assert pictures.bodies == seen[0][name].bodies
    assert len(np.unique(stacked.cameras["plate"].poses, axis=0)) == len(WORLDS)
    assert np.isfinite(stacked.cameras["side"].depth).any() and stacked.cameras["side"].shows("cube").any(axis=(1, 2)).all()
    with pytest.raises(ValueError, match="no segmentation"):
        stacked.cameras["plate"].shows("cube")


def test_arrays_hold_the_numbers_of_the_messages(client):
    scene = client.create_scene(grasp_scene())
    with scene.create_session(worlds=4) as one, scene.create_session(worlds=4) as other:
        results = one.step_batch([closing(world, observe=STACKED) for world in WORLDS])
        stacked = other.step_stacked([closing(world) for world in WORLDS], STACKED, PAIRS)
    seen = [result.observation for result in results]
    assert stacked.errors == {} and stacked.stepped.all() and stacked.bodies == tuple(seen[0].bodies)
    expected = {
        "step": np.array([one.step for one in seen]), "time_s": np.array([one.time_s for one in seen]),
        "poses": np.array([[[*b.pose.position, *b.pose.orientation] for b in one.bodies.values()] for one in seen]),
        "twists": np.array([[[*b.linear_velocity, *b.angular_velocity] for b in one.bodies.values()] for one in seen]),
        "contact_wrenches": np.array([wrench_rows(one) for one in seen]),
        "contact_counts": np.array([count_rows(one) for one in seen], dtype=np.int32),
        "min_distance_m": np.array([one.min_distance_m for one in seen]),
        "state_digest": np.array([one.state_digest for one in seen])}
    for name, values in expected.items():
        assert bits(getattr(stacked, name)) == bits(values), name
    assert (expected["contact_wrenches"] != 0).any(axis=(1, 2, 3)).tolist() == [True, False, True]
    for name in stacked.bodies:
        assert bits(stacked.cage_positions[name]) == bits([one.bodies[name].cage_positions for one in seen])
        assert bits(stacked.surface_positions[name]) == bits([one.bodies[name].surface_positions for one in seen])
    reports = stacked.solver_reports
    assert [Outcome(number) for number in reports.outcome] == [one.solver_report.outcome for one in seen]
    assert reports.newton_iterations.tolist() == [one.solver_report.newton_iterations for one in seen]
    assert bits(reports.residual_m_s) == bits([one.solver_report.residual_m_s for one in seen]) and (reports.wall_time_s > 0).all()
    assert not stacked.poses.flags.owndata and not stacked.poses.flags.writeable  # views of the message
    assert repr(stacked).startswith("StackedObservations(") and "<3x4x7 float64>" in repr(stacked)


def test_what_is_not_asked_for_is_absent(client):
    with client.create_scene(grasp_scene()).create_session(worlds=4) as session:
        stacked = session.step_stacked([closing(1)], eipc.Observe(solver_report=False, bodies=["cube"]))
    assert stacked.bodies == ("cube",) and stacked.poses.shape == (1, 1, 7) and stacked.step.tolist() == [3]
    for name in ("twists", "contact_wrenches", "contact_counts", "min_distance_m", "state_digest", "solver_reports"):
        assert getattr(stacked, name) is None
    assert stacked.cage_positions == stacked.surface_positions == {}


def test_a_world_that_fails_touches_no_other(client):
    scene = client.create_scene(grasp_scene())
    with scene.create_session(worlds=4) as one, scene.create_session(worlds=4) as other:
        undisturbed = one.step_stacked([closing(world) for world in WORLDS], STACKED, PAIRS)
        disturbed = other.step_stacked([closing(3), closing(0, expected_step=7), closing(2)], STACKED, PAIRS)
    assert list(disturbed.errors) == [1] and isinstance(disturbed.errors[1], eipc.AbortedError)
    assert disturbed.stepped.tolist() == [True, False, True] and disturbed.step.tolist() == [3, 0, 3]
    for name in ("poses", "twists", "contact_wrenches", "contact_counts", "state_digest"):
        now, then = getattr(disturbed, name), getattr(undisturbed, name)
        assert bits(now[[0, 2]]) == bits(then[[0, 2]]) and not any(now[1:2].tobytes())


def test_worlds_that_fail_show_no_body(client):
    """Their rows are zero, which is the index of the first body."""
    cameras = {"side": eipc.CameraSense(Camera.look_at([0.3, 0.0, 0.1], [0, 0, 0.03], width=24, height=16, fov_y_rad=0.6))}
    with client.create_scene(grasp_scene()).create_session(worlds=4) as session:
        stacked = session.step_stacked([closing(3), closing(0, expected_step=7)], eipc.Observe(cameras=cameras))
    pictures = stacked.cameras["side"]
    assert pictures.pictured.tolist() == stacked.stepped.tolist() == [True, False]
    assert pictures.bodies[0] == "cube" and not pictures.segmentation[1].any()
    assert pictures.shows("cube").any(axis=(1, 2)).tolist() == [True, False]
    late = dataclasses.replace(pictures, unfinished={0: "the call ended"})
    assert not late.shows("cube").any() and not late.pictured.any()


def test_wrong_requests_are_refused_in_words(client):
    with client.create_scene(grasp_scene()).create_session(worlds=4) as session:
        with pytest.raises(eipc.InvalidArgumentError, match=r"stack\.observe\.energies: does not come stacked; these do: poses, "):
            session.step_stacked([closing(0)], eipc.Observe(energies=True))
        with pytest.raises(eipc.InvalidArgumentError, match=r"stack\.pairs: missing"):
            session.step_stacked([closing(0)], eipc.Observe(contact_wrenches=True))
        with pytest.raises(eipc.NotFoundError, match=r"stack\.pairs\[0\]\.other: no body 'cup'; there are: cube, ground, left, right"):
            session.step_stacked([closing(0)], eipc.Observe(contact_counts=True), [("cube", "cup")])
        with pytest.raises(ValueError, match="give observe once"):
            session.step_stacked([closing(0, observe=eipc.Observe())], eipc.Observe())
        assert session.state().step == 0


def forgetful(server):
    """A client for which the server is one that does not stack."""
    client = server.client()
    client._capabilities = frozenset({"step_batch"})
    return client


def test_a_server_that_does_not_stack_is_named(server):
    with forgetful(server) as client, client.create_scene(grasp_scene()).create_session(worlds=4) as session:
        with pytest.raises(eipc.UnimplementedError, match="lacks the capability stacked_batch"):
            session.step_stacked([closing(0)], eipc.Observe())


GROUPS = ("state", "gripper", "poses", "velocities", "wrenches", "contact_forces", "contacts", "cage")


def steps(env, count=14):
    """Everything that steps of the environment give back, world 1 failing on the server once."""
    out = [env.reset(seed=3)]
    random = np.random.default_rng(0)
    rows_of = env.worlds.rows
    for step in range(count):
        actions = random.uniform(-1, 1, (env.num_envs, 4))
        actions[:, 0] = 1
        env.worlds.rows = lambda worlds, begin, end, substeps, eased=False: rows_of(
            worlds, begin, end, np.where((worlds == 1) & (step == 5), 1 << 20, substeps), eased)
        out.append(env.step(actions))
    return out


def test_environments_do_the_same_with_arrays_and_with_messages(server):
    def task(client):
        return small_task(client, max_episode_steps=9)

    with server.client() as able, forgetful(server) as unable:
        with EipcVectorEnv(task, 3, observations=GROUPS, server=able) as env:
            with_arrays = steps(env)
            assert env.worlds.answer.observations == ()  # there was no message of each world
        with EipcVectorEnv(task, 3, observations=GROUPS, server=unable) as env:
            with_messages = steps(env)
            assert len(env.worlds.answer.observations) == 3
    assert any("failure" in one[-1] for one in with_arrays)
    for one, other in zip(with_arrays, with_messages):
        for a, b in zip(one, other):
            same(a, b)


def same(a, b):
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif a.dtype == object:
        assert a.tolist() == b.tolist()
    else:
        assert bits(a) == bits(b)
