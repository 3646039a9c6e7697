"""Scenes with `coarse_space: CONDENSED`: the cache of condensed stiffnesses, and the comparison with full space."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from blocks import write_block

CLI = os.environ.get("EIPC_CLI")
pytestmark = pytest.mark.skipif(not CLI or not Path(CLI).exists(), reason="no eipc program (EIPC_CLI)")


def write_scene(folder, coarse_space="CONDENSED", youngs_pa=3e4):
    """A soft block that comes to rest on the ground."""
    write_block(folder / "block.vtk")
    scene = folder / "scene.textproto"
    scene.write_text(f"""
gravity_m_s2 {{ z: -9.81 }}
bodies {{
  name: "block" embedded {{ surface {{ file: "block.vtk" }} cage_vertices: 12 coarse_space: {coarse_space} }}
  material {{ density_kg_m3: 1000 youngs_modulus_pa: {youngs_pa} poissons_ratio: 0.4 rayleigh_alpha_per_s: 20 }}
}}
bodies {{ name: "ground" static_body {{ surface {{ file: "ground.obj" }} }} pose {{ position_m {{ z: -0.002 }} }} }}
contact {{ dhat_m: 1e-3 }}
schedule {{ dt_s: 0.02 duration_s: 0.6 }}
""")
    (folder / "ground.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n")
    return scene


def run(scene, cache, *arguments):
    done = subprocess.run([CLI, "run", str(scene), *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "EIPC_CACHE": str(cache)})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_run_finds_the_stiffness_in_the_cache(tmp_path):
    scene, cache = write_scene(tmp_path), tmp_path / "cache"
    first = run(scene, cache)
    (entry,) = cache.glob("condensed-*")
    whole = (entry / "stiffness").read_bytes()
    made = (entry / "stiffness").stat().st_mtime_ns
    assert run(scene, cache)["state_digest"] == first["state_digest"]
    assert (entry / "stiffness").stat().st_mtime_ns == made, "the entry was not made again"
    # A damaged entry is made again, with the same bits.
    (entry / "stiffness").write_bytes(whole[: len(whole) // 2])
    assert run(scene, cache)["state_digest"] == first["state_digest"]
    assert (entry / "stiffness").read_bytes() == whole
    # Another material is another entry; the plain space has none.
    run(write_scene(tmp_path, youngs_pa=4e4), cache)
    assert len(list(cache.glob("condensed-*"))) == 2
    run(write_scene(tmp_path, coarse_space="PLAIN"), cache)
    assert len(list(cache.iterdir())) == 2


def test_a_condensed_cage_is_compared_with_the_object(tmp_path):
    found = run(write_scene(tmp_path), tmp_path / "cache", "--compare-full")["compare_full"]
    block = found["bodies"]["block"]
    assert block["reference"] == "the object's own tets"
    assert 0 < block["deflection"]["error"]["max"] < 1
