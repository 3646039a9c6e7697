"""Surfaces made from cages, against maps that are known."""

import numpy as np
import pytest

import eipc
from eipc.embedding import Embedding, find_embedding
from eipc.v1 import scene_pb2
from puppet_server import box

CUBE_TETS = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]])


def embedded(tets, vertices):
    body = scene_pb2.Body(name="soft")
    body.embedded.cage_mesh.CopyFrom(eipc.mesh_from_arrays(vertices, tets))
    return body


def scattered(count, seed=1):
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (count, 3))


def test_a_surface_follows_its_cage_as_the_weights_say():
    cage = box([0, 0, 0], [1, 1, 1])
    points = scattered(200)
    found = find_embedding(embedded(CUBE_TETS, cage), scene_pb2.Scene(), cage, points)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-15)
    assert found.weights.min() >= -1e-12
    np.testing.assert_allclose(found.surface(cage), points, atol=1e-15)
    # Along the diagonal from corner 0 to corner 7 the order of the coordinates names the tetrahedron: linear in each, by hand.
    moved = cage + scattered(8, seed=2)
    order = np.argsort(-points, axis=1)
    stride = np.array([1, 2, 4])
    for p, axes, seen in zip(points + 0.5, order, found.surface(moved)):
        corner, expected = 0, moved[0].copy()
        for axis in axes:
            expected += p[axis] * (moved[corner + stride[axis]] - moved[corner])
            corner += stride[axis]
        np.testing.assert_allclose(seen, expected, atol=1e-14)


def test_many_states_at_once():
    cage = box([0, 0, 0], [1, 1, 1])
    found = find_embedding(embedded(CUBE_TETS, cage), scene_pb2.Scene(), cage, scattered(20))
    states = np.stack([cage, 2 * cage, cage + 1])
    np.testing.assert_array_equal(found.surface(states)[1], found.surface(2 * cage))
    assert found.surface(states).shape == (3, 20, 3)


def test_vertices_that_no_tetrahedron_uses_are_no_nodes():
    cage = box([0, 0, 0], [1, 1, 1])
    spread = np.concatenate([[[9.0, 9, 9]], cage[:4], [[8.0, 8, 8]], cage[4:]])
    place = np.array([1, 2, 3, 4, 6, 7, 8, 9])
    found = find_embedding(embedded(place[CUBE_TETS], spread), scene_pb2.Scene(), cage, scattered(20))
    np.testing.assert_allclose(found.surface(cage), scattered(20), atol=1e-15)


def test_a_surface_of_nodes_is_the_nodes():
    nodes = scattered(30)
    found = find_embedding(scene_pb2.Body(name="soft"), scene_pb2.Scene(), nodes, nodes[5:25])
    np.testing.assert_array_equal(found.surface(nodes + 1), nodes[5:25] + 1)


def test_four_nodes_are_one_tetrahedron_whatever_the_body():
    corners = np.array([[-2.0, -2, -2], [9, -2, -2], [-2, 9, -2], [-2, -2, 9]])
    found = find_embedding(scene_pb2.Body(name="hard"), scene_pb2.Scene(), corners, scattered(10))
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(found.surface(corners @ turn.T), scattered(10) @ turn.T, atol=1e-14)


VTK = """# vtk DataFile Version 3.0
a cage
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 8 double
{points}
CELLS 7 34
3 0 1 2
{cells}
CELL_TYPES 7
5
10 10 10 10 10 10
"""


def vtk(text_points, cells):
    return VTK.format(points="\n".join(" ".join(map(repr, p)) for p in text_points.tolist()),
                      cells="\n".join(f"4 {a} {b} {c} {d}" for a, b, c, d in cells)).encode()


@pytest.mark.parametrize("shared", [False, True])
def test_cages_of_vtk_files(shared):
    cage = box([0, 0, 0], [1, 1, 1])
    scene, body = scene_pb2.Scene(), scene_pb2.Body(name="soft")
    file = scene_pb2.MeshFile(file_name="cage.VTK", data=vtk(cage, CUBE_TETS))
    if shared:
        scene.shared_files.append(file)
        body.embedded.cage_mesh.shared_file = 0
    else:
        body.embedded.cage_mesh.contents.CopyFrom(file)
    found = find_embedding(body, scene, cage, scattered(20))
    np.testing.assert_allclose(found.surface(cage + 1), scattered(20) + 1, atol=1e-14)


def test_what_cannot_be_known_is_not_guessed():
    cage, points = box([0, 0, 0], [1, 1, 1]), scattered(20)
    nothing = scene_pb2.Scene()
    assert find_embedding(scene_pb2.Body(name="still"), nothing, np.empty((0, 3)), points) is None
    made_by_the_server = scene_pb2.Body(name="soft")
    made_by_the_server.embedded.cage_vertices = 8
    on_the_server = scene_pb2.Body(name="soft")
    on_the_server.embedded.cage_mesh.file = "cage.vtk"
    cut_short, binary = scene_pb2.Body(name="soft"), scene_pb2.Body(name="soft")
    cut_short.embedded.cage_mesh.contents.CopyFrom(scene_pb2.MeshFile(file_name="a.vtk", data=vtk(cage, CUBE_TETS)[:-200]))
    binary.embedded.cage_mesh.contents.CopyFrom(
        scene_pb2.MeshFile(file_name="a.vtk", data=vtk(cage, CUBE_TETS).replace(b"ASCII", b"BINARY")))
    for body in (made_by_the_server, on_the_server, cut_short, binary):
        assert find_embedding(body, nothing, cage, points) is None
    assert find_embedding(embedded(CUBE_TETS, cage), nothing, cage, points + [2, 0, 0]) is None  # outside
    assert isinstance(find_embedding(embedded(CUBE_TETS, cage), nothing, cage, points), Embedding)
