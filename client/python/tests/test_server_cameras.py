"""Cameras of the server: its pictures against those that the client draws of the same surfaces, and what the client makes of them."""

import numpy as np
import pytest

import eipc
from eipc import arrays
from eipc.camera import Camera
from eipc.cameras import NO_BODY
from eipc.observation import observation_from_message
from eipc.v1 import observation_pb2
from server_client import client  # noqa: F401 (fixture)
from test_real_server import DT, cube_scene

CAMERA = Camera.look_at([0.6, 0.5, 0.5], [0.05, 0, 0.08], width=120, height=90, fov_y_rad=0.8)
ALL = eipc.CameraSense(CAMERA, colour=True)


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch_server(server_binary) as server:
        yield server


@pytest.fixture(scope="module")
def scene(server):
    with server.client() as connection:
        yield connection.create_scene(cube_scene())


def test_the_server_says_that_it_draws(client):  # noqa: F811
    assert eipc.cameras.CAPABILITY in client.server_info().capabilities


def test_pictures_are_those_that_the_client_draws(scene):
    with scene.create_session() as session:
        seen = session.step(DT, substeps=15, observe=eipc.Observe(surface_positions=True, cameras={"side": ALL}))
    picture, view = seen.cameras["side"], CAMERA.see(scene.topology(), seen)
    assert picture.bodies == view.bodies == ("cube", "slab", "pusher") and picture.unfinished == ""
    assert (picture.depth.dtype, picture.segmentation.dtype, picture.colour.dtype) == (np.float32, np.uint16, np.uint8)
    assert not picture.depth.flags.writeable and picture.colour.shape == (90, 120, 3)
    same = (picture.segmentation == np.where(view.segment < 0, NO_BODY, view.segment))
    assert same.mean() > 0.9995, "pixels on an edge may fall to either side"
    assert all(picture.shows(body).sum() > 5 for body in ("cube", "slab", "pusher"))
    both = same & np.isfinite(view.depth)
    error = np.abs(picture.depth[both] / view.depth[both] - 1)
    assert np.quantile(error, 0.999) < 1.2e-7, "the rounding of a float"
    assert (np.abs(picture.colour.astype(int) - view.colour).max(axis=-1)[both] <= 1).mean() > 0.999
    np.testing.assert_allclose(np.sort(picture.points()[:, 2])[:10], np.sort(CAMERA.points(view)[:, 2])[:10], atol=1e-6)


def test_a_camera_on_a_body_moves_with_it(scene):
    """From the middle of the cube's frame, 0.3 m up, looking down."""
    down = Camera(eipc.Pose([0, 0, 0.3], [0, 1, 0, 0]), width=20, height=20, fov_y_rad=0.5)
    observe = eipc.Observe(cameras={"hand": eipc.CameraSense(down, body="cube"), "world": eipc.CameraSense(down, segmentation=False)})
    with scene.create_session() as session, session.stream() as stream:
        for seen in stream.run({"dt": DT, "observe": observe} for _ in range(5)):
            picture, height = seen.cameras["hand"], seen.bodies["cube"].pose.position[2]
            assert picture.camera.pose.position[2] == pytest.approx(height + 0.3, abs=1e-9)
            assert picture.shows("cube")[10, 10] and picture.depth[10, 10] == pytest.approx(0.25, abs=1e-6)
            assert seen.cameras["world"].depth[10, 10] == pytest.approx(0.3 - height - 0.05, abs=1e-5)
    assert seen.cameras["world"].segmentation is None
    with pytest.raises(ValueError, match="no segmentation"):
        seen.cameras["world"].shows("cube")
    with pytest.raises(ValueError, match="no body 'cup'; there are: cube"):
        picture.shows("cup")


def test_every_answer_may_have_pictures(scene):
    observe = eipc.Observe(cameras={"side": ALL})
    with scene.create_session() as session:
        drawn = session.step(DT, substeps=5, observe=observe).cameras["side"]
        snapshot = session.snapshot()
        assert not np.array_equal(session.reset(observe).cameras["side"].depth, drawn.depth)
        for seen in (session.restore(snapshot, observe), session.state(observe)):
            assert seen.cameras["side"].depth.tobytes() == drawn.depth.tobytes()
            assert seen.cameras["side"].colour.tobytes() == drawn.colour.tobytes()


def test_what_is_wrong_is_said(scene):
    with scene.create_session() as session:
        with pytest.raises(eipc.NotFoundError, match=r"observe.cameras\[0\].body: no body 'cup'"):
            session.step(DT, observe=eipc.Observe(cameras={"side": eipc.CameraSense(CAMERA, body="cup")}))
        assert session.state().step == 0
    with pytest.raises(ValueError, match="draws with its own ambient"):
        eipc.CameraSense(Camera(CAMERA.pose, ambient=0.5), colour=True)
    assert eipc.CameraSense(Camera(CAMERA.pose, ambient=0.5)).depth


def test_messages_without_a_server():
    message = observation_pb2.Observation()
    message.cameras.bodies.extend(["a", "b"])
    picture = message.cameras.pictures.add(camera=ALL.to_message("front"))
    assert picture.camera.far_m == 0 and observation_from_message(message).cameras["front"].camera.far_m == np.inf
    picture.segmentation.CopyFrom(arrays.to_message(np.array([[0, NO_BODY], [1, 1]], dtype=np.uint16)))
    seen = observation_from_message(message).cameras["front"]
    assert seen.shows("b").tolist() == [[False, False], [True, True]] and seen.depth is None
    picture.unfinished = "CANCELLED: over"
    with pytest.raises(ValueError, match="no depth: CANCELLED: over"):
        observation_from_message(message).cameras["front"].points()
    assert observation_from_message(observation_pb2.Observation()).cameras == {}
    assert hash(eipc.Observe()) == hash(eipc.Observe(cameras={"side": ALL})) and eipc.Observe() != eipc.Observe(cameras={"side": ALL})
