"""`eipc cage` and `eipc grasp` as scripts use them: report, exit status, one line of error, cache, limits, interruption."""

import json
import math
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from awaiting import wait_until
from blocks import write_block

CLI = os.environ.get("EIPC_CLI")
pytestmark = pytest.mark.skipif(not CLI or not Path(CLI).exists(), reason="no eipc program (EIPC_CLI)")

BOX_CORNERS = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
BOX_FACES = [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)]


TET_FACES = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def write_box(path, size=(60.0, 50.0, 80.0), faces=BOX_FACES):
    lines = [f"v {size[0] * x} {size[1] * y} {size[2] * z}" for x, y, z in BOX_CORNERS]
    path.write_text("\n".join(lines + ["f " + " ".join(str(i + 1) for i in face) for face in faces]) + "\n")
    return path


def write_torus(path, rings=120, sides=80):
    lines = []
    for i in range(rings):
        for j in range(sides):
            a, b = 2 * math.pi * i / rings, 2 * math.pi * j / sides
            lines.append(f"v {(0.1 + 0.03 * math.cos(b)) * math.cos(a)} {(0.1 + 0.03 * math.cos(b)) * math.sin(a)} {0.03 * math.sin(b)}")
    for i in range(rings):
        for j in range(sides):
            quad = [i * sides + j, (i + 1) % rings * sides + j, (i + 1) % rings * sides + (j + 1) % sides, i * sides + (j + 1) % sides]
            lines.append("f " + " ".join(str(v + 1) for v in quad))
    path.write_text("\n".join(lines) + "\n")
    return path


def eipc(*arguments, cache, expect=None):
    done = subprocess.run([CLI, *map(str, arguments), "--cache", str(cache)], capture_output=True, text=True, timeout=300)
    if expect is not None:
        assert done.returncode == expect, done.stderr
    return done


def test_report_and_files(tmp_path):
    box = write_box(tmp_path / "box.obj")
    report = tmp_path / "r.json"
    eipc("cage", box, "--vertices", 20, "--units", "mm", "--out", tmp_path / "out", "--report", report, cache=tmp_path / "cache", expect=0)
    made = json.loads(report.read_text())
    assert {"input", "repair", "surface", "cage", "distance_m", "mass_properties_error", "locking", "error", "seconds"} <= set(made)
    assert made["repair"]["method"] == "kept"
    assert made["cage"]["enclosed"] is True
    assert 17 <= made["cage"]["vertices"] <= 20
    assert made["cage"]["min_dihedral_deg"] > 10
    assert made["distance_m"]["max"] < 1e-9
    assert made["surface"]["volume_m3"] == pytest.approx(0.06 * 0.05 * 0.08)
    assert made["mass_properties_error"] < 1e-9
    for name in ("surface.obj", "cage.vtk", "report.json"):
        assert (tmp_path / "out" / name).stat().st_size > 0
    assert not list((tmp_path / "cache").glob("work-*"))


def test_up_axis_turns_the_mesh(tmp_path):
    box = write_box(tmp_path / "box.obj")
    done = eipc("cage", box, "--vertices", 4, "--units", "mm", "--up", "y", cache=tmp_path / "cache", expect=0)
    assert json.loads(done.stdout)["input"]["extent_m"] == pytest.approx([0.06, 0.08, 0.05])


