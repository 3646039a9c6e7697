"""The registered tasks: their scenes, goals and scores, and policies that know what to do. Skips when the server has not been built."""

import types

import numpy as np
import pytest

import eipc
from blocks import write_block
from eipc.envs import lerobot, make, make_vec
from eipc.envs.goals import SceneGoals
from eipc.envs.object_task import _place
from eipc.envs.stacked import WorldArrays
from eipc.v1 import scene_pb2
from google.protobuf import text_format


@pytest.fixture(scope="module", autouse=True)
def own_server(server_binary):
    patch = pytest.MonkeyPatch()
    patch.setenv("EIPC_SERVER", str(server_binary))
    yield
    patch.undo()


GOALS = """
bodies { name: "plate" pose { position_m { x: 1 y: 2 z: 3 } rpy_rad { z: 0.7 } } }
bodies { name: "rack" pose { position_m { x: -1 } rpy_rad { x: 0.3 } } }
goals { name: "place" body: "plate" relative_to: "rack" position { region { min_m { x: -0.1 y: -0.1 z: -0.1 } max_m { x: 0.1 y: 0.1 z: 0.1 } } point_m { z: 0.5 } } }
goals { name: "axis" body: "plate" relative_to: "rack" direction { axis { x: 2 } direction { y: 1 } tolerance_rad: 0.1 } }
goals { name: "rest" body: "plate" speed { tolerance_m_s: 0.01 } }
goals { name: "up" body: "plate" direction { axis { z: 1 } direction { z: 1 } } }
"""


def test_goals_are_measured_in_the_frames_of_meshes():
    """Against poses composed one by one."""
    scene = text_format.Parse(GOALS, scene_pb2.Scene())
    centers = {"plate": np.array([1.1, 2.2, 3.0]), "rack": np.array([-1.0, 0.2, 0.4])}
    bodies = {name: types.SimpleNamespace(center_of_mass=center) for name, center in centers.items()}
    goals = SceneGoals(scene, bodies, ["plate", "rack"], radius_m=0.2)
    assert goals.names == ["place", "axis", "rest", "up"] and goals.tolerances.tolist() == [0, 0.1, 0.01, 0]
    random = np.random.default_rng(0)
    state = WorldArrays.empty(5, 2, 0)
    state.position[:], state.velocity[:] = random.normal(size=(5, 2, 3)), random.normal(size=(5, 2, 6))
    state.orientation[:] = [[eipc.Pose([0, 0, 0], q).orientation for q in row] for row in random.normal(size=(5, 2, 4))]
    values = goals.values(state)
    for world in range(5):
        frames = {}
        for b, body in enumerate(scene.bodies):
            local = eipc.Pose.from_message(body.pose).inverse().apply(centers[body.name])
            frames[body.name] = eipc.Pose(state.position[world, b], state.orientation[world, b]) @ eipc.Pose(-local)
        point = frames["rack"].inverse().apply(frames["plate"].apply([0, 0, 0.5]))
        assert values[world, 0] == pytest.approx(np.linalg.norm(point - np.clip(point, -0.1, 0.1)))
        cosine = frames["plate"].rotation_matrix()[:, 0] @ frames["rack"].rotation_matrix()[:, 1]
        assert values[world, 1] == pytest.approx(np.arccos(cosine))
        linear, angular = state.velocity[world, 0, :3], state.velocity[world, 0, 3:]
        assert values[world, 2] == pytest.approx(np.linalg.norm(linear) + 0.2 * np.linalg.norm(angular))
        assert values[world, 3] == pytest.approx(np.arccos(frames["plate"].rotation_matrix()[2, 2]))


def over_close_lift(seen, step, close=12, lift=22):
    """Goes over the object, closes, and lifts; of "state" observations."""
    actions = np.zeros((len(seen), 4))
    actions[:, 0] = (np.abs(seen[:, 4:6]) < 0.003).all(axis=1) | (step > close)
    actions[:, 1:3] = np.clip(20 * seen[:, 4:6], -1, 1)
    actions[:, 3] = -0.5 if step < close else 0.6 * (step >= lift)
    return actions


def test_a_mesh_of_ones_own_is_lifted(tmp_path):
    write_block(tmp_path / "block.vtk", cells=2, size=60)
    with make_vec("eipc/Lift-v0", 2, mesh=tmp_path / "block.vtk", mesh_scale=1e-3) as env:
        assert env.task.weight_n == pytest.approx(0.06**3 * 500 * 9.81, rel=1e-6)
        seen, info = env.reset(seed=0)
        for step in range(100):
            seen, _, terminated, truncated, info = env.step(over_close_lift(seen, step))
            if (terminated | truncated).any():
                break
    assert terminated.all() and (info["rise_m"] > 0.05).all()


