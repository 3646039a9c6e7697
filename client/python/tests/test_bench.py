"""The benchmark on recorded figures, and on the real program when there is one."""

import importlib
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from conftest import REPOSITORY

FAKE = Path(__file__).resolve().parent / "fake_eipc.py"


@pytest.fixture
def bench(monkeypatch):
    for folder in ("bench", "support"):
        monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / folder))
    return importlib.import_module("run_bench")


def test_rows_table_and_json(bench, tmp_path, capsys):
    json_file, page = tmp_path / "deep" / "bench.json", tmp_path / "deep" / "performance.md"
    assert bench.main(["--eipc", str(FAKE), "--data", str(tmp_path), "--filter", "low", "--runs", "2", "--json", str(json_file),
                       "--page", str(page)]) == 0
    document = json.loads(json_file.read_text())
    assert [row["name"] for row in document["rows"]] == ["low-0.02", "low-0.01", "low-0.005",
                                                         "low_real-0.02", "low_real-0.01", "low_real-0.005"]
    row = document["rows"][0]
    assert row["real_time_factor"] == pytest.approx(20) and row["ms_per_step"] == pytest.approx(1.0)
    assert row["ms_per_newton_iteration"] == pytest.approx(0.25) and row["runs"] == 2
    assert row["stage_share"]["assemble"] == pytest.approx(0.3) and row["stage_share"]["other"] == pytest.approx(0.25)
    assert row["probe_ms"] > 0 and document["machine"]["cores"] >= 1
    text = capsys.readouterr().out
    assert "low-0.005" in text and "assemble" in text and "20.00" in text
    written = page.read_text()
    title, _, head = written.split("\n")[:3]
    assert title == "# Performance" and head.startswith("Written by `./dev bench") and "--runs 2" in head and "--page" not in written
    assert "## Grasps" in written and "| grasp | x real time | ms/step |" in written and "```" not in written
    line = next(line for line in written.split("\n") if line.startswith("| low-0.005 |"))
    shown = next(line for line in text.split("\n") if line.startswith("low-0.005"))
    assert [cell.strip() for cell in line.strip("|").split("|")] == shown.split()


def test_a_second_thread_is_compared_in_turns(bench, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["thread_rows"].os, "sched_getaffinity", lambda pid: {0, 1})  # whatever cores the tests have
    json_file = tmp_path / "threads.json"
    assert bench.main(["--eipc", str(FAKE), "--filter", "threads-low,threads-full", "--runs", "3", "--json", str(json_file)]) == 0
    document = json.loads(json_file.read_text())
    low, full = document["threads"]
    assert document["rows"] == [] and low["gain"] == pytest.approx(1.25) and low["same_bits"] and low["factor_share"] == pytest.approx(0.2)
    assert full["one_ms"] == pytest.approx(1.0) and full["factor_gain"] == pytest.approx(1.0)
    assert [(target["limit"], target["met"]) for target in document["targets"]][-3:] == [(0.97, True), (1.3, False), (2.0, True)]
    assert "threads-full" in capsys.readouterr().out


def test_errors_come_in_a_sentence(bench, tmp_path, capsys):
    assert bench.main(["--eipc", str(FAKE), "--data", str(tmp_path), "--filter", "full_real-0.005"]) == 1
    assert "MESH_UNREADABLE" in capsys.readouterr().err
    assert bench.main(["--eipc", str(tmp_path / "none")]) == 1
    assert "./dev build" in capsys.readouterr().err
    assert bench.main(["--eipc", str(FAKE), "--filter", "cloth"]) == 2
    assert "low-0.02" in capsys.readouterr().err


def test_filters_name_rows_and_groups(bench):
    names = ["low-0.02", "low-0.01", "bin-25", "bin-100", "bin-400"]
    assert bench.chosen("", names) == [0, 1, 2, 3, 4] and bench.chosen("low", names) == [0, 1]
    assert bench.chosen("bin-25,bin-100", names, "bin") == [2, 3] and bench.chosen("low-0.01,bin", names, "bin") == [2, 3, 4]
    # What takes hours has to be asked for.
    assert bench.chosen("", names, "bin") == bench.chosen("25", names, "bin") == bench.chosen("low", names, "bin") == []


