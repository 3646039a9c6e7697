"""Pictures: what of them shows where, against the projections of what is drawn; and the process that draws."""

import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import eipc
from eipc import viz
from eipc.camera import Camera as Pinhole
from eipc.viz import painter
from eipc.viz.lights import sky_directions, sun_directions
from puppet_server import BOX_TRIANGLES, box

RED, BLUE = (0.9, 0.2, 0.1), (0.1, 0.2, 0.9)
CAMERA = viz.Camera((-0.5, -0.3, 0.4), (0, 0, 0.03))


@pytest.fixture(name="drawn")
def _drawn():
    """`viz.render`, where it can draw."""
    try:
        painter.interpreter()
    except viz.DrawingError as error:
        pytest.skip(str(error))
    return viz.render


def covered(meshes, camera, width, height):
    """[h,w] bool: pixels whose ray meets a mesh, as the exact camera sees them."""
    pinhole = Pinhole.look_at(camera.eye, camera.target, width=width, height=height, fov_y_rad=np.radians(camera.vertical_fov_deg))
    return np.isfinite(pinhole.depth(meshes))


def inner(mask):
    """The pixels of a mask whose neighbours are in it too."""
    padded = np.pad(mask, 1)
    height, width = mask.shape
    return np.all([padded[i:i + height, j:j + width] for i in range(3) for j in range(3)], axis=0)


def reddish(picture):
    return picture[..., 0].astype(int) > picture[..., 1].astype(int) + 40


def test_camera_projects_the_target_to_the_centre_and_up_to_up():
    camera = viz.Camera((1, 2, 3), (0, 0, 0.5), 40)
    (x, y, depth), (_, above, _) = camera.project(np.array([[0, 0, 0.5], [0, 0, 0.7]]), 200, 100)
    assert (x, y) == pytest.approx((100, 50)) and depth == pytest.approx(np.linalg.norm([1, 2, 2.5]))
    assert above < y
    ray = camera.rays(200, 100)[10, 20]
    point = np.array([[1, 2, 3]]) + 2 * ray
    np.testing.assert_allclose(camera.project(point, 200, 100)[0], [20.5, 10.5, 2])


def test_lights_are_spread_around_the_sun_and_over_the_sky():
    sky = sky_directions(64)
    np.testing.assert_allclose(np.linalg.norm(sky, axis=1), 1)
    assert sky[:, 2].min() > 0 and sky[:, 2].mean() == pytest.approx(2 / 3, abs=1e-2)  # of a density of cos / pi
    np.testing.assert_allclose(sky[:, :2].mean(axis=0), 0, atol=0.03)
    lighting = viz.Lighting(sun_radius_deg=4)
    towards = np.asarray(lighting.sun) / np.linalg.norm(lighting.sun)
    assert np.degrees(np.arccos(sun_directions(lighting) @ towards)).max() <= 4
    assert sky_directions(0).shape == (0, 3)


@pytest.mark.parametrize("settings", [{"sun_samples": 0}, {"sky_samples": -1}, {"sun_samples": 12, "sky_samples": 13}, {"sun": (1, 0, 0)},
                                      {"sun_radius_deg": 45.0}, {"map_size": 0}])
def test_lights_that_cannot_be_are_refused(settings):
    with pytest.raises(ValueError, match="needs"):
        viz.Lighting(**settings)


@pytest.mark.parametrize("size", [(80, 60), (61, 80), (64, 47), (33, 33)])
@pytest.mark.parametrize("supersampling", [1, 2])
def test_a_body_covers_the_pixels_of_its_projection(drawn, size, supersampling):
    vertices = box([0.01, -0.02, 0.06], [0.1, 0.06, 0.1])
    picture = drawn([viz.Item(vertices, BOX_TRIANGLES, RED)], CAMERA, *size, supersampling=supersampling)
    assert picture.shape == (size[1], size[0], 3) and picture.dtype == np.uint8
    expected = covered([(vertices, BOX_TRIANGLES)], CAMERA, *size)
    assert expected.sum() > 50
    assert reddish(picture)[inner(expected)].all()
    assert not reddish(picture)[inner(~expected)].any()
    # A shift by half a pixel would show in the middle of what is covered.
    np.testing.assert_allclose(np.mean(np.nonzero(reddish(picture)), axis=1), np.mean(np.nonzero(expected), axis=1), atol=0.3)