def test_objects_are_placed_with_their_narrow_side_between_the_pads():
    corners = np.array([[x, y, z] for z in (0, 0.2) for y in (0, 0.1) for x in (0, 0.04)])
    turn = eipc.Pose.from_rpy([1, 2, 3], [0, 0, 0.5])
    surface = types.SimpleNamespace(positions=turn.apply(corners))
    placed = _place(surface, turn.apply([0.01, 0.05, 0.1]), 1.0)
    assert placed.width == pytest.approx(0.04, abs=0.01) and placed.plinth == 0
    assert placed.low[1] == pytest.approx(-placed.high[1]) and placed.low[2] == pytest.approx(0.9e-3)
    center = placed.pose.apply(turn.apply([0.01, 0.05, 0.1]))
    assert center[0] == pytest.approx(0) and center[2] == pytest.approx(placed.z)
    flat = _place(types.SimpleNamespace(positions=corners * [1, 1, 0.1]), np.array([0.02, 0.05, 0.01]), 1.0)
    assert flat.plinth > 0.03 and flat.low[2] == pytest.approx(flat.plinth + 0.9e-3)
    with pytest.raises(ValueError, match=r"0.16 m wide at its narrowest, and the pads open 0.13 m: give gripper_scale 1.3"):
        _place(types.SimpleNamespace(positions=corners * 4), np.zeros(3), 1.0)
    with pytest.raises(ValueError, match="too small for pads"):
        _place(types.SimpleNamespace(positions=corners * 0.02), np.zeros(3), 1.0)


def test_a_mesh_that_is_not_there_is_named(tmp_path):
    with pytest.raises(eipc.SceneFileError, match="none.obj: no such mesh file"):
        make("eipc/Lift-v0", mesh=tmp_path / "none.obj")


def test_the_plate_is_set_into_the_rack():
    """The commands of the scene's own trajectory, one after the other."""
    waypoints = [(0, 0, 0, -0.06), (0.04, 0, 0, -0.06), (0.04, 0, 0, 0.05), (0.04, 0.202, 0, 0.05), (0.04, 0.202, 0, -0.0445), (0, 0.202, 0, -0.0445)]
    with make_vec("eipc/PlateInRack-v0", 1, observations=("gripper", "contact_forces")) as env:
        seen, info = env.reset(seed=0)
        most = env.task.gripper.speed * env.task.timing.action_s
        point, rewards, lifted = 0, 0.0, None
        assert 0.15 < info["goal_in_slot"][0] < 0.25 and info["pads"][0] == 0
        for _ in range(200):
            command = seen["gripper"][0]
            if np.abs(command - waypoints[point]).max() < 1e-3 and point + 1 < len(waypoints):
                point += 1
                lifted = seen["contact_forces"][0, :2].sum(axis=0) if point == 3 else lifted
            action = np.clip((waypoints[point] - command) / most, [-0.6, -0.6, -1, -0.5], [0.6, 0.6, 1, 0.5])
            seen, reward, terminated, truncated, info = env.step(action[None])
            rewards += reward[0]
            if terminated[0] or truncated[0]:
                break
        weight = env.task.weight_n
    assert terminated[0] and info["is_success"][0] and info["goal_in_slot"][0] == 0 and info["pads"][0] == 0
    assert lifted[2] == pytest.approx(weight, rel=0.1)  # the fingers alone carry the plate in the air
    assert rewards == pytest.approx(2 - 0.2, abs=0.25)  # from a potential of about 0.12, less the cost of the actions


def test_pictures_show_the_world():
    with make_vec("eipc/Grasp-v0", 2, render_mode="rgb_array", render_size=(64, 48)) as env:
        env.reset(seed=0)
        pictures = env.render()
        assert len(pictures) == 2 and pictures[0].shape == (48, 64, 3) and pictures[0].dtype == np.uint8
        red, blue = pictures[0][..., 0].astype(int), pictures[0][..., 2].astype(int)
        assert 0.03 < (red - blue > 40).mean() < 0.5 and (blue - red > 40).mean() > 0.01  # the bear, and the pads
        assert not np.array_equal(pictures[0], pictures[1])
    env = make("eipc/Grasp-v0", render_mode="depth_array", render_size=(64, 48))
    env.reset(seed=0)
    depth, eye = env.render(), np.array(env.task.camera().eye)
    assert depth.shape == (48, 64) and depth.dtype == np.float32
    bear = env.vector.worlds.state.position[0, env.task.held_at]
    assert depth.min() == pytest.approx(np.linalg.norm(eye - bear), rel=0.25)
    forward = env.task.camera().basis()[2]
    corner = env.task.camera().rays(64, 48)[-1, 0]
    assert depth[-1, 0] == pytest.approx(-eye[2] / corner[2], rel=1e-5) and corner @ forward == pytest.approx(1)  # the ground
    env.close()
    with make_vec("eipc/Grasp-v0") as env:
        assert env.render() is None and env.call("render") == (None,)


def test_lerobot_finds_what_it_asks_for():
    env = lerobot.make_env(2)
    seen, info = env.reset(seed=[1, 2])
    assert {key: value.shape for key, value in seen.items()} == {"agent_pos": (2, 4), "environment_state": (2, 26)}
    assert env.metadata["autoreset_mode"].name == "SAME_STEP" and env.metadata["render_fps"] == 25
    assert env.call("_max_episode_steps") == (100, 100) and env.get_attr("task_description") == ("grasp the object, lift it and hold it",) * 2
    assert env.render_mode == "rgb_array"
    env.close()
    other = lerobot.make_env(1, cfg=types.SimpleNamespace(task="eipc/PlateInRack-v0"))
    assert other.task.held == "plate"
    other.close()
