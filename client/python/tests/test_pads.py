"""Markers and depth images of pads against surfaces whose shape is known."""

import numpy as np
import pytest

import eipc
from eipc import pads
from puppet_server import BOX_TRIANGLES, box

POSE = eipc.Pose.from_rpy([0.3, -0.2, 0.5], [0.4, -0.7, 1.1])


def sheet(half, cells, height):
    """A grid of triangles that face +z, at z = height(x, y)."""
    line = np.linspace(-half, half, cells + 1)
    x, y = np.meshgrid(line, line)
    points = np.stack([x.ravel(), y.ravel(), height(x.ravel(), y.ravel())], axis=1)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    right, up = corner + 1, corner + cells + 1
    return points, np.concatenate([np.stack([corner, right, up + 1], 1), np.stack([corner, up + 1, up], 1)])


def topology(points, triangles):
    return eipc.BodyTopology(triangles=triangles, positions=points)


def test_markers_are_a_grid_on_the_membrane():
    slope = lambda x, y: 0.2 * x - 0.1 * y  # noqa: E731
    points, triangles = sheet(0.02, 7, slope)
    pad = pads.Pad(topology(POSE.apply(points), triangles), POSE)
    assert pad.rest_markers.shape == (7, 9, 3)
    np.testing.assert_allclose(pad.rest_markers[0, 0, :2], [-4 * 2.4e-3, 3 * 2.4e-3], atol=1e-12)
    np.testing.assert_allclose(pad.rest_markers[3, 4], 0, atol=1e-12)
    np.testing.assert_allclose(pad.rest_markers[..., 2], slope(pad.rest_markers[..., 0], pad.rest_markers[..., 1]), atol=1e-12)


def test_markers_move_with_the_membrane_and_not_with_the_mount():
    points, triangles = sheet(0.02, 7, lambda x, y: 0 * x)
    mount = eipc.Pose([0, 0, -0.1])
    pad = pads.Pad(topology(points, triangles), eipc.Pose(), mount)
    moved = POSE @ mount
    shear = np.array([[1, 0.1, 0], [0, 1, 0], [0.3, 0, 1]])
    markers = pad.markers(POSE.apply(points @ shear.T), moved)
    np.testing.assert_allclose(markers, pad.rest_markers @ shear.T, atol=1e-12)
    np.testing.assert_allclose(pad.markers(POSE.apply(points), moved), pad.rest_markers, atol=1e-12)
    with pytest.raises(ValueError, match="mount"):
        pad.markers(points)


def test_the_outer_side_of_a_body_is_the_membrane():
    positions = box([0, 0, 0], [0.04, 0.04, 0.01])
    pad = pads.Pad(topology(positions, BOX_TRIANGLES), eipc.Pose())
    assert len(pad.triangles) == 2
    np.testing.assert_allclose(pad.rest_markers[..., 2], 0.005, atol=1e-12)
    np.testing.assert_allclose(pad.depth(positions), 0.035, atol=1e-12)  # the back, which is nearer to the camera's axis, is not seen


def test_markers_without_membrane_are_refused():
    points, triangles = sheet(0.005, 2, lambda x, y: 0 * x)
    with pytest.raises(ValueError, match=r"no membrane under the marker at x = -0.0096 m"):
        pads.Pad(topology(points, triangles), eipc.Pose())
    with pytest.raises(ValueError, match="no membrane"):
        pads.Pad(topology(points, triangles[:, ::-1]), eipc.Pose(), rows=1, columns=1)
    with pytest.raises(ValueError, match="rows, columns and a spacing"):
        pads.Pad(topology(points, triangles), eipc.Pose(), rows=0)
    with pytest.raises(ValueError, match="angle between"):
        pads.PadCamera(vertical_fov_deg=180)


def test_the_depth_of_a_plane_is_exact():
    points, triangles = sheet(0.05, 9, lambda x, y: 0.004 + 0.3 * x - 0.2 * y)
    pad = pads.Pad(topology(POSE.apply(points), triangles), POSE)
    camera = pads.PadCamera(0.03, 48, 36, 40)
    depth = pad.depth(POSE.apply(points), camera=camera)
    rays = camera.rays()
    # distance + z(eye + depth ray) of the plane
    expected = (camera.distance_m + 0.004) / (1 - 0.3 * rays[..., 0] + 0.2 * rays[..., 1])
    np.testing.assert_allclose(depth, expected, rtol=1e-9)


def test_the_depth_of_a_sphere_is_right_within_half_a_pixel():
    radius, camera = 0.02, pads.PadCamera(0.05, 64, 48, 40)
    # A cap that stands out of a plane: the membrane of a pad that something round presses from behind.
    cap = lambda x, y: np.sqrt(np.maximum(radius**2 - x**2 - y**2, 0.0))  # noqa: E731
    points, triangles = sheet(0.03, 120, cap)
    depth = pads.Pad(topology(points, triangles), eipc.Pose()).depth(points, camera=camera)
    rays = camera.rays()
    # |depth ray - distance z|^2 = radius^2, the far side of the sphere as seen from behind.
    a, b, c = (rays**2).sum(2), camera.distance_m, camera.distance_m**2 - radius**2
    root = b * b - a * c
    on_sphere = root > 0
    sphere = (b + np.sqrt(np.where(on_sphere, root, 0))) / a
    on_cap = on_sphere & (sphere > camera.distance_m)
    expected = np.where(on_cap, sphere, camera.distance_m)
    pixel = expected / (0.5 * camera.height / np.tan(np.radians(20)))  # its width on the membrane
    # A point of the analytic surface lies within half a pixel of the image's, across and along the ray.
    inner = on_cap & (np.linalg.norm(rays[..., :2] * sphere[..., None], axis=2) < 0.9 * radius)
    flat = ~on_cap & (np.linalg.norm(rays[..., :2], axis=2) * camera.distance_m > radius + 1e-3)
    assert inner.sum() > 300 and flat.sum() > 100
    assert (np.abs(depth - expected)[inner] < 0.5 * pixel[inner]).all()
    np.testing.assert_allclose(depth[flat], camera.distance_m, rtol=1e-9)
    # The rim of the cap is where it should be: in each row the columns that stand out are those of the circle, to a pixel's half each end.
    rim = radius * (0.5 * camera.height / np.tan(np.radians(20))) / camera.distance_m
    row = camera.height // 2
    stands_out = np.flatnonzero(depth[row] > camera.distance_m + 1e-9) + 0.5 - 0.5 * camera.width
    assert abs(stands_out[-1] + 0.5 - rim) <= 1 and abs(stands_out[0] - 0.5 + rim) <= 1
