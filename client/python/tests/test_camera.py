"""Cameras against closed forms: planes, spheres, what hides what, and surfaces that reach behind the camera."""

import numpy as np
import pytest

from eipc import Pose
from eipc.camera import Camera
from eipc.client import BodyTopology
from eipc.observation import BodyObservation, Observation


def sheet(x, half=10.0):
    """A square across the x axis."""
    return BodyTopology(np.array([[0, 1, 2], [0, 2, 3]]), np.array([[x, -half, -half], [x, half, -half], [x, half, half], [x, -half, half]]))


def sphere(centre, radius, rings=64):
    theta, phi = np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False)
    grid = np.array([[np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)] for t in theta for p in phi]) * radius + centre
    n = len(phi)
    triangles = [[i * n + j, (i + 1) * n + j, (i + 1) * n + (j + 1) % n] for i in range(rings) for j in range(n)]
    triangles += [[i * n + j, (i + 1) * n + (j + 1) % n, i * n + (j + 1) % n] for i in range(rings) for j in range(n)]
    return BodyTopology(np.array(triangles), grid)


CAMERA = Camera.look_at([0, 0, 0], [1, 0, 0], width=80, height=60, fov_y_rad=0.9)


def test_the_frame_looks_along_z_with_y_down():
    turned = CAMERA.pose.rotation_matrix()
    np.testing.assert_allclose(turned, np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]]), atol=1e-12)
    rays = CAMERA.rays()
    assert rays[0, 0, 1] > 0 > rays[0, -1, 1] and rays[0, 0, 2] > 0 > rays[-1, 0, 2]  # left is +y, up is +z
    assert abs(np.arctan2(rays[0, 40, 2], rays[0, 40, 0]) - 0.45) < 0.02


def test_the_depth_of_a_plane_is_exact():
    view = CAMERA.see({"wall": sheet(2.0)})
    assert view.depth.shape == (60, 80) and np.abs(view.depth - 2).max() < 1e-13
    assert (view.segment == 0).all()
    # A floor 0.5 m below: the ray of each pixel meets it at 0.5 over its slope.
    floor = BodyTopology(np.array([[0, 1, 2], [0, 2, 3]]), np.array([[-50, -50, -0.5], [50, -50, -0.5], [50, 50, -0.5], [-50, 50, -0.5]]))
    seen = CAMERA.see({"floor": floor})
    down = CAMERA.rays()[:, :, 2]
    assert ((seen.segment == 0) == (down < -0.5 / 50)).mean() > 0.999
    below = seen.segment == 0
    np.testing.assert_allclose(seen.depth[below], -0.5 / down[below], rtol=1e-11)  # seen at slopes down to 1/40
    np.testing.assert_allclose(CAMERA.points(seen)[:, 2], -0.5, atol=1e-11)


def test_a_sphere_before_a_wall_within_half_a_pixel():
    centre, radius = np.array([1.0, 0.1, -0.05]), 0.2
    view = CAMERA.see({"wall": sheet(2.0), "ball": sphere(centre, radius)})
    rays = CAMERA.rays()
    along = rays @ centre / (rays**2).sum(axis=-1)
    nearest = np.linalg.norm(rays * along[..., None] - centre, axis=-1)  # of the ray to the centre
    pixel = along / CAMERA.focal_px  # m that a pixel covers there
    ball = view.shows("ball")
    assert ball[nearest < radius - 0.5 * pixel].all() and not ball[nearest > radius + 0.5 * pixel].any()
    inner = nearest < 0.9 * radius
    square = (rays**2).sum(axis=-1)
    depth = along - np.sqrt(np.maximum(along**2 - (centre @ centre - radius**2) / square, 0))
    assert np.abs(view.depth - depth)[inner].max() < 0.5 * pixel.max()  # and far less: it is the mesh's
    assert np.abs(view.depth - depth)[inner].max() < 1e-3
    np.testing.assert_allclose(view.depth[~ball], 2.0)
    # Brightest where it faces the camera.
    brightness = view.colour.sum(axis=-1).astype(float)
    assert brightness[inner].max() > 1.5 * brightness[ball & (nearest > 0.97 * radius)].min()


def test_moved_surfaces_and_chosen_bodies():
    topology = {"wall": sheet(2.0), "near": sheet(1.5)}
    moved = Observation(1, 0.1, {"near": BodyObservation("near", None, None, None, None, sheet(3.0).positions)}, {}, None, None, None, None, {})
    assert np.allclose(CAMERA.see(topology).depth, 1.5)
    assert np.allclose(CAMERA.see(topology, bodies=["wall"]).depth, 2.0)
    assert np.allclose(CAMERA.see(topology, moved).depth, 2.0)
    with pytest.raises(ValueError, match="no body 'cup'; there are: wall, near"):
        CAMERA.see(topology, bodies=["cup"])
    empty = CAMERA.see({"behind": sheet(-1.0)})
    assert np.isinf(empty.depth).all() and (empty.segment == -1).all() and (empty.colour == 255).all()
    assert np.isinf(Camera(CAMERA.pose, far_m=1.0).see(topology).depth).all()


@pytest.mark.parametrize("settings, words", [({"width": 0}, "1 to"), ({"fov_y_rad": 4.0}, r"in \(0, pi\)"), ({"near_m": 0.0}, "0 < near_m < far_m")])
def test_settings_are_checked(settings, words):
    with pytest.raises(ValueError, match=words):
        Camera(Pose(), **settings)
    with pytest.raises(ValueError, match="not straight up"):
        Camera.look_at([0, 0, 0], [0, 0, 1])
