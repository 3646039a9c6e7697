"""`eipc run --compare-full`: a scene with cages against the same scene in the objects' own spaces."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from blocks import write_block

CLI = os.environ.get("EIPC_CLI")
pytestmark = pytest.mark.skipif(not CLI or not Path(CLI).exists(), reason="no eipc program (EIPC_CLI)")

BLOCK = """embedded {{ surface {{ file: "block.vtk" }} cage_vertices: {vertices} coarse_space: PLAIN }}"""
FULL = """full_space { mesh { file: "block.vtk" } }"""


def write_scene(folder, kind, extra=""):
    """A soft block that comes to rest on the ground."""
    write_block(folder / "block.vtk")
    (folder / "ground.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n")
    scene = folder / "scene.textproto"
    scene.write_text(f"""
gravity_m_s2 {{ z: -9.81 }}
bodies {{
  name: "block" {kind} pose {{ position_m {{ z: 0.002 }} }} {extra}
  material {{ density_kg_m3: 1000 youngs_modulus_pa: 3e4 poissons_ratio: 0.4 rayleigh_alpha_per_s: 20 }}
}}
bodies {{ name: "ground" static_body {{ surface {{ file: "ground.obj" }} }} }}
contact {{ dhat_m: 1e-3 }}
schedule {{ dt_s: 0.02 duration_s: 0.6 }}
""")
    return scene


def run(*arguments, expect):
    done = subprocess.run([CLI, "run", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == expect, done.stderr
    return json.loads(done.stdout) if expect == 0 else done.stderr


def test_a_resting_block_weighs_the_same_and_sags_less_in_a_cage(tmp_path):
    scene = write_scene(tmp_path, BLOCK.format(vertices=12))
    report = run(scene, "--compare-full", expect=0)
    found = report["compare_full"]
    contact, block = found["contacts"]["block/ground"], found["bodies"]["block"]
    weight = 1000 * 0.1**3 * 9.81
    for space in ("coarse", "full"):
        assert contact["end_n"][space] == pytest.approx(weight, rel=0.01)
    assert abs(contact["error"]["end"]) < 0.01
    assert found["force_error"] == contact["error"]
    assert block["reference"] == "the object's own tets" and block["vertices"]["full"] == 216 and block["vertices"]["coarse"] <= 12
    # A plain cage has fewer degrees of freedom, so it yields less to the same weight.
    assert block["deflection"]["end_m"]["coarse"] < block["deflection"]["end_m"]["full"]
    assert block["deflection"]["error"]["max"] > 0.01
    assert found["full_space"]["unknowns"] == 3 * 216
    # The comparison leaves the run as it is, and full space is what a scene in full space does.
    plain = run(scene, expect=0)
    assert plain["state_digest"] == report["state_digest"] and "compare_full" not in plain
    (tmp_path / "full").mkdir()
    full = run(write_scene(tmp_path / "full", FULL), expect=0)
    assert full["state_digest"] == found["full_space"]["state_digest"]


def test_what_cannot_be_compared_is_refused_before_the_run(tmp_path):
    assert "no embedded body" in run(write_scene(tmp_path, FULL), "--compare-full", expect=2)
    grip = 'boundary_sets { name: "grip" vertices: [0] trajectory { keyframes { time_s: 0 pose { position_m { z: 0.002 } } } } }'
    message = run(write_scene(tmp_path, BLOCK.format(vertices=12), grip), "--compare-full", expect=2)
    assert "bodies[block].boundary_sets[grip].vertices" in message and "box" in message
