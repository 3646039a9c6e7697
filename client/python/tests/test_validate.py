"""The validation runner and its studies on recorded figures; the real studies are ./dev validate's business."""

import importlib
import json
import textwrap
from pathlib import Path

import numpy as np
import pytest

from conftest import REPOSITORY

FAKE = Path(__file__).resolve().parent / "fake_eipc.py"


@pytest.fixture(autouse=True)
def paths(monkeypatch):
    for folder in ("validate", "support"):
        monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / folder))


@pytest.fixture
def runner():
    return importlib.import_module("run_validate")


@pytest.fixture
def context(tmp_path):
    validation = importlib.import_module("validation")
    cli = importlib.import_module("eipc_cli").EipcCli(FAKE, None)
    (tmp_path / "scratch").mkdir()
    said = []
    context = validation.Context(cli, Path("no-server"), tmp_path / "figures", tmp_path / "scratch", 2, said.append)
    context.said = said
    return context


def write_study(folder, name, body):
    (folder / f"study_{name}.py").write_text(textwrap.dedent(body))


def test_a_part_of_a_study_runs_alone_and_has_a_page_of_its_own(runner, tmp_path, capsys):
    write_study(tmp_path, "with_parts", """
        from page import RecordsTable
        from validation import reported
        NAME, DESCRIPTION = "with_parts", "has parts"
        PAGE = RecordsTable("Study", "about", {"value": "value"})
        PARTS = {"first": 1.0, "second_one": 2.0}
        def run(context, parts=()): return [reported(f"{name}.value", PARTS[name]) for name in parts or PARTS]
    """)
    to = ["--studies", str(tmp_path), "--figures", str(tmp_path / "figures"), "--eipc", str(FAKE)]
    assert runner.main(["with_parts.second_one", *to]) == 0
    assert [page.name for page in (tmp_path / "figures").iterdir()] == ["with_parts_second_one.md"]
    text = (tmp_path / "figures" / "with_parts_second_one.md").read_text()
    assert "# Study: second one" in text and "./dev validate with_parts.second_one" in text and "first" not in text
    assert runner.main(["with_parts", *to]) == 0
    assert "first" in (tmp_path / "figures" / "with_parts.md").read_text()
    assert runner.main(["with_parts.third", *to]) == 2


def test_runner_reports_each_figure_and_says_whether_all_passed(runner, tmp_path, capsys):
    write_study(tmp_path, "always_good", """
        from validation import at_most, reported
        NAME, DESCRIPTION = "always_good", "passes"
        def run(context): return [at_most("error", 0.5, 1.0, "m"), reported("nan", float("nan"))]
    """)
    write_study(tmp_path, "sometimes_bad", """
        from validation import within
        NAME, DESCRIPTION = "sometimes_bad", "misses its target"
        def run(context): return [within("slope", 1.5, 0.8, 1.2)]
    """)
    write_study(tmp_path, "breaking", """
        NAME, DESCRIPTION = "breaking", "raises"
        def run(context): raise ValueError("lost")
    """)
    options = ["--studies", str(tmp_path), "--eipc", str(FAKE)]
    out = tmp_path / "records.json"
    assert runner.main([*options, "always_good", "--json", str(out)]) == 0
    document = json.loads(out.read_text())
    assert document["records"] == [
        {"name": "always_good.error", "value": 0.5, "unit": "m", "target": "<= 1", "pass": True},
        {"name": "always_good.nan", "value": None, "unit": "", "target": "reported", "pass": True}]
    assert document["passed"]
    assert runner.main([*options, "--json", str(out)]) == 1
    document = json.loads(out.read_text())
    assert [r["name"] for r in document["records"] if not r["pass"]] == ["breaking.ran", "sometimes_bad.slope"]
    assert "lost" in document["studies"]["breaking"]["failure"]
    assert "2 FAILED" in capsys.readouterr().out
    assert runner.main([*options, "unknown"]) == 2
    assert runner.main([*options, "--list"]) == 0


