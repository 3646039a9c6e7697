"""What the studies of friction, integrators and volume share: kept results, pages, solids, closed forms."""

import collections
import importlib
import socket
import subprocess
import threading

import numpy as np
import pytest

from conftest import REPOSITORY
from eipc.v1 import scene_pb2


@pytest.fixture(autouse=True)
def paths(monkeypatch):
    for folder in ("validate", "support"):
        monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / folder))


def test_results_are_kept_until_program_inputs_or_words_change(tmp_path):
    kept_module = importlib.import_module("kept")
    program, scene = tmp_path / "program", tmp_path / "scene"
    program.write_text("1")
    scene.write_text("a")
    made = []

    def make():
        made.append(1)
        return {"value": len(made)}

    def get(words):
        return kept_module.Kept(tmp_path / "keep", program).get([scene], words, make)["value"]

    assert [get([0.1]), get([0.1]), get([0.2]), get([0.1])] == [1, 1, 2, 1]
    scene.write_text("b")
    assert get([0.1]) == 3
    program.write_text("2")
    assert get([0.1]) == 4
    assert not list((tmp_path / "keep").glob("*.partial"))


def test_a_page_is_markdown(tmp_path):
    page = importlib.import_module("page").Page("Title", "./dev validate x")
    page.section("Part")
    page.text("""words
        that were wrapped""")
    page.table(["a", "b"], [[1.23456789, None], [3, "x"]])
    page.write(tmp_path / "deep" / "page.md")
    text = (tmp_path / "deep" / "page.md").read_text()
    assert "words that were wrapped" in text and "| 1.235 | – |" in text and "| 3 | x |" in text


def test_a_page_of_records_has_a_row_for_each_case_and_hides_no_failure(tmp_path):
    page, validation = importlib.import_module("page"), importlib.import_module("validation")
    layout = page.RecordsTable("Title", "about", {"force_error": "error", "h_0.02": "at 0.02", "fault": "fault"}, hidden=frozenset({"exit_status"}))
    records = [validation.at_most("low-0.02.force_error", 0.5, 1.0), validation.reported("low-0.02.h_0.02", True),
               validation.equal("low-0.02.exit_status", 1, 0), validation.reported("of_all", 7, "m")]
    written = page.Page(layout.title, "./dev validate x")
    written.records(layout, records)
    written.write(tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "| run | error | at 0.02 |" in text and "| low-0.02 | 0.5 | yes |" in text
    assert "| of_all | reported | 7 m |" in text
    assert "3 of 4 figures meet their targets; not met: low-0.02.exit_status." in text


def _volumes(mesh):
    corners = mesh[0][mesh[1]]
    a, b, c = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    return np.einsum("ij,ij->i", np.cross(a, b), c) / 6


def _faces(tets):
    faces = (tuple(sorted(face)) for a, b, c, d in tets.tolist() for face in ((a, b, c), (a, b, d), (a, c, d), (b, c, d)))
    return collections.Counter(faces)


@pytest.mark.parametrize("name,inside", [("shell", 1 - 0.9**3), ("ball", 1.0), ("hollow box", 1 - 0.5**3)])
def test_solids_are_upright_conforming_and_of_the_right_size(name, inside):
    solids = importlib.import_module("solids")
    mesh = {"shell": lambda: solids.layered_ball(2, [0.9, 1.0]), "ball": lambda: solids.layered_ball(2, [0.5, 1.0], middle=True),
            "hollow box": lambda: solids.hollow_box(1.0, 4)}[name]()
    volumes = _volumes(mesh)
    assert volumes.min() > 0
    sphere, triangles = solids.geodesic(2)
    corners = sphere[triangles]
    whole = 1.0 if name == "hollow box" else np.einsum("ij,ij->", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]) / 6
    # Faces of prisms are twisted: that between two layers is not the same surface seen from either.
    assert volumes.sum() == pytest.approx(inside * whole, rel=1e-9)
    assert set(_faces(mesh[1]).values()) == {1, 2}