def test_the_nearer_of_two_bodies_is_seen_whatever_their_order(drawn):
    behind, before = box([0.1, 0.06, 0.06], [0.1, 0.1, 0.1]), box([-0.2, -0.12, 0.17], [0.05, 0.05, 0.05])
    items = [viz.Item(behind, BOX_TRIANGLES, RED, gloss=0), viz.Item(before, BOX_TRIANGLES, BLUE, gloss=0)]
    picture = drawn(items, CAMERA, 80, 60)
    np.testing.assert_array_equal(drawn(items[::-1], CAMERA, 80, 60), picture)
    hides = covered([(before, BOX_TRIANGLES)], CAMERA, 80, 60)
    both = inner(hides & covered([(behind, BOX_TRIANGLES)], CAMERA, 80, 60))
    assert both.sum() > 15
    assert (picture[both][:, 2].astype(int) > picture[both][:, 0].astype(int) + 40).all()


def test_a_shadow_falls_where_the_body_hides_the_sun(drawn):
    lighting = viz.Lighting(sun=(-0.6, 0.5, 0.95), sun_radius_deg=0.5, sun_samples=1, sky_samples=0)
    vertices = box([0, 0, 0.06], [0.1, 0.1, 0.1])
    picture, bare = (drawn(items, CAMERA, 160, 120, viz.Ground(grid_m=0), lighting).astype(int)
                     for items in ([viz.Item(vertices, BOX_TRIANGLES, RED)], []))
    rays, eye, sun = CAMERA.rays(160, 120), np.asarray(CAMERA.eye), np.asarray(lighting.sun)
    ground = eye + rays * (-eye[2] / rays[..., 2])[..., None]
    # The height of a ray towards the sun where it enters and leaves the column of the box, as far as it is beneath the top.
    near, far = np.zeros(ground.shape[:2]), np.full(ground.shape[:2], 0.11 / sun[2])
    for axis in (0, 1):
        ends = np.sort([(side - ground[..., axis]) / sun[axis] for side in (-0.05, 0.05)], axis=0)
        near, far = np.maximum(near, ends[0]), np.minimum(far, ends[1])
    dark = (near < far) & (far * sun[2] > 0.01)
    body = covered([(vertices, BOX_TRIANGLES)], CAMERA, 160, 120)
    darker = bare.mean(axis=2) - picture.mean(axis=2)
    shadow, open_ground = inner(inner(dark & ~body)), inner(inner(~dark & ~body))
    assert shadow.sum() > 200
    assert darker[shadow].min() > 60
    assert np.abs(darker[open_ground]).max() < 12
    brightness = bare[80:, :, 0].mean() / 255
    assert brightness == pytest.approx(viz.Ground().color[0], abs=0.03)  # ground in the sun has its own colour