def test_a_study_that_says_how_gets_a_page(runner, tmp_path):
    write_study(tmp_path, "with_a_page", """
        from page import RecordsTable
        from validation import at_most
        NAME, DESCRIPTION = "with_a_page", "has a page"
        PAGE = RecordsTable("Errors", "Of a case.", {"error": "error, m"})
        def run(context): return [at_most("case.error", 0.5, 1.0, "m")]
    """)
    assert runner.main(["--studies", str(tmp_path), "--eipc", str(FAKE), "--figures", str(tmp_path / "pages"), "with_a_page"]) == 0
    text = (tmp_path / "pages" / "with_a_page.md").read_text()
    assert "Written by `./dev validate with_a_page`" in text and "| case | 0.5 |" in text


def test_a_part_can_have_a_page_of_its_own_with_pictures(runner, tmp_path):
    write_study(tmp_path, "with_part_pages", """
        from page import RecordsTable
        from validation import at_most
        NAME, DESCRIPTION = "with_part_pages", "has parts"
        PAGE = RecordsTable("All", "Of all.", {"error": "error, m"})
        PAGES = {"one": RecordsTable("One", "Of one.", {"error": "error, m"}, pictures=(("one.png", "It"),))}
        PARTS = ("one", "two")
        def run(context, parts=()): return [at_most("case.error", 0.5, 1.0, "m")]
    """)
    for part, about, pictures in (("one", "Of one.", 1), ("two", "Of all.", 0)):
        assert runner.main(["--studies", str(tmp_path), "--eipc", str(FAKE), "--figures", str(tmp_path / "pages"), f"with_part_pages.{part}"]) == 0
        text = (tmp_path / "pages" / f"with_part_pages_{part}.md").read_text()
        assert about in text and text.count("![It](one.png)") == pictures


def test_the_studies_of_the_repository_are_found(runner):
    assert {"grasp", "convergence", "accuracy"} <= set(runner.discover(REPOSITORY / "tests" / "validate"))


def test_runs_are_made_once_and_prepared_in_parallel(context):
    validation, cli = importlib.import_module("validation"), importlib.import_module("eipc_cli")
    runs = [validation.Run(cli.GraspCase("low", False, dt)) for dt in (0.02, 0.01)]
    context.prepare(run for run in runs + runs)
    assert len(context.said) == 2
    assert context.run(runs[0]) is context.run(runs[0])
    with pytest.raises(cli.RunError, match="MESH_UNREADABLE"):
        context.prepare([validation.Run(cli.GraspCase("full", True, 0.005))])


def test_positions_file_is_read_and_checked(tmp_path):
    module = importlib.import_module("surface_positions")
    path = tmp_path / "x"
    frames = np.arange(18, dtype="<f8").reshape(3, 2, 3)
    path.write_bytes(b'{"vertices": 2, "times": [0, 0.1, 0.2]}\n' + frames.tobytes())
    read = module.read_surface_positions(path)
    np.testing.assert_array_equal(read.positions, frames)
    np.testing.assert_array_equal(read.frames_at(np.array([0.2, 0.1])), [2, 1])
    with pytest.raises(ValueError, match="no frame"):
        read.frames_at(np.array([0.15]))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="promises"):
        module.read_surface_positions(path)


def test_rms_error_is_the_papers(tmp_path):
    module = importlib.import_module("surface_positions")
    fine = module.SurfacePositions(np.array([0, 0.5, 1.0, 1.5, 2.0]), np.zeros((5, 3, 3)))
    coarse_positions = np.zeros((3, 3, 3))
    coarse_positions[0] = 9.0  # the start is no step
    coarse_positions[1, 0] = [3, 4, 0]
    coarse_positions[2, 1] = [0, 0, 5]
    coarse_positions[2, 2] = 7.0  # not among the vertices asked for
    coarse = module.SurfacePositions(np.array([0, 1.0, 2.0]), coarse_positions)
    # mean over two steps of (1/2)|x|^2 with |x|^2 = 25 in each
    assert module.rms_error(coarse, fine, slice(0, 2)) == pytest.approx(np.sqrt(12.5))