def test_closed_forms_of_integrators_have_their_order_and_stability():
    oracles = importlib.import_module("integrator_oracles")
    for name, (_, order) in oracles.IMPLICIT.items():
        # u' = i u over unit time: the error falls by 2^order when steps are halved.
        errors = [abs(oracles.solution(name, 1j / n, n)[-1] - np.exp(1j)) for n in (200, 400)]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.05), name
        far = abs(oracles.one_step_factor(name, -1e6))
        assert far < 1 + 1e-9 and (name in oracles.MEANS or far < 1e-2), name


def test_the_factor_of_an_oscillation_is_found_again():
    curves = importlib.import_module("damping_curves")
    n = np.arange(12)
    assert curves.measured_factor(0.8**n * np.cos(0.7 * n), 2) == pytest.approx(0.8)
    assert curves.measured_factor(0.8**n * np.cos(0.7 * n) + 0.3 * 0.4**n * np.sin(2 * n), 4) == pytest.approx(0.8)


def test_stick_slip_slips_are_counted_where_they_begin():
    study = importlib.import_module("stick_slip")
    t = np.linspace(0, 3, 3001)
    x = 1e-3 * np.where(t % 1.0 < 0.9, t % 1.0, 0.9 * (1 - (t % 1.0 - 0.9) / 0.1))  # up for 0.9 s, down for 0.1 s
    assert study.slips(t, x, 2e-4) == pytest.approx([0.9, 1.9, 2.9], abs=2e-3)
    # Without inertia the period is 2 dF / (k V), with it 2 pi / w / 2 more at least.
    jump = (study.peak_coefficient() - study.MU_DYNAMIC) * 20
    stick = 2 * jump / (study.STIFFNESS * 2e-4)
    assert stick < study.period(20, 2e-4) < stick + 2 * np.pi / np.sqrt(study.STIFFNESS / study.MASS)
    assert study.MU_DYNAMIC < study.peak_coefficient() <= study.MU_STATIC


def test_block_slide_stops_where_little_is_left_of_its_way():
    study = importlib.import_module("block_slide")
    h = 0.01
    times = h * np.arange(1, 2001)
    middle = study.START + np.where(times < study.TIME, study.SPEED * times - 0.5 * study.DECELERATION * times**2, study.DISTANCE)
    positions = np.zeros((2000, 8, 3))
    positions[:, :, 0] = middle[:, None]
    found = study._stop(times, positions)
    assert found["time"] == pytest.approx(study.STOP_TIME, abs=h) and found["way"] == pytest.approx(study.STOP_DISTANCE, abs=1e-4) and abs(found["creep"]) < 1e-12
    # One that goes on at 2 mm/s while its velocity changes sign from step to step has not stopped.
    shivering = np.where(np.arange(2000) % 2 == 0, 0.102, -0.098)
    positions[:, :, 0] = (study.START + h * np.cumsum(shivering))[:, None]
    found = study._stop(times, positions)
    assert found["time"] is None and found["way"] is None and found["creep"] == pytest.approx(2e-3)


def test_kink_is_the_largest_change_of_slope_and_a_bounce_swings():
    study = importlib.import_module("papers_grasp")
    time = 0.005 * np.arange(1, 801)
    force = np.where(time < 1.5, 10 * time, 15 - 10 * (time - 1.5)) + np.where(time > 2.5, 5 * (time - 2.5), 0)
    assert study.kink(time, force, 1.5) == pytest.approx(20 / 5, rel=0.05)
    assert study.kink(time, force, 2.5) == pytest.approx(5 / 20, rel=0.05)
    assert study.kink(time, force, 2.0) < 0.01
    swinging = 1 + np.where(time > 3.0, 0.3 * np.exp(-(time - 3) / 0.1) * np.sin(60 * (time - 3)), 0) + 0.01 * np.sin(60 * time)
    assert study.bounce(time, swinging, 3.0) > 10
    assert study.bounce(time, swinging, 2.0) == pytest.approx(1, abs=0.1)


