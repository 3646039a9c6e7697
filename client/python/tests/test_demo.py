"""The demo on a puppet (its figures are known), and on the real server when there is one."""

import importlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import fake_server
from conftest import CLIENT_ROOT, REPOSITORY
from eipc.viz import DrawingError
from test_viewer_page import TEMPLATE, unpack
from puppet_server import BOX_TRIANGLES, FORCE_OVER_WEIGHT, FRICTION_SHARE, WEIGHT_N, Puppet, box, grasp_scene

EXAMPLES = CLIENT_ROOT / "examples"
DEMO = EXAMPLES / "bubble_teddy_demo.py"
LOW = REPOSITORY / "models" / "scenes" / "bubble_teddy_low_sound.textproto"
PICTURES = ["forces.png", "contacts.png", "grasp.png", "grasp_squeeze.png", "grasp_lift.png", "grasp_hold.png"]


@pytest.fixture
def demo(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("bubble_teddy_demo")


@pytest.fixture
def puppet():
    meshes = {"teddy": (box([0, 0, 0.06], [0.06, 0.06, 0.1]), BOX_TRIANGLES),
              "left": (box([0, -0.08, 0.06], [0.08, 0.03, 0.08]), BOX_TRIANGLES),
              "right": (box([0, 0.08, 0.06], [0.08, 0.03, 0.08]), BOX_TRIANGLES),
              "ground": (box([0, 0, -0.5], [1, 1, 1]), BOX_TRIANGLES)}
    puppet = Puppet(meshes)
    puppet.text = grasp_scene({"left": ((0, -0.08, 0.06), 1), "right": ((0, 0.08, 0.06), -1)})
    return puppet


@pytest.mark.parametrize("all_there", [True, False])  # or neither the viewer nor VTK
def test_demo_on_a_puppet_writes_all_and_its_figures_are_right(demo, puppet, tmp_path, monkeypatch, capsys, all_there):
    page = tmp_path / "viewer.html"
    monkeypatch.setattr(importlib.import_module("eipc.viz.page"), "PAGE", page)
    if all_there:
        page.write_bytes(TEMPLATE)
    scene = tmp_path / "puppet.textproto"
    scene.write_text(puppet.text)
    pictures = importlib.import_module("grasp_pictures")
    full_size = pictures.viz.render  # the pictures' size does not matter here

    def render(items, camera, *_):
        if not all_there:
            raise DrawingError("VTK is not there")
        return full_size(items, camera, 60, 60, supersampling=1)

    monkeypatch.setattr(pictures.viz, "render", render)
    with fake_server.serve(puppet) as address:
        monkeypatch.setattr(sys, "argv", ["demo", "--connect", address, "--scene", str(scene), "--out", str(tmp_path / "out")])
        assert demo.main() == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["steps"] == 200 and summary["steps_not_converged"] == 0
    assert summary["weight_n"] == pytest.approx(WEIGHT_N)
    assert summary["holding"]["force_over_weight"] == pytest.approx(FORCE_OVER_WEIGHT)
    assert summary["holding"]["friction_share"] == pytest.approx(FRICTION_SHARE)
    assert summary["height_gained_m"] == pytest.approx(0.12)
    assert summary["min_distance_m"] == pytest.approx(1e-3 / 201)
    with np.load(tmp_path / "out" / "recording.npz") as recording:
        assert recording["position_m"].shape == (201, 4, 3)
        assert recording["surface_teddy"].shape == (201, 8, 3)
        assert recording["wrench_pairs"].tolist() == [["teddy", "left"], ["teddy", "right"]]
        assert recording["normal_force_n"].shape == (201, 2, 3)
        np.testing.assert_allclose(recording["frame_position_m"][-1, 0], [0, -0.05, 0.18])
    for picture in PICTURES:
        path = tmp_path / "out" / picture
        assert path.stat().st_size > 1000 if all_there or not picture.startswith("grasp") else not path.exists()
    text = capsys.readouterr().out
    assert all_there != ("there are no pictures: VTK is not there" in text)
    assert "105.00 % of the weight" in text and "80.0 % friction" in text
    check_page(tmp_path / "out" / "grasp.html", text, all_there)
    # The client commanded every step where the finger path is at its end.
    steps = [r for r in puppet.requests if getattr(r, "targets", None)]
    assert len(steps) == 200
    halfway = next(t for t in steps[74].targets if t.body == "left")
    assert halfway.pose.position_m.y == pytest.approx(-0.05)


def check_page(page, text, built):
    """The page plays the 200 steps; where the viewer was not built the demo says so."""
    if not built:
        assert not page.exists() and "grasp.html was not written: " in text and "./dev viewer" in text
        return
    assert f"Open {page} in a browser" in text
    header, arrays = unpack(page.read_bytes())
    assert [(body["name"], body["map"]) for body in header["bodies"] if body["name"] in ("teddy", "ground")] == [("teddy", "nodes"), ("ground", "still")]
    assert header["pairs"] == [["teddy", "left"], ["teddy", "right"]]
    assert arrays["cage_0"].shape == (201, 8, 3) and len(arrays["newton_iterations"]) == 201


def test_phases_follow_the_keyframes(demo, puppet):
    task_module = importlib.import_module("grasp_task")
    eipc = importlib.import_module("eipc")
    message = eipc.load_scene(puppet.text)
    with fake_server.serve(puppet) as address, eipc.connect(address) as client:
        task = task_module.read_task(message, client.create_scene(message).summary)
        assert (task.squeeze_end_s, task.lift_end_s, task.duration_s) == (1.5, 3.0, 4.0)
        assert [task.phase(t) for t in (0, 1.49, 1.5, 3.2)] == ["squeeze", "squeeze", "lift", "hold"]
        message.schedule.holding.body = "nobody"
        with pytest.raises(task_module.TaskError, match="holding.body"):
            task_module.read_task(message, client.create_scene(message).summary)


def test_errors_come_in_a_sentence(tmp_path):
    for arguments, words in ((["--server", str(tmp_path / "none")], "cannot start"),
                             (["--connect", "127.0.0.1:1"], "no eipc server answers")):
        result = subprocess.run([sys.executable, str(DEMO), *arguments, "--out", str(tmp_path / "out")],
                                capture_output=True, text=True, check=False)
        assert result.returncode == 1
        assert words in result.stderr and "Traceback" not in result.stderr


def test_demo_on_the_real_server(server_binary, tmp_path):
    if not LOW.exists():
        pytest.skip("the scene has not been generated")
    result = subprocess.run([sys.executable, str(DEMO), "--server", str(server_binary), "--out", str(tmp_path)],
                            capture_output=True, text=True, check=False, env={**os.environ, "MPLBACKEND": "Agg"})
    assert result.returncode == 0, result.stderr
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["holding"]["force_over_weight"] == pytest.approx(1, abs=0.01)
    assert summary["height_gained_m"] > 0.5 * summary["lift_commanded_m"]
    for picture in PICTURES:
        assert (tmp_path / picture).exists()
