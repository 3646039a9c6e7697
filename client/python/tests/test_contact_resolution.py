"""`eipc run` reports how finely surfaces resolve their contacts, and warns of coarse ones."""

import json
import os
import subprocess
from pathlib import Path

import pytest

CLI = os.environ.get("EIPC_CLI")
pytestmark = pytest.mark.skipif(not CLI or not Path(CLI).exists(), reason="no eipc program (EIPC_CLI)")

BOX = """v 0 0 0\nv {s} 0 0\nv {s} {s} 0\nv 0 {s} 0\nv 0 0 {s}\nv {s} 0 {s}\nv {s} {s} {s}\nv 0 {s} {s}
f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\n"""


def run(folder, tilt):
    """A soft cube of twelve triangles that falls on the ground, on a face or on an edge."""
    (folder / "cube.obj").write_text(BOX.format(s=0.1))
    (folder / "ground.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n")
    scene = folder / "scene.textproto"
    scene.write_text(f"""
gravity_m_s2 {{ z: -9.81 }}
bodies {{
  name: "cube" embedded {{ surface {{ file: "cube.obj" }} cage_vertices: 12 }}
  pose {{ position_m {{ z: {0.08 if tilt else 0.002} }} {"quaternion { w: 0.9238795325112867 x: 0.3826834323650898 }" if tilt else ""} }}
  material {{ density_kg_m3: 1000 youngs_modulus_pa: 1e5 poissons_ratio: 0.4 }}
}}
bodies {{ name: "ground" static_body {{ surface {{ file: "ground.obj" }} }} }}
contact {{ dhat_m: 1e-3 }}
schedule {{ dt_s: 0.01 duration_s: 0.3 }}
""")
    done = subprocess.run([CLI, "run", str(scene)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["contact_resolution"], done.stderr


@pytest.mark.parametrize("tilt", [False, True])
def test_a_patch_of_few_edges_is_said(tmp_path, tilt):
    pairs, said = run(tmp_path, tilt)
    cube, ground = pairs["cube/ground"], pairs["ground/cube"]
    assert cube["normal_n"] == ground["normal_n"] > 9.81 * 0.9
    assert cube["patch_m"] < 3 * cube["edge_m"]  # a face is one edge long
    assert cube["coarse"]
    assert not ground["coarse"]  # it is rigid and flat
    assert cube["vertices"] == pytest.approx(2 if tilt else 4, rel=0.2)
    assert "the contact of cube with ground is coarse" in said
    assert "contact of ground" not in said