def test_smooth_drives_go_between_the_same_poses_and_rest_there():
    schemes = importlib.import_module("papers_schemes")
    trajectory = scene_pb2.Trajectory()
    for time, height in ((0.0, 0.1), (1.0, 0.3), (1.5, 0.3), (2.0, -0.1)):
        key = trajectory.keyframes.add(time_s=time)
        key.pose.position_m.z, key.pose.rpy_rad.x = height, 0.5
    schemes.smoothen(trajectory)
    time = np.array([key.time_s for key in trajectory.keyframes])
    height = np.array([key.pose.position_m.z for key in trajectory.keyframes])
    assert time == pytest.approx(np.arange(401) * schemes.KEY_S) and {key.pose.rpy_rad.x for key in trajectory.keyframes} == {0.5}
    assert height[[0, 100, 200, 300, 400]] == pytest.approx([0.1, 0.2, 0.3, 0.3, -0.1])
    speed = np.diff(height) / schemes.KEY_S
    assert speed.max() == pytest.approx(15 / 8 * 0.2, rel=1e-3) and speed.min() == pytest.approx(-15 / 8 * 0.8, rel=1e-3)
    assert np.abs(np.diff(speed)).max() < 0.03 * 0.8 / 0.5  # a drive that starts at once jumps by its whole speed


def test_forces_of_a_hold_are_weighed_as_the_integrator_weighs_them():
    schemes = importlib.import_module("papers_schemes")
    weight, time = 5.0, schemes.STEP * np.arange(401)
    force = np.zeros((401, 6))
    force[:, 2] = weight * np.where(np.arange(401) % 2, 3.5, -1.5)
    run = {"time_s": time[:-1].tolist(), "force": force[:-1].tolist(), "weight_n": weight}  # 49 steps of the hold
    assert schemes.held_force(schemes.Setting("TRAPEZOIDAL", "LAGGED"), run) == pytest.approx(1)
    assert schemes.held_force(schemes.Setting("BACKWARD_EULER", "LAGGED"), run) == pytest.approx(1 + 2.5 / 49)


def noise_that_lingers(rng, count):
    """Each value resembles the one before it (correlation 0.9)."""
    values = [0.0]
    for _ in range(count - 1):
        values.append(0.9 * values[-1] + rng.normal())
    return np.array(values)


def test_a_trend_is_told_from_noise_that_lingers():
    trend = importlib.import_module("trend").trend
    rng = np.random.default_rng(3)
    times = np.linspace(0.0, 1.0, 2000)
    flat = [trend(times, 100 + noise_that_lingers(rng, 2000)) for _ in range(200)]
    assert np.mean([abs(t.t) > 2.101 for t in flat]) < 0.12, "a line through correlated samples themselves finds four in five"
    assert np.mean([t.upper > 0 for t in flat]) > 0.9
    grown = trend(times, 100 + 5 * times + noise_that_lingers(rng, 2000))
    assert grown.t > 2.101 and grown.slope - 2.101 * grown.standard_error < 5 < grown.upper
    assert grown.mean == pytest.approx(102.5, abs=1)


def test_a_trend_of_what_never_changes_is_zero():
    trend = importlib.import_module("trend").trend
    times = np.linspace(0.0, 1.0, 100)
    still = trend(times, np.full(100, 7.0))
    assert (still.slope, still.standard_error, still.t, still.upper) == (0, 0, 0, 0)
    with pytest.raises(ValueError, match="20 spans"):
        trend(times[:5], np.zeros(5))


def test_a_trend_has_as_many_spans_as_its_times_fill():
    helpers = importlib.import_module("trend")
    assert [helpers.most_spans(np.arange(float(count))) for count in (40, 20, 19, 10, 9, 5)] == [20, 20, 10, 10, 5, 5]
    with pytest.raises(ValueError, match="4 samples do not fill 5 spans"):
        helpers.most_spans(np.arange(4.0))


def test_an_hour_of_samples_at_rest_tells_a_leak_from_none():
    """As tests/validate/service_soak.py derives it: 70 samples in 40 minutes that scatter by 0.4 %, and the bound of 1 % an hour."""
    trend = importlib.import_module("trend").trend
    rng = np.random.default_rng(5)
    hours = np.linspace(0, 40 / 60, 70)

    def uppers(slope):
        return [trend(hours, 1 + slope * hours + 0.004 * rng.normal(size=70)) for _ in range(300)]

    flat, leak = uppers(0.0), uppers(0.02)
    assert np.mean([line.uncertainty for line in flat]) == pytest.approx(2.1 * np.sqrt(12 / 70) * 0.004 / (40 / 60), rel=0.1)
    assert np.mean([line.scatter for line in flat]) == pytest.approx(0.004, rel=0.05)
    assert np.mean([line.upper <= 0.01 for line in flat]) > 0.9
    assert not any(line.upper <= 0.01 for line in leak)