def test_more_lights_of_the_sun_make_the_edge_of_a_shadow_softer(drawn):
    vertices = box([0, 0, 0.3], [0.1, 0.1, 0.02])
    camera = viz.Camera((-0.3, -0.6, 1.5), (0.2, -0.15, 0))

    def shades(samples):
        picture = drawn([viz.Item(vertices, BOX_TRIANGLES, RED)], camera, 120, 120, viz.Ground(grid_m=0),
                        viz.Lighting(sun_radius_deg=8, sun_samples=samples, sky_samples=0))
        grey = ~reddish(picture) & (np.ptp(picture.astype(int), axis=2) < 8)
        return len(np.unique(picture[grey][:, 0] // 8))

    assert shades(16) > shades(1)


def test_items_of_a_scene_stand_where_its_bodies_do():
    placed, moved = box([0, 0, 0], [0.1, 0.1, 0.1]), box([0, 0, 1], [0.1, 0.1, 0.1])
    surfaces = {name: eipc.BodyTopology(BOX_TRIANGLES, placed) for name in ("cube", "wall", "hidden", "still")}
    seen = {"cube": SimpleNamespace(surface_positions=moved), "wall": SimpleNamespace(surface_positions=None)}
    items = viz.scene_items(surfaces, SimpleNamespace(bodies=seen), {"wall": BLUE, "hidden": None}, wire=0.3)
    assert [item.vertices is moved for item in items] == [True, False, False] and items[1].vertices is placed
    assert items[1].color == BLUE and items[0].color != items[2].color and {item.wire for item in items} == {0.3}
    with pytest.raises(KeyError, match="no body roof"):
        viz.scene_items(surfaces, SimpleNamespace(bodies=seen), {"roof": RED})


def test_colours_of_vertices_blend_between_them(drawn):
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    camera = viz.Camera((0, -2, 4), (0, 0, 0), 30)
    left, right = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    image = drawn([viz.Item(square, triangles, np.array([left, right, right, left]), gloss=0)], camera, 60, 60).astype(float)
    row = image[30, 12:48]
    red, blue = row[:, 0], row[:, 2]
    assert red[0] > 2 * blue[0] and blue[-1] > 2 * red[-1]
    assert (np.diff(red) <= 1).all() and (np.diff(blue) >= -1).all()
    whole = drawn([viz.Item(square, triangles, np.tile(left, (4, 1)))], camera, 30, 30).astype(int)
    np.testing.assert_allclose(whole, drawn([viz.Item(square, triangles, tuple(left))], camera, 30, 30), atol=1)


def test_edges_of_triangles_are_darker_by_the_strength_of_the_wire(drawn):
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    camera = viz.Camera((0, -0.01, 4), (0, 0, 0), 40)
    plain, faint, strong = (drawn([viz.Item(square, np.array([[0, 1, 2], [0, 2, 3]]), (0.8, 0.8, 0.8), wire=wire, gloss=0)], camera, 60, 60)
                            .astype(int).sum(axis=2) for wire in (0.0, 0.3, 0.9))
    crossing = np.arange(20, 40), np.arange(20, 40)[::-1]  # the diagonal, which rises to the right
    assert (plain[crossing] - faint[crossing]).mean() > 20 and (faint[crossing] - strong[crossing]).mean() > 60
    np.testing.assert_array_equal(plain[24:28, 22:24], strong[24:28, 22:24])


def test_creases_are_sharp_and_gentle_bends_are_smooth(drawn):
    roof = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 0, 0.4], [-1, 0, 0.4], [1, 1, 0], [-1, 1, 0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]])
    camera = viz.Camera((-0.02, 0, 5), (0, 0, 0), 35)

    def steepest(crease_deg):
        picture = drawn([viz.Item(roof, triangles, (0.8, 0.8, 0.8), gloss=0, crease_deg=crease_deg)], camera, 60, 60,
                        lighting=viz.Lighting(sun=(0, 1, 1), sky_samples=0))
        return np.abs(np.diff(picture[30, 14:46].astype(int).sum(axis=1))).max()

    assert steepest(20) > 3 * steepest(80)


@pytest.mark.parametrize(("item", "words"), [
    (viz.Item(np.zeros((3, 2)), np.array([[0, 1, 2]]), RED), "vertices .n,3. and triangles .m,3., got .3, 2. and .1, 3."),
    (viz.Item(np.zeros((3, 3)), np.array([[0, 1, 3]]), RED), "refer to vertices 0 to 3 of 3"),
    (viz.Item(np.zeros((3, 3)), np.array([[0, -1, 2]]), RED), "refer to vertices -1 to 2 of 3"),
    (viz.Item(np.full((3, 3), np.nan), np.array([[0, 1, 2]]), RED), "must be finite"),
    (viz.Item(np.zeros((3, 3)), np.array([[0, 1, 2]]), np.zeros((2, 3))), "a colour is .3., or .3,3. for one a vertex, got .2, 3.")])
