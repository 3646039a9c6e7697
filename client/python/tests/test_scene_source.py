import numpy as np
import pytest

import eipc
from eipc import arrays
from eipc.v1 import scene_pb2

SCENE = """
bodies { name: "teddy" embedded { surface { file: "meshes/teddy.obj" } cage_mesh { file: "data:cage.vtk" scale: 0.15 } } }
bodies { name: "ground" static_body { surface { file: "ground.obj" } } }
"""


@pytest.fixture
def scene_file(tmp_path):
    (tmp_path / "scenes" / "meshes").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "scenes" / "meshes" / "teddy.obj").write_bytes(b"v 0 0 0\n")
    (tmp_path / "scenes" / "ground.obj").write_bytes(b"v 1 0 0\n")
    (tmp_path / "data" / "cage.vtk").write_bytes(b"# vtk\0\xff")
    path = tmp_path / "scenes" / "grasp.textproto"
    path.write_text(SCENE)
    return path


def check_inlined(scene):
    embedded = scene.bodies[0].embedded
    assert embedded.surface.contents.file_name == "teddy.obj"
    assert embedded.surface.contents.data == b"v 0 0 0\n"
    assert embedded.cage_mesh.contents.data == b"# vtk\0\xff"
    assert embedded.cage_mesh.scale == 0.15
    assert scene.bodies[1].static_body.surface.contents.data == b"v 1 0 0\n"


def test_files_are_inlined_relative_to_the_scene_file(scene_file, tmp_path):
    check_inlined(eipc.load_scene(scene_file, data=tmp_path / "data"))
    check_inlined(eipc.load_scene(str(scene_file), data=str(tmp_path / "data")))


def test_text_and_message_use_base_dir(scene_file, tmp_path):
    check_inlined(eipc.load_scene(SCENE, base_dir=scene_file.parent, data=tmp_path / "data"))
    message = eipc.load_scene(SCENE, inline_meshes=False)
    assert message.bodies[0].embedded.surface.file == "meshes/teddy.obj"
    check_inlined(eipc.load_scene(message, base_dir=scene_file.parent, data=tmp_path / "data"))
    assert message.bodies[0].embedded.surface.file == "meshes/teddy.obj", "the caller's message must not change"


def test_data_folder_comes_from_the_environment(scene_file, tmp_path, monkeypatch):
    monkeypatch.setenv("EIPC_DATA", str(tmp_path / "data"))
    check_inlined(eipc.load_scene(scene_file))


def test_missing_pieces_are_named(scene_file, tmp_path, monkeypatch):
    monkeypatch.delenv("EIPC_DATA", raising=False)
    with pytest.raises(eipc.SceneFileError, match="EIPC_DATA"):
        eipc.load_scene(scene_file)
    (scene_file.parent / "ground.obj").unlink()
    with pytest.raises(eipc.SceneFileError, match="ground.obj"):
        eipc.load_scene(scene_file, data=tmp_path / "data")
    with pytest.raises(eipc.SceneFileError, match="nowhere.textproto"):
        eipc.load_scene("nowhere.textproto")


def test_a_parse_error_tells_file_and_line(tmp_path):
    path = tmp_path / "bad.textproto"
    path.write_text("display_name: \"x\"\nbodies { nome: \"y\" }\n")
    with pytest.raises(eipc.SceneFileError, match=r"bad\.textproto:2:.*nome"):
        eipc.load_scene(path)


def test_mesh_from_arrays():
    vertices, cells = np.random.default_rng(0).normal(size=(4, 3)), np.array([[0, 1, 2, 3]], dtype=np.int64)
    mesh = eipc.mesh_from_arrays(vertices, cells, scale=2)
    np.testing.assert_array_equal(arrays.to_numpy(mesh.arrays.vertices), vertices)
    assert arrays.to_numpy(mesh.arrays.cells).dtype == np.int32
    assert mesh.scale == 2
    assert isinstance(mesh, scene_pb2.Mesh)
    with pytest.raises(ValueError):
        eipc.mesh_from_arrays(vertices[:, :2], cells)
    with pytest.raises(ValueError):
        eipc.mesh_from_arrays(vertices, cells.astype(float))