def test_a_study_runs_its_own_copy_of_the_server(tmp_path):
    fronts = importlib.import_module("service_fronts")
    built = tmp_path / "bin"
    built.mkdir()
    for name in fronts.PROGRAMS:
        (built / name).write_text(f"#!/bin/sh\necho {name}\n")
        (built / name).chmod(0o755)
    copy = fronts.own_copy(built / "eipc-server", tmp_path / "own")
    (built / "eipc-server").write_text("another build")
    names = {front.name: front.program for front in fronts.fronts(copy, ["direct", "proxy"])}
    for name, program in (("direct", "eipc-server"), ("proxy", "eipc-server-with-proxy")):
        assert subprocess.run([names[name]], capture_output=True, text=True, check=True).stdout == program + "\n"
    other = tmp_path / "eipc-server-of-another-name"
    assert fronts.own_copy(other, tmp_path / "none") == other


def test_what_sanitizers_and_test_programs_say_is_counted(tmp_path):
    study = importlib.import_module("study_sanitizers")
    said = """==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x60
    a.cc:3:5: runtime error: signed integer overflow
    WARNING: ThreadSanitizer: data race (pid=7)
    ==9==ERROR: LeakSanitizer: detected memory leaks
    ERROR: the test says so itself"""
    assert len(study.REPORT.findall(said)) == 4
    junit = tmp_path / "ctest.xml"
    junit.write_text('<testsuite name="x" tests="7" failures="2" disabled="1" skipped="1"><testcase/></testsuite>')
    assert study._counts(junit) == (5, 2)
    junit.write_text('<testsuites><testsuite tests="3" failures="0" errors="1" skipped="0"/><testsuite tests="2" failures="1"/></testsuites>')
    assert study._counts(junit) == (5, 2)


def test_a_scrape_that_the_server_ends_is_repeated():
    gauges = importlib.import_module("service_soak").gauges
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            listener.accept()[0].close()
            with listener.accept()[0] as second:
                second.recv(1 << 16)
                second.sendall(b"HTTP/1.0 200 OK\r\n\r\n# HELP a\na 3\nb{c=\"d\"} 4\n")

        server = threading.Thread(target=answer, daemon=True)
        server.start()
        assert gauges("%s:%d" % listener.getsockname()) == {"a": 3}
        server.join()


def test_lobes_of_a_sidewall_are_maxima_that_stand_out():
    lobes = importlib.import_module("shell_tire").lobes
    angle = 2 * np.pi * np.arange(360) / 360
    assert [lobes(0.01 * np.cos(n * angle), 0.004) for n in (1, 5, 12)] == [1, 5, 12]
    # Ripples on lobes are none, and nor is what stands out by less.
    assert lobes(0.01 * np.cos(3 * angle) + 0.001 * np.cos(40 * angle), 0.004) == 3
    assert lobes(0.0019 * np.cos(5 * angle), 0.004) == 0
    assert lobes(np.zeros(360), 0.004) == 0
    # A single bump.
    assert lobes(np.where(np.abs(angle - 3) < 0.3, 0.01, 0.0), 0.004) == 1


def test_a_tire_is_closed_and_its_zones_are_where_they_belong():
    module = importlib.import_module("shell_tire")
    tire = module.tire(40)
    edges = collections.Counter((t[k], t[(k + 1) % 3]) for t in tire.triangles.tolist() for k in range(3))
    assert all(count == 1 and edges[(b, a)] == 1 for (a, b), count in list(edges.items()))
    a, b, c = (tire.vertices[tire.triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", np.cross(a, b), c) > 0
    radius = np.hypot(tire.vertices[:, 0], tire.vertices[:, 2])
    assert np.allclose(radius[tire.rim], module.OUTLINE[0][0]) and radius[tire.triangles[tire.tread]].min() > module.TREAD_RADIUS
    left, right = (module.sidewall(tire.vertices[ring]) for ring in tire.sides)
    assert np.ptp(left) < 1e-9 and np.allclose(left, right) and left[0] > module.OUTLINE[0][1]