def test_cache_is_used_and_repairs_itself(tmp_path):
    box, cache = write_box(tmp_path / "box.obj"), tmp_path / "cache"
    arguments = ("cage", box, "--vertices", 12, "--units", "mm")
    first = json.loads(eipc(*arguments, cache=cache, expect=0).stdout)
    second = json.loads(eipc(*arguments, cache=cache, expect=0).stdout)
    assert (first["cached"], second["cached"]) == (False, True)
    (entry,) = cache.glob("cage-*")
    whole = (entry / "cage.vtk").read_text()
    (entry / "cage.vtk").write_text(whole[: len(whole) // 2])
    third = json.loads(eipc(*arguments, cache=cache, expect=0).stdout)
    assert third["cached"] is False
    assert (entry / "cage.vtk").read_text() == whole
    # Another content is another entry.
    write_box(box, size=(61.0, 50.0, 80.0))
    assert json.loads(eipc(*arguments, cache=cache, expect=0).stdout)["cached"] is False


def test_concurrent_processes_share_the_cache(tmp_path):
    box = write_box(tmp_path / "box.obj")
    command = [CLI, "cage", str(box), "--vertices", "12", "--units", "mm", "--cache", str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    reports = []
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        reports.append(json.loads(out)["cage"])
    assert reports[0] == reports[1] == reports[2]
    assert [path.name.split("-")[0] for path in (tmp_path / "cache").iterdir()] == ["cage"]


@pytest.mark.parametrize("name, content", [
    ("empty.obj", ""),
    ("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
    ("cut.ply", "ply\nformat binary_little_endian 1.0\nelement vertex 1000000000\nproperty float x\nend_header\n"),
    ("what.step", "ISO-10303-21;"),
    ("nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" + TET_FACES),
    ("inf.obj", "v 0 0 inf\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" + TET_FACES),
    ("huge.obj", "v 0 0 0\nv 1e200 0 0\nv 0 1e200 0\nv 0 0 1e200\n" + TET_FACES),
    ("tiny.obj", "v 0 0 0\nv 1e-200 0 0\nv 0 1e-200 0\nv 0 0 1e-200\n" + TET_FACES),
    ("point.obj", "v 1 1 1\n" * 4 + TET_FACES),
    ("far.obj", "v 1e12 0 0\nv 1000000000001 0 0\nv 1e12 1 0\nv 1e12 0 1\n" + TET_FACES),
    ("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 9\n" + TET_FACES),
    ("flat.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 1\n"),
])
def test_bad_files_get_one_line_and_a_status(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    done = eipc("cage", tmp_path / name, "--vertices", 20, cache=tmp_path / "cache")
    assert 1 <= done.returncode < 100
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1 and name in done.stderr
    assert not list((tmp_path / "cache").glob("*"))


def write_stl(path, triangles):
    """A binary STL file."""
    records = np.zeros(len(triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records["corners"] = triangles
    path.write_bytes(b"\0" * 80 + np.uint32(len(triangles)).tobytes() + records.tobytes())
    return path


def test_a_million_triangles_end_at_the_limit(tmp_path):
    rings, sides, cache = 1000, 500, tmp_path / "cache"
    i, j = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")

    def at(i, j):
        a, b = 2 * np.pi * (i % rings) / rings, 2 * np.pi * (j % sides) / sides
        radius = 0.1 + 0.03 * np.cos(b)
        return np.stack([radius * np.cos(a), radius * np.sin(a), 0.03 * np.sin(b)], -1)

    quads = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
    corners = np.concatenate([np.stack([quads[k] for k in tri], -2).reshape(-1, 3, 3) for tri in ((0, 1, 2), (0, 2, 3))])
    big = write_stl(tmp_path / "big.stl", corners)
    done = eipc("cage", big, "--vertices", 20, "--timeout", 5, cache=cache)
    assert done.returncode in (0, 4)
    if done.returncode == 4:
        assert "5 s" in done.stderr and len(done.stderr.strip().splitlines()) == 1
        assert not list(cache.glob("*"))


def test_more_triangles_than_are_taken(tmp_path):
    path = tmp_path / "vast.stl"
    with path.open("wb") as file:
        file.write(b"\0" * 80 + np.uint32(2000001).tobytes())
        file.truncate(84 + 50 * 2000001)
    done = eipc("cage", path, cache=tmp_path / "cache", expect=2)
    assert "2000001 triangles" in done.stderr and "decimate" in done.stderr
    assert not list((tmp_path / "cache").glob("*"))


def test_missing_file_and_folder(tmp_path):
    assert eipc("cage", tmp_path / "none.obj", cache=tmp_path / "cache").returncode == 2
    assert eipc("cage", tmp_path, cache=tmp_path / "cache").returncode == 2


def test_time_and_memory_limits_end_the_work(tmp_path):
    torus, cache = write_torus(tmp_path / "torus.obj"), tmp_path / "cache"
    late = eipc("cage", torus, "--vertices", 200, "--timeout", 0.3, cache=cache, expect=4)
    assert "0.3 s" in late.stderr and len(late.stderr.strip().splitlines()) == 1
    full = eipc("cage", torus, "--vertices", 200, "--max-memory", 0.02, cache=cache)
    assert 1 <= full.returncode < 100 and len(full.stderr.strip().splitlines()) == 1
    assert not list(cache.glob("*"))


def test_error_is_that_of_the_loads(tmp_path):
    box = write_box(tmp_path / "box.obj")
    made = json.loads(eipc("cage", box, "--vertices", 20, "--units", "mm", cache=tmp_path / "cache", expect=0).stdout)
    error, sizes = made["error"], sorted(abs(e) for e in made["error"]["loads"].values())
    assert error["reference"] == "lattice" and error["reference_vertices"] > 600
    assert error["worst"] == sizes[-1] == abs(error["loads"][error["worst_load"]])
    assert error["median"] == pytest.approx((sizes[4] + sizes[5]) / 2)
    for name, ratio in made["locking"]["stiffness_ratio"].items():
        assert error["loads"][name] == pytest.approx(ratio["as_is"] - 1)


def test_error_of_the_condensed_space_is_smaller(tmp_path):
    block = tmp_path / "block.vtk"
    write_block(block)
    error = json.loads(eipc("cage", block, "--vertices", 20, cache=tmp_path / "cache", expect=0).stdout)["error"]
    condensed = error["condensed"]
    assert condensed["reference"] == error["reference"] == "the object's own tets" and condensed["loads"].keys() == error["loads"].keys()
    assert condensed["median"] < error["median"] / 2


def test_error_chooses_the_budget(tmp_path):
    block, cache, asked = tmp_path / "block.vtk", tmp_path / "cache", 0.7
    write_block(block)
    made = json.loads(eipc("cage", block, "--error", asked, cache=cache, expect=0).stdout)
    error, tried = made["error"], made["error"]["tried"]
    assert error["asked"] == asked and error["median"] <= asked and error["worst"] <= 2 * asked
    assert error["reference"] == "the object's own tets" and error["reference_vertices"] == 216
    assert tried[-1]["budget"] == made["cage"]["budget"] and tried[-1]["median"] == error["median"]
    for coarser in tried[:-1]:
        assert coarser["median"] > asked or coarser["worst"] > 2 * asked
    same = json.loads(eipc("cage", block, "--vertices", tried[-1]["budget"], cache=cache, expect=0).stdout)
    assert same["cached"] is True and same["error"]["median"] == error["median"]


def test_error_that_cannot_be_asked_for(tmp_path):
    box = write_box(tmp_path / "box.obj")
    for arguments in (("--error", "0"), ("--error", "-1"), ("--error", "soft"), ("--error", "nan"), ("--error", "0.1", "--vertices", "30")):
        done = eipc("cage", box, *arguments, cache=tmp_path / "cache")
        assert done.returncode == 2, arguments
        assert "--error" in done.stderr


def test_interrupt_leaves_nothing_behind(tmp_path):
    torus, cache = write_torus(tmp_path / "torus.obj"), tmp_path / "cache"
    process = subprocess.Popen([CLI, "cage", str(torus), "--vertices", "200", "--cache", str(cache)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: process.poll() is not None or list(cache.glob("work-*")), "it has begun")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert len(err.strip().splitlines()) == 1 and "interrupted" in err
    assert not list(cache.glob("*"))


def test_grasp_refuses_with_numbers(tmp_path):
    box = write_box(tmp_path / "box.obj", size=(0.3, 0.3, 0.2))
    large = eipc("grasp", box, cache=tmp_path / "cache", expect=2)
    assert "too large" in large.stderr and "--gripper-scale" in large.stderr
    small = write_box(tmp_path / "small.obj", size=(0.06, 0.05, 0.08))
    heavy = eipc("grasp", small, "--density", 50000, cache=tmp_path / "cache", expect=2)
    assert "too heavy" in heavy.stderr
    assert "--grip-force" in heavy.stderr


def test_grasp_holds_with_the_set_force(tmp_path):
    box = write_box(tmp_path / "box.obj", size=(0.06, 0.05, 0.08))
    report = tmp_path / "held.json"
    eipc("grasp", box, "--grip-force", 5, "--audit", "--report", report, cache=tmp_path / "cache", expect=0)
    made = json.loads(report.read_text())
    grasp = made["grasp"]
    assert grasp["lifted"] and grasp["set_force_n"] == 5 and grasp["steps_not_converged"] == 0
    assert grasp["rise_m"] > 0.9 * grasp["lift_m"]
    assert made["friction"]["krylov_iterations"] > 0, "friction is implicit"
    assert made["audit"]["intersections"] == 0
    for name, finger in grasp["fingers"].items():
        assert finger["effort_at_lift_n"] == pytest.approx(5, rel=0.02)
        assert finger["slip_m"] < 1e-3 and finger["off_guide_m"] < 1e-4
        assert made["drives"][f"{name}/finger"]["effort_n"] == pytest.approx(5, rel=0.02)
    assert sum(finger["carried_n"] for finger in grasp["fingers"].values()) == pytest.approx(made["holding"]["weight_n"], rel=0.01)


def test_grasp_that_slips_is_no_success(tmp_path):
    # Friction carries 1.02 times the weight: too little for the acceleration of the lift.
    box = write_box(tmp_path / "box.obj", size=(0.06, 0.05, 0.08))
    report = tmp_path / "slipped.json"
    done = eipc("grasp", box, "--grip-force", 2, "--friction", 0.48, "--report", report, cache=tmp_path / "cache", expect=1)
    grasp = json.loads(report.read_text())["grasp"]
    assert not grasp["lifted"] and "it slipped" in grasp["reason"] and "it slipped" in done.stderr
    assert min(finger["slip_m"] for finger in grasp["fingers"].values()) > 5 * grasp["slip_limit_m"]


def test_grasp_that_is_not_solved_is_no_success(tmp_path):
    box = write_box(tmp_path / "box.obj", size=(0.06, 0.05, 0.08))
    report = tmp_path / "rough.json"
    eipc("grasp", box, "--grip-force", 5, "--max-newton-iterations", 1, "--report", report, cache=tmp_path / "cache", expect=1)
    grasp = json.loads(report.read_text())["grasp"]
    assert not grasp["lifted"] and grasp["steps_not_converged"] > 0 and "not solved" in grasp["reason"]


def write_strips(path, count=30, seams=True, bend=None):
    """A sheet of 0.3 x 0.2 m in long thin triangles, each pair with vertices of its own when there are seams; bend: of points."""
    lines, faces = [], []
    for i in range(count):
        corners = [(0.3 * (i + a) / count, 0.2 * b, 0.0) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in (map(bend, corners) if bend else corners)]
        first = 4 * i + 1
        faces += [f"f {first} {first + 1} {first + 2}", f"f {first} {first + 3} {first + 2}" if i % 2 else f"f {first} {first + 2} {first + 3}"]
    path.write_text("\n".join(lines + faces) + "\n")
    return path


def test_shell_report_and_files(tmp_path):
    sheet, out = write_strips(tmp_path / "sheet.obj"), tmp_path / "out"
    done = eipc("cage", sheet, "--shell", "--thickness", 0.001, "--edge", 0.02, "--out", out, cache=tmp_path / "cache", expect=0)
    made = json.loads(done.stdout)
    shell = made["shell"]
    assert made["repair"]["method"] == "remeshed"
    assert any("welded" in step or "made one" in step for step in made["repair"]["steps"])
    assert any("turned" in step for step in made["repair"]["steps"])
    assert (shell["components"], shell["borders"]) == (1, 1)
    assert shell["area_m2"] == pytest.approx(0.06)
    assert shell["edge_m"]["mean"] == pytest.approx(0.02, rel=0.15)
    assert shell["least_angle_deg"] > 20
    assert 0.9 < shell["bending"]["stiffness_ratio"] < 1.3
    assert made["distance_m"]["max"] < 1e-9
    assert sorted(p.name for p in out.iterdir()) == ["report.json", "surface.obj"]
    scene = out / "scene.textproto"
    scene.write_text('bodies { name: "sheet" shell { mesh { file: "surface.obj" } fabric: "cotton" contact_thickness_m: 0.001 } }')
    checked = subprocess.run([CLI, "check", str(scene)], capture_output=True, text=True, timeout=300)
    assert checked.returncode == 0, checked.stderr


def test_kept_triangles_that_bend_wrong_are_noted(tmp_path):
    side, lines = 16, []
    lines += [f"v {i / side * 0.3} {j / side * 0.3} 0" for j in range(side + 1) for i in range(side + 1)]
    for j in range(side):
        for i in range(side):
            a, b, c, d = (1 + i + (side + 1) * j + k for k in (0, 1, side + 1, side + 2))
            lines += [f"f {a} {b} {d}", f"f {a} {d} {c}"] if (i + j) % 2 else [f"f {a} {b} {c}", f"f {b} {d} {c}"]
    (tmp_path / "grid.obj").write_text("\n".join(lines) + "\n")
    done = eipc("cage", tmp_path / "grid.obj", "--shell", "--thickness", 0.001, "--keep-triangles", cache=tmp_path / "cache", expect=0)
    made = json.loads(done.stdout)
    assert made["repair"]["method"] == "kept"
    assert made["shell"]["asked_edge_m"] is None
    assert made["shell"]["bending"]["stiffness_ratio"] == pytest.approx(4 / 2.7, abs=0.001)
    assert "bending of this mesh is off" in made["shell"]["note"]


@pytest.mark.parametrize("options, words", [
    (("--thickness", 0.03, "--edge", 0.02), "is more than the edges"),
    (("--thickness", 0.001, "--edge", 0.00005), "make them longer"),
    (("--thickness", 0.02, "--edge", 0.03, "--units", "m"), "apart; the thickness of shells needs more than"),
])
def test_what_cannot_be_a_shell_is_said_in_one_line(tmp_path, options, words):
    # Bent to a hairpin whose layers are 1 cm apart.
    def bend(p):
        return p if p[0] <= 0.15 else (0.3 - p[0], p[1], 0.01)

    sheet = write_strips(tmp_path / "sheet.obj", bend=bend)
    done = eipc("cage", sheet, "--shell", *options, cache=tmp_path / "cache", expect=2)
    assert done.stderr.count("\n") == 1 and words in done.stderr


def test_a_shell_needs_its_thickness(tmp_path):
    sheet = write_strips(tmp_path / "sheet.obj")
    done = subprocess.run([CLI, "cage", str(sheet), "--shell"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "--thickness" in done.stderr + done.stdout


def test_grasp_of_a_shell(tmp_path):
    """A carton of walls of 2 mm: 38 g."""
    box, report = write_box(tmp_path / "box.obj"), tmp_path / "r.json"
    eipc("grasp", box, "--units", "mm", "--shell", "--thickness", 0.002, "--edge", 0.02, "--youngs", 1e8, "--density", 700, "--report", report,
         cache=tmp_path / "cache", expect=0)
    made = json.loads(report.read_text())
    area = 2 * (0.06 * 0.05 + 0.05 * 0.08 + 0.08 * 0.06)
    assert made["bodies"]["object"]["mass_kg"] == pytest.approx(700 * 0.002 * area, rel=1e-6)
    assert made["grasp"]["lifted"] is True
    assert made["prepared"]["shell"]["borders"] == 0


@pytest.mark.parametrize("words", [
    ["grasp", "box.obj", "--grip-force", "nan"], ["grasp", "box.obj", "--run-limit", "NaN"], ["grasp", "box.obj", "--timeout", "nan"],
    ["run", "scene.textproto", "--duration", "inf"], ["cage", "box.obj", "--timeout", "nan"], ["run", "scene.textproto", "--step-limit", "nan"],
    ["run", "scene.textproto", "--dt", "nan"], ["robot", "robot.urdf", "--base", "0", "nan", "0"]])
def test_numbers_of_options_are_finite(tmp_path, words):
    """Before anything is done: bounds do not hold a number that is none."""
    done = subprocess.run([CLI, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and words[-1 if words[-1] != "0" else -2] + " is not a finite number" in done.stderr, done.stderr
