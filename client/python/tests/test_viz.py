import numpy as np
import pytest

from eipc import viz
from eipc.viz.lights import sky_directions
from eipc.viz.normals import corner_normals
from eipc.viz.raster import rasterize
from puppet_server import BOX_TRIANGLES, box


def test_rasterize_keeps_the_nearest_and_covers_shared_edges_once_or_more():
    screen = np.array([[0, 0, 2], [8, 0, 2], [0, 8, 2], [8, 8, 2], [0, 0, 1], [4, 0, 1], [0, 4, 1]], dtype=float)
    result = rasterize(screen, np.array([[0, 1, 2], [1, 3, 2], [4, 5, 6]]), 8, 8, perspective=True)
    assert (result.triangle >= 0).all()
    assert result.triangle[0, 0] == 2 and result.depth[0, 0] == pytest.approx(1)
    assert result.triangle[7, 7] == 1
    np.testing.assert_allclose(result.weights.sum(axis=2), 1, atol=1e-6)


def test_depth_varies_as_one_over_z_with_perspective():
    screen = np.array([[0, 0, 1], [10, 0, 3], [0, 10, 1]], dtype=float)
    result = rasterize(screen, np.array([[0, 1, 2]]), 10, 10, perspective=True)
    x = 4.5 / 10
    assert result.depth[0, 4] == pytest.approx(1 / ((1 - x) / 1 + x / 3))


def test_triangles_behind_the_eye_are_left_out():
    screen = np.array([[0, 0, -1], [10, 0, 3], [0, 10, 1]], dtype=float)
    assert (rasterize(screen, np.array([[0, 1, 2]]), 10, 10, perspective=True).triangle == -1).all()


def test_camera_projects_the_target_to_the_centre_and_up_to_up():
    camera = viz.Camera((1, 2, 3), (0, 0, 0.5), 40)
    (x, y, depth), (_, above, _) = camera.project(np.array([[0, 0, 0.5], [0, 0, 0.7]]), 200, 100)
    assert (x, y) == pytest.approx((100, 50)) and depth == pytest.approx(np.linalg.norm([1, 2, 2.5]))
    assert above < y
    ray = camera.rays(200, 100)[10, 20]
    point = np.array([[1, 2, 3]]) + 2 * ray
    np.testing.assert_allclose(camera.project(point, 200, 100)[0], [20.5, 10.5, 2])


def test_corner_normals_keep_box_edges_and_smooth_flat_bends():
    vertices = box([0, 0, 0], [1, 1, 1])
    sharp = corner_normals(vertices, BOX_TRIANGLES, crease_deg=50)
    np.testing.assert_allclose(np.abs(sharp).max(axis=2), 1)
    smooth = corner_normals(vertices, BOX_TRIANGLES, crease_deg=120)
    np.testing.assert_allclose(np.sign(smooth), np.sign(vertices[BOX_TRIANGLES]))


def test_sky_is_a_hemisphere_with_the_right_cosine_integral():
    directions = sky_directions(64)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)
    assert 2 * directions[:, 2].mean() == pytest.approx(1, abs=1e-2)


def test_a_box_on_the_ground_shows_its_colour_and_casts_a_shadow(tmp_path):
    item = viz.Item(box([0, 0, 0.06], [0.1, 0.1, 0.1]), BOX_TRIANGLES, (0.9, 0.2, 0.1))
    camera = viz.Camera((-0.5, -0.3, 0.4), (0, 0, 0.03))
    picture = viz.render([item], camera, 80, 60, viz.Ground(), supersampling=1)
    bare = viz.render([], camera, 80, 60, viz.Ground(), supersampling=1)
    assert picture.shape == (60, 80, 3) and picture.dtype == np.uint8
    red = picture[30, 40].astype(int)
    assert red[0] > red[1] + 50
    shadow = (bare.astype(int).sum(2) - picture.astype(int).sum(2) > 120) & (picture.std(axis=2) < 12)
    assert shadow.sum() > 20
    assert shadow.sum() < 600, "the ground in the open stays lit"
    np.testing.assert_allclose(picture[-3:, :20].mean(), bare[-3:, :20].mean(), rtol=0.08)
    viz.write_png(tmp_path / "box.png", picture)
    image = pytest.importorskip("matplotlib.image").imread(tmp_path / "box.png")
    np.testing.assert_array_equal((image[..., :3] * 255 + 0.5).astype(np.uint8), picture)


def test_colours_of_vertices_blend_between_them():
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    camera = viz.Camera((0, -2, 4), (0, 0, 0), 30)
    left, right = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    image = viz.render([viz.Item(square, triangles, np.array([left, right, right, left]), gloss=0)], camera, 60, 60).astype(float)
    row = image[30, 12:48]
    red, blue = row[:, 0], row[:, 2]
    assert red[0] > 2 * blue[0] and blue[-1] > 2 * red[-1]
    assert (np.diff(red) <= 1).all() and (np.diff(blue) >= -1).all()
    whole = viz.render([viz.Item(square, triangles, np.tile(left, (4, 1)))], camera, 30, 30).astype(int)
    np.testing.assert_allclose(whole, viz.render([viz.Item(square, triangles, tuple(left))], camera, 30, 30), atol=1)


def test_heat_is_the_base_where_there_is_nothing_and_red_from_the_limit_on():
    colors = viz.heat(np.array([0.0, 1, 2, 5]), 2, base=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(colors[0], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(colors[2], colors[3])
    assert colors[2][0] > 0.6 and colors[2][2] < 0.2
    with pytest.raises(ValueError, match="limit must be > 0, got 0"):
        viz.heat(np.zeros(3), 0)