def test_probe_is_the_fastest_round_of_a_fixed_loop(bench, monkeypatch):
    module = sys.modules["machine_probe"]
    assert module.probe_ms(1) > 0 and module._work() == module._work()
    times = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])  # rounds of 3, 1 and 2 s
    monkeypatch.setattr(module, "time", types.SimpleNamespace(perf_counter=lambda: next(times)))
    assert module.probe_ms(3) == 1e3


def test_bench_on_the_real_program(bench, eipc_binary, tmp_path):
    if not (REPOSITORY / "models" / "scenes" / "bubble_teddy_low.textproto").exists():
        pytest.skip("the scene has not been generated")
    json_file = tmp_path / "bench.json"
    assert bench.main(["--eipc", str(eipc_binary), "--filter", "low-0.02", "--json", str(json_file)]) == 0
    row = json.loads(json_file.read_text())["rows"][0]
    assert row["steps"] == 200 and row["real_time_factor"] > 0 and row["max_rss_bytes"] > 1 << 20


def test_targets_are_met_or_missed_by_the_measured_value(bench):
    from targets import grasp_targets

    rows = [{"name": "low-0.02", "real_time_factor": 10.0, "ms_per_newton_iteration": 0.5},
            {"name": "full_real-0.02", "real_time_factor": 1.49, "ms_per_newton_iteration": 3.0},
            {"name": "full-0.01", "real_time_factor": 9.0, "ms_per_newton_iteration": 9.0}]
    assert [(target.name, target.met) for target in grasp_targets(rows)] == [
        ("low, h = 0.02 s", True), ("full_real, h = 0.02 s", False), ("full_real, a Newton iteration", True)]


def test_a_refined_surface_is_the_same_surface(bench):
    from targets import _subdivided

    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])

    def area(v, f):
        return 0.5 * np.linalg.norm(np.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]]), axis=1).sum()

    def volume(v, f):
        return np.einsum("ij,ij->i", v[f[:, 0]], np.cross(v[f[:, 1]], v[f[:, 2]])).sum() / 6

    fine, finer = _subdivided(vertices, faces)
    assert finer.shape == (16, 3) and len(fine) == 10  # Euler: V = F / 2 + 2
    assert np.isclose(area(fine, finer), area(vertices, faces)) and np.isclose(volume(fine, finer), volume(vertices, faces))


def test_a_small_bin_comes_to_rest_carried_and_free_of_intersections(bench, eipc_binary):
    from bin_rows import bin_rows
    from eipc_cli import EipcCli

    if not (REPOSITORY / "models" / "generated" / "mug.obj").exists():
        pytest.skip("the meshes have not been generated")
    rows, again = (bin_rows(EipcCli(eipc_binary), [6], runs=1, threads=threads, duration_s=1.0, many=12) for threads in (1, 2))
    assert rows[0]["states_audited"] == 5 and rows[0]["intersections"] == 0
    assert rows[0]["carried_n"] == pytest.approx(rows[0]["weight_n"], rel=0.01) and rows[0]["weight_n"] > 5
    assert rows[0]["settled_s"] is not None and rows[0]["settled"]["contacts"] > 24  # three an object
    assert rows[0]["state_digest"] == again[0]["state_digest"]
    # At rest it goes on resting, and so do two of it side by side.
    named = {row["name"]: row for row in rows}
    assert list(named) == ["bin-6", "1 x bin-6", "1 x bin-6, may sleep", "2 x bin-6", "2 x bin-6, may sleep"]
    for copies in (1, 2):
        resting, asleep = named[f"{copies} x bin-6"], named[f"{copies} x bin-6, may sleep"]
        assert resting["objects"] == 6 * copies and resting["settled_s"] is not None and resting["settled_s"] < 1 and "asleep" not in resting
        # Where they may, they fall asleep: as well carried, and all their contacts still reported.
        assert asleep["asleep"]["contacts"] == pytest.approx(asleep["settled"]["contacts"], rel=0.1)
        for row in (resting, asleep):
            assert row["carried_n"] == pytest.approx(copies * rows[0]["weight_n"], rel=0.01) and row["intersections"] == 0


def test_the_bin_is_a_closed_tray(bench):
    from bin_scene import open_bin

    vertices, faces = open_bin(0.4, 0.3, 0.02)
    directed = {(a, b) for face in faces for a, b in zip(face, np.roll(face, -1))}
    assert len(directed) == 3 * len(faces) and all((b, a) in directed for a, b in directed)
    volume = np.einsum("ij,ij->i", vertices[faces[:, 0]], np.cross(vertices[faces[:, 1]], vertices[faces[:, 2]])).sum() / 6
    assert volume == pytest.approx(0.44**2 * 0.32 - 0.4**2 * 0.3)