def test_convergence_study_fits_the_slope(context, monkeypatch):
    study = importlib.import_module("study_convergence")
    monkeypatch.setattr(study, "held_body", lambda *_: ("teddy", slice(0, 1)))
    records = {record.name: record for record in study.run(context)}
    assert records["low.slope"].value == pytest.approx(1.0, abs=1e-6) and records["low.slope"].passed
    assert records["full.error_h_0.02"].value == pytest.approx(0.01 * (0.02 - study.REFERENCE_STEP_S))
    assert study.fitted_slope(np.array([1.0, 2.0, 4.0]) + study.REFERENCE_STEP_S, np.array([1.0, 4.0, 16.0]), study.REFERENCE_STEP_S) == pytest.approx(2.0)


def test_accuracy_study_compares_forces_and_positions(context, monkeypatch):
    study = importlib.import_module("study_accuracy")
    monkeypatch.setattr(study, "held_body", lambda *_: ("teddy", slice(0, 2)))
    records = {record.name: record for record in study.run(context)}
    assert records["low-0.02.holding_force_difference"].value == pytest.approx(0.001 / 7.605)
    assert records["low-0.02.position_difference"].value == 0
    assert records["low-0.02.pair_force_difference"].passed
    assert len([name for name in records if name.endswith("position_difference")]) == 9


def test_grasp_study_judges_report_and_series(context, monkeypatch):
    study = importlib.import_module("study_grasp")
    monkeypatch.setattr(study, "grasp_series", lambda _, case: fake_series())
    records = {record.name: record for record in study.run(context)}
    assert records["low-0.02.force_error"].passed and records["low-0.02.friction_share"].value == pytest.approx(0.8)
    assert records["low-0.02.converged"].value == pytest.approx(1 - 1 / 200)
    assert records["low-0.02.states_audited"].passed
    assert records["low-0.02.height_gained_over_lift"].value == pytest.approx(1.0)
    assert records["low-0.02.lost_over_creep"].value == pytest.approx(0, abs=1e-9), "the body follows the fingers"
    assert records["low-0.02.force_spike"].value == pytest.approx(0, abs=1e-9)
    assert records["low-0.02.digest_through_server"].passed
    assert (context.figures / "grasp_forces.png").exists()
    assert study.largest_spike(fake_series(spike=1.0)) == pytest.approx(1.0 / 7.605)
    assert study.largest_spike(fake_series(spike=1.0, at=100)) == pytest.approx(0, abs=1e-9), "only while it is held"


def fake_series(spike=0.0, at=190):
    grasp_client, eipc = importlib.import_module("grasp_client"), importlib.import_module("eipc")
    lift = eipc.Trajectory([1.5, 3.0], [eipc.Pose(), eipc.Pose([0, 0, 0.12])])
    task = importlib.import_module("grasp_task").GraspTask("teddy", 7.605, {("left", "finger"): lift}, 1.5, 3.0, 4.0, 3.5, 4.0)
    observations = []
    for step in range(201):
        time = 0.02 * step
        pose = eipc.Pose([0, 0, 0.12 * np.clip((time - 1.5) / 1.5, 0, 1)])
        wrench = eipc.ContactWrench("teddy", "left", np.array([0, 10.0, 1.5]),
                                    np.array([0, 0, 6.0 + (spike if step == at else 0.0)]), np.zeros(3), np.zeros(3))
        report = eipc.SolverReport(eipc.Outcome.CONVERGED, 4, 4, 0, 1.0, 0.0, 0.0, 0.001, 0.0, {})
        body = eipc.BodyObservation("teddy", pose, None, None, None, None)
        observations.append(eipc.Observation(step, time, {"teddy": body}, {("teddy", "left"): wrench},
                                             eipc.ContactCounts(1, 2), 1e-4, None, report, {}))
    return grasp_client.GraspSeries(task, importlib.import_module("grasp_recording").Recording(observations, {}), "0123456789abcdef", 1e-3)