def test_a_mesh_that_cannot_be_drawn_is_refused(item, words):
    with pytest.raises(ValueError, match=words):
        viz.render([item], CAMERA, 8, 8)


@pytest.mark.parametrize("size", [(0, 8), (8, -1), (5000, 8)])
def test_a_size_that_cannot_be_is_refused(size):
    with pytest.raises(ValueError, match="sizes from 1 to 8192"):
        viz.render([], CAMERA, *size, supersampling=2)


def test_a_picture_is_the_same_every_time_and_written_as_png(drawn, tmp_path):
    item = viz.Item(box([0, 0, 0.06], [0.1, 0.1, 0.1]), BOX_TRIANGLES, RED)
    picture = drawn([item], CAMERA, 40, 30, viz.Ground())
    drawn([], CAMERA, 20, 20)
    np.testing.assert_array_equal(drawn([item], CAMERA, 40, 30, viz.Ground()), picture)
    viz.write_png(tmp_path / "box.png", picture)
    image = pytest.importorskip("matplotlib.image").imread(tmp_path / "box.png")
    np.testing.assert_array_equal((image[..., :3] * 255 + 0.5).astype(np.uint8), picture)


def test_heat_is_the_base_where_there_is_nothing_and_red_from_the_limit_on():
    colors = viz.heat(np.array([0.0, 1, 2, 5]), 2, base=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(colors[0], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(colors[2], colors[3])
    assert colors[2][0] > 0.6 and colors[2][2] < 0.2
    with pytest.raises(ValueError, match="limit must be > 0, got 0"):
        viz.heat(np.zeros(3), 0)


def test_threads_take_turns(drawn):
    items = {color: [viz.Item(box([0, 0, 0.06], [0.1, 0.1, 0.1]), BOX_TRIANGLES, color)] for color in (RED, BLUE)}
    alone = {color: drawn(items[color], CAMERA, 24, 18) for color in items}
    together = {}
    threads = [threading.Thread(target=lambda key: together.update({key: drawn(items[key[0]], CAMERA, 24, 18)}), args=[(color, turn)])
               for color in items for turn in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(together) == 6
    for (color, _), picture in together.items():
        np.testing.assert_array_equal(picture, alone[color])


def test_a_forked_process_draws_by_a_process_of_its_own(drawn):
    picture = drawn([], CAMERA, 16, 12, viz.Ground())
    ours = painter._painter._process.pid
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            same = np.array_equal(viz.render([], CAMERA, 16, 12, viz.Ground()), picture)
            os.write(writer, b"%d %d" % (same, painter._painter._process.pid))
            painter._painter.stop()
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as answer:
        same, theirs = map(int, answer.read().split())
    assert os.waitpid(child, 0)[1] == 0
    assert same == 1 and theirs != ours
    np.testing.assert_array_equal(drawn([], CAMERA, 16, 12, viz.Ground()), picture)
    assert painter._painter._process.pid == ours


def test_where_the_process_that_draws_ends_the_next_picture_starts_another(drawn):
    picture = drawn([], CAMERA, 16, 12)
    painter._painter._process.kill()
    painter._painter._process.wait()
    with pytest.raises(viz.DrawingError, match="the process that draws has ended: it said nothing"):
        drawn([], CAMERA, 16, 12)
    np.testing.assert_array_equal(drawn([], CAMERA, 16, 12), picture)


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    made = painter.Painter()
    monkeypatch.setattr(painter.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(painter, "_DEBIAN_VTK", tmp_path / "none")
    with pytest.raises(viz.DrawingError, match="drawn by VTK, which is not installed: apt-get install python3-vtk9 xvfb"):
        made.draw({})
    monkeypatch.undo()
    painter.importlib.util.find_spec("vtkmodules") or pytest.skip("VTK is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(viz.DrawingError, match="the program Xvfb, which is not on PATH: apt-get install xvfb"):
        made.draw({})