def test_settled_is_from_when_nothing_moves_any_more(bench):
    from bin_rows import bin_targets, settled_from

    still, moving = 0.5 * 2.0 * 1e-3**2, 0.5 * 2.0 * 3e-3**2  # 2 kg at 1 and 3 mm/s
    assert settled_from(np.array([moving, still, moving, still, still]), 2.0) == 3
    assert settled_from(np.array([still, still]), 2.0) == 0
    assert settled_from(np.array([still, moving]), 2.0) is None
    rows = [{"objects": 25, "settled": {"us_per_contact": 10.0}}, {"objects": 100, "settled": {"median_ms": 21.0}},
            {"objects": 400, "settled": {"us_per_contact": 14.0}},
            {"objects": 100, "settled": {"median_ms": 1.0}, "asleep": {"median_ms": 2.0}, "name": "1 x bin-100, may sleep"}]
    assert [target.met for target in bin_targets([{"name": "copies", **row} for row in rows])] == [False, True, True]


def test_asleep_is_from_when_hardly_anything_wakes_any_more(bench):
    from bin_rows import asleep_from

    assert asleep_from(np.array([0, 10, 3, 9, 10]), 10) == 3
    assert asleep_from(np.array([0, 10, 8]), 10) is None


def test_ipc_targets_are_of_every_row_and_ratios_of_those_with_a_peer(bench):
    from ipc_rows import ipc_cases, ipc_table, ipc_targets

    assert ipc_cases(None) == [] and ipc_cases(REPOSITORY) == []
    row = {"name": "ipc-a", "unknowns": 12, "steps": 3, "cpu_range_s": [1.0, 1.0], "min_distance_m": None, "same_digest": True, "probe_ms": 1.0,
           "intersections": 0, "steps_not_converged": 0, "newton_iterations": {"mean": 5.0, "max": 40}}
    rows = [{**row, "peer_tolerance": True, "cpu_s": 1.0, "peer_cpu_s": 10.0}, {**row, "peer_tolerance": True, "cpu_s": 1.0, "peer_cpu_s": 40.0},
            {**row, "peer_tolerance": False, "cpu_s": 2.0, "peer_cpu_s": 6.0}, {**row, "peer_tolerance": False, "cpu_s": 2.0, "peer_cpu_s": None}]
    found = {target.name: target for target in ipc_targets(rows)}
    assert len(found) == 7
    assert found["peer's time over ours at its tolerance, geometric mean"].value == pytest.approx(20.0)
    assert found["peer's time over ours at its tolerance, least"].met and not found["peer's time over ours at our tolerance, least"].met
    assert found["public IPC scenes, steps that did not converge"].met and found["public IPC scenes, iterations of a step"].met
    assert len(ipc_targets([rows[3]])) == 3 and ipc_targets([]) == []
    assert len(ipc_table(rows).text().splitlines()) >= 5


def test_a_public_scene_runs_beside_a_peer(bench, eipc_binary, tmp_path):
    from eipc_cli import EipcCli, RunError, default_data
    from ipc_rows import ipc_cases, ipc_rows

    cases = [case for case in ipc_cases(default_data()) if case.name == "ipc-12_largeMassRatio-tol"]
    if not cases:
        pytest.skip("there are no public scenes: set EIPC_DATA")
    peer = tmp_path / "peer"
    peer.write_text('#!/bin/sh\n[ "$1" = 12_largeMassRatio ] && [ "$2" = 60 ] || exit 3\ni=0; while [ $i -lt 20000 ]; do i=$((i+1)); done\n')
    peer.chmod(0o755)
    row = ipc_rows(EipcCli(eipc_binary, default_data()), cases, default_data(), 1, 1, peer)[0]
    assert row["steps"] == 60 and row["unknowns"] == 48 and row["intersections"] == 0 and row["same_digest"]
    assert row["cpu_s"] > 0 and row["peer_cpu_s"] > 0
    peer.write_text("#!/bin/sh\nexit 4\n")
    with pytest.raises(RunError, match="exit status 4"):
        ipc_rows(EipcCli(eipc_binary, default_data()), cases, default_data(), 1, 1, peer)
