"""Evaluations of the small grasp against the real server. Skips when the server has not been built."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from awaiting import wait_until

import eipc
from eipc.cli.__main__ import main
from eipc.farm import EvaluationError, Plan, Results
from eipc.farm import worker as worker_module
from eipc.farm.report import compare

SCENE = "small_grasp:environment"


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary) as server:
        yield server


@pytest.fixture
def evaluate(server, tmp_path, monkeypatch, server_binary):
    """Runs the command on the server; returns its exit status and the folder."""
    monkeypatch.setenv("EIPC_SERVER", str(server_binary))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))

    def evaluate(policy, episodes=4, folder="out", *options):
        out = tmp_path / folder
        options = options or ("--server", server.address)
        return main(["evaluate", "--policy", f"farm_policies:{policy}", "--scenes", SCENE, "--episodes", str(episodes), "--out", str(out),
                         *options]), out

    return evaluate


def report_of(folder):
    return json.loads((folder / "report.json").read_text())


def digests(folder):
    results = Results(folder)
    return [results.get(index).digest for index in range(results.plan.count)]


def test_every_episode_has_a_result_and_the_report_counts_them(evaluate, capsys):
    status, folder = evaluate("GraspEvenSeeds")
    report = report_of(folder)
    assert status == 0 and report["complete"] and report["problems"] == []
    results = [Results(folder).get(k) for k in range(4)]
    assert [r.seed for r in results] == [0, 1, 2, 3] and [r.outcome for r in results] == ["success", "failure"] * 2
    assert all(r.steps == len(r.actions) == len(r.digests) - 1 and r.build and r.scene_name for r in results)
    assert len({r.digest for r in results}) == 4
    assert report["all"]["successes"] == 2 and report["all"]["rate_95"] == pytest.approx([0.1500, 0.8500], abs=1e-4)
    rows = list(csv.DictReader(open(folder / "report.csv")))
    assert [row["outcome"] for row in rows] == [r.outcome for r in results] and rows[0]["digest"] == results[0].digest
    page = (folder / "report.html").read_text()
    assert "50.0 %" in page and "data:image/png;base64," in page
    assert "4 of 4 episodes" in capsys.readouterr().out


def test_an_evaluation_goes_on_where_it_was_cut_off(evaluate):
    _, whole = evaluate("Grasp", 4, "whole")
    _, cut = evaluate("Grasp", 4, "cut")
    kept = (cut / "episodes/000000.json").stat().st_mtime_ns
    for index in (1, 3):
        (cut / f"episodes/{index:06d}.json").unlink()
    status, _ = evaluate("Grasp", 4, "cut")
    assert status == 0 and digests(cut) == digests(whole)
    assert (cut / "episodes/000000.json").stat().st_mtime_ns == kept


def test_workers_of_their_own_servers_agree_with_one_and_survive_being_killed(evaluate, tmp_path, monkeypatch, capfd):
    _, undisturbed = evaluate("Grasp", 4, "undisturbed")
    monkeypatch.setenv("EIPC_TEST_ONCE", str(tmp_path / "once"))
    status, folder = evaluate("EndsOnce", 4, "killed", "--workers", "2")
    assert (tmp_path / "once").exists() and "a worker was lost in episode 2" in capfd.readouterr().err
    assert status == 0 and digests(folder) == digests(undisturbed)


def test_workers_are_started_once(evaluate, capfd):
    status, folder = evaluate("ReadsInput", 12, "out", "--workers", "2", "--episode-timeout", "20")
    assert status == 0 and Results(folder).finished() == set(range(12)) and report_of(folder)["problems"] == []
    assert len(list((folder / "logs").iterdir())) == 2


def test_a_worker_ends_with_its_input(evaluate, server, tmp_path):
    """Which ends when the evaluation is killed: what the worker was given before is done."""
    Plan.make("farm_policies:Grasp", [SCENE], 5).write(tmp_path)
    worker = subprocess.Popen([sys.executable, "-m", "eipc.farm.worker", tmp_path, "--cases", "0", "--more", "--server", server.address],
                              stdin=subprocess.PIPE, bufsize=0)
    wait_until(lambda: Results(tmp_path).finished() == {0}, "the first case is done")
    worker.stdin.write(b"2,3\n")
    wait_until(lambda: Results(tmp_path).finished() == {0, 2, 3}, "more cases are done")
    assert worker.poll() is None
    worker.stdin.write(b"1\n")
    worker.stdin.close()
    assert worker.wait(60) == 0 and Results(tmp_path).finished() == {0, 1, 2, 3}


def test_a_policy_that_throws_is_named_and_not_counted(evaluate):
    status, folder = evaluate("Throws", 3)
    report = report_of(folder)
    assert status == 1 and report["all"]["errors"] == 1 and report["all"]["episodes"] == 2
    assert report["problems"] == [f"{SCENE}, seed 1: the policy failed in act() at step 2: RuntimeError: no grasp is known "
                                  "(farm_policies.py:34)"]


@pytest.mark.parametrize("policy, words", [
    ("hangs", "the episode took longer than 1 s (does the policy hang?)"),
    ("two_numbers", "the policy's action of step 0 has shape (2,), and must have (4,)"),
    ("ends", "the worker ended 3 times in this episode: (exit status 3)")])
def test_what_a_policy_does_to_its_episode_is_named(evaluate, server, policy, words):
    limit = ["--episode-timeout", "1"] if policy == "hangs" else []
    status, folder = evaluate(policy, 1, "out", "--server", server.address, *limit)
    assert status == 1 and words in report_of(folder)["problems"][0] and report_of(folder)["all"]["episodes"] == 0


@pytest.mark.parametrize("policy, words", [("nothing", "has no 'nothing'"), ("np", "has act(observation)")])
def test_a_policy_that_is_none_ends_the_evaluation(evaluate, capfd, policy, words):
    status, folder = evaluate(policy, 1)
    assert status == 2 and words in capfd.readouterr().err and Results(folder).finished() == set()


def damage(path, how):
    if how == "truncated":
        path.write_bytes(path.read_bytes()[:200])
    else:
        path.write_text(path.read_text().replace('"outcome": "failure"', '"outcome": "success"'))


@pytest.mark.parametrize("how", ["truncated", "changed"])
def test_damaged_results_are_named_and_run_again(evaluate, how, capfd):
    _, folder = evaluate("GraspEvenSeeds", 2)
    before = digests(folder)
    damage(folder / "episodes/000001.json", how)
    found = compare(Results(folder), Results(folder))
    assert found["pairs"] == 1 and "000001.json" in found["problems"][0]
    status, _ = evaluate("GraspEvenSeeds", 2)
    assert status == 0 and "000001.json" in capfd.readouterr().err
    assert digests(folder) == before and report_of(folder)["run_again"] == ["000001.damaged"]
    assert "000001.damaged" in (folder / "report.html").read_text()


def test_a_server_of_another_build_is_refused(evaluate, capfd):
    _, folder = evaluate("Grasp", 2)
    (folder / "build.json").write_text('{"build": "of-yesterday"}')
    (folder / "episodes/000001.json").unlink()
    status, _ = evaluate("Grasp", 2)
    words = capfd.readouterr().err
    assert status == 2 and "this evaluation is of build of-yesterday" in words
    assert not (folder / "episodes/000001.json").exists()
    assert main(["verify", str(folder), "--server", "unused:1"]) == 2


def test_a_full_disk_is_named_and_leaves_no_result(evaluate, server, monkeypatch, capsys, tmp_path):
    Plan.make("farm_policies:Grasp", [SCENE], 1).write(tmp_path)

    def full(handle):
        raise OSError(28, "No space left on device")

    results = Results(tmp_path)
    with eipc.connect(server.address) as client:
        results.agree_on_build(client.server_info().build)
    monkeypatch.setattr(worker_module.Results, "agree_on_build", lambda self, build: None)
    monkeypatch.setattr(os, "fsync", full)
    status = worker_module.main([str(tmp_path), "--cases", "0", "--server", server.address])
    assert status == worker_module.CANNOT and "No space left on device" in capsys.readouterr().err
    assert results.finished() == set() and [path.name for path in (tmp_path / "episodes").iterdir()] == ["000000.begun"]


def test_no_server_is_no_fault_of_an_episode(evaluate, capsys, monkeypatch, tmp_path):
    Plan.make("farm_policies:Grasp", [SCENE], 1).write(tmp_path)
    monkeypatch.setattr(worker_module, "_CONNECT_S", 0.1)
    assert worker_module.main([str(tmp_path), "--cases", "0", "--server", "127.0.0.1:1"]) == worker_module.NO_SERVER
    assert "127.0.0.1:1 was lost" in capsys.readouterr().err and Results(tmp_path).finished() == set()


def test_verify_runs_episodes_again_and_finds_a_state_that_differs(evaluate, server, capsys):
    _, folder = evaluate("Grasp", 3)
    assert main(["verify", "--sample", "2", str(folder / "report.json"), "--server", server.address]) == 0
    assert "2 of 2 episodes have the same states" in capsys.readouterr().out
    results = Results(folder)
    other, = [results.get(1)]
    actions = [list(action) for action in other.actions]
    actions[3][0] = -1.0
    results.path(1).unlink()
    results.put(type(other)(**{**other.__dict__, "actions": tuple(actions)}))
    assert main(["verify", str(folder), "--server", server.address]) == 1
    printed = capsys.readouterr().out
    assert f"episode 1 ({SCENE}, seed 1): differs from state 4 on" in printed and "2 of 3" in printed


def test_two_policies_are_compared_on_the_same_seeds(evaluate, capsys, tmp_path):
    _, first = evaluate("GraspEvenSeeds", 6, "first")
    _, second = evaluate("Grasp", 6, "second")
    capsys.readouterr()
    assert main(["compare", str(first), str(second)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["pairs"], found["both"], found["only_first"], found["only_second"]) == (6, 3, 0, 3)
    assert found["rate_difference"] == 0.5 and found["mcnemar_p"] == 0.25
    assert main(["compare", str(first), str(second), "--out", str(tmp_path / "both")]) == 0
    found = json.loads((tmp_path / "both/comparison.json").read_text())
    assert [rate["successes"] for rate in found["rates"]] == [3, 6] and found["scenes"][0]["only_second"] == 3
    page = (tmp_path / "both/comparison.html").read_text()
    assert "50.0 %" in page and "p = 0.25" in page and "<svg" in page
    rows = list(csv.DictReader(open(tmp_path / "both/comparison.csv")))
    assert len(rows) == 6 and {row["second_succeeds"] for row in rows} == {"True"}


def test_another_evaluation_in_the_folder_is_not_touched(evaluate, capfd):
    _, folder = evaluate("Grasp", 1)
    status, _ = evaluate("Grasp", 2)
    assert status == 2 and "holds another evaluation: episodes differ" in capfd.readouterr().err


def test_results_in_another_scene_do_not_count(evaluate):
    _, folder = evaluate("Grasp", 2)
    results = Results(folder)
    other = results.get(1)
    results.path(1).unlink()
    results.put(type(other)(**{**other.__dict__, "scene_name": "scenes/other"}))
    found = compare(results, results)
    assert found["pairs"] == 1 and "another scene" in found["problems"][0]


@pytest.mark.parametrize("scene, options, words", [
    ("models/no_such_thing", {}, "is neither an environment nor a scene file"), ("none.textproto", {}, "cannot read scene none.textproto"),
    ("eipc/Grasp-v0", {"randomize": "ranges { body: 'a' }"}, "environments draw their starts themselves"),
    ("eipc/Grasp-v0", {"randomize": "ranges { boddy: 'a' }"}, "no ranges of starts"),
    ("eipc/Grasp-v0", {"randomize": "nowhere.txt"}, "nowhere.txt cannot be read")])
def test_what_is_no_scene_is_refused(scene, options, words):
    with pytest.raises(EvaluationError, match=words):
        Plan.make("m", [scene], 1, **options)


@pytest.mark.parametrize("python, words", [(None, "holds no evaluation"), ("/nowhere/python3", "name another with EIPC_PYTHON")])
def test_the_program_has_these_commands(eipc_binary, tmp_path, python, words):
    environment = {**os.environ, **({"EIPC_PYTHON": python} if python else {})}
    environment.pop("PYTHONPATH", None)  # it finds the package by itself
    done = subprocess.run([str(eipc_binary), "compare", str(tmp_path), str(tmp_path)], env=environment, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and words in done.stderr
