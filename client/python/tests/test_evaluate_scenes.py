"""Evaluations of scene files against the real server. Skips when the server has not been built."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import text_format

import eipc
from eipc.cli.__main__ import main
from eipc.farm import EvaluationError, Plan, Results
from eipc.v1 import geometry_pb2, scene_pb2
from small_grasp import scene


def with_goals():
    message = scene()
    message.schedule.dt_s, message.schedule.duration_s = 0.02, 0.8
    lifted = message.goals.add(name="lifted", body="cube")
    lifted.position.region.CopyFrom(scene_pb2.Box(min_m=geometry_pb2.Vec3(x=-1, y=-1, z=0.045), max_m=geometry_pb2.Vec3(x=1, y=1, z=1)))
    upright = message.goals.add(name="upright", body="cube", from_s=0.4)
    upright.direction.CopyFrom(scene_pb2.DirectionGoal(axis=geometry_pb2.Vec3(z=1), direction=geometry_pb2.Vec3(z=1), tolerance_rad=0.3))
    # Worst at its first step, since the cube starts above the ground.
    down = message.goals.add(name="down", body="cube", from_s=0.02)
    down.position.region.CopyFrom(scene_pb2.Box(min_m=geometry_pb2.Vec3(x=-1, y=-1), max_m=geometry_pb2.Vec3(x=1, y=1, z=0.02)))
    down.position.tolerance_m = 0.1
    slow = message.goals.add(name="slow", body="cube")
    slow.speed.tolerance_m_s = 0.5
    return message


@pytest.fixture(scope="module")
def servers(server_binary):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(eipc.launch(server_binary)) for _ in range(2)]


@pytest.fixture
def scene_file(tmp_path):
    path = tmp_path / "grasp.textproto"
    path.write_text(text_format.MessageToString(with_goals()))
    return path


@pytest.fixture
def evaluate(servers, scene_file, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))

    def evaluate(policy="Squeeze", *options, folder="out", episodes=2):
        out = tmp_path / folder
        return main(["evaluate", "--policy", f"scene_policies:{policy}", "--scenes", str(scene_file), "--episodes", str(episodes), "--out",
                         str(out), "--server", servers[0].address, *options]), out

    return evaluate


def test_success_is_that_every_goal_is_reached(evaluate, scene_file):
    status, folder = evaluate(episodes=4)
    results = [Results(folder).get(k) for k in range(4)]
    assert status == 0 and [r.outcome for r in results] == ["success", "failure"] * 2
    assert results[1].figures["goals"]["lifted"]["reached"] is False and results[1].figures["goals"]["upright"]["reached"] is True
    assert all(r.steps == 40 and len(set(r.digests)) == 41 and r.receipt["min_distance_m"] > 0 for r in results)
    report = json.loads((folder / "report.json").read_text())
    assert {(row["goal"], row["reached"], row["episodes"]) for row in report["goals"]} == {("lifted", 2, 4), ("upright", 4, 4), ("down", 4, 4),
                                                                                        ("slow", 4, 4)}
    assert report["servers"][0]["episodes"] == 4 and report["servers"][0]["actions"] == 160
    assert list(report["scene_hashes"]) == [str(scene_file)]
    page = (folder / "report.html").read_text()
    assert "lifted" in page and report["servers"][0]["server"] in page


def test_goals_are_judged_as_eipc_run_judges_them(server_binary, eipc_binary, scene_file, tmp_path):
    """With nobody commanding; the plates stay, and the cube falls to the ground."""
    (tmp_path / "still.py").write_text("def policy(seen):\n    return None\n")
    out = tmp_path / "still"
    environment = {**os.environ, "PYTHONPATH": f"{Path(eipc.__file__).parents[1]}:{tmp_path}", "EIPC_SERVER": str(server_binary)}
    subprocess.run([sys.executable, "-m", "eipc.cli", "evaluate", "--policy", "still", "--scenes", str(scene_file), "--episodes", "1", "--out",
                    str(out), "--workers", "1"], env=environment, check=False, capture_output=True)
    mine = Results(out).get(0).figures["goals"]
    run = subprocess.run([str(eipc_binary), "run", str(scene_file), "--report", str(tmp_path / "report.json")], capture_output=True, text=True,
                         check=False)
    theirs = json.loads((tmp_path / "report.json").read_text())["goals"]
    assert run.returncode == 0 and mine == theirs


def test_a_lost_server_leaves_the_episode_as_it_was(evaluate, servers, server_binary, tmp_path, scene_file):
    _, undisturbed = evaluate("Squeeze", folder="undisturbed", episodes=1)
    expected = Results(undisturbed).get(0)
    from eipc.farm import Farm
    from eipc.farm.farm_session import FarmSession
    from eipc.farm.policy import load_policy
    from eipc.farm.runner import make_runner

    with contextlib.ExitStack() as stack:
        two = [stack.enter_context(eipc.launch(server_binary)) for _ in range(2)]
        farm = stack.enter_context(Farm([server.address for server in two]))
        results = Results(undisturbed)
        runner = make_runner(str(scene_file), farm, results)
        sent, send = [0], FarmSession.send

        def killing(session, request):
            sent[0] += 1
            if sent[0] == 25:
                victim = next(server for server in two if server.address == session.address)
                victim.process.kill()
                victim.process.wait()
            return send(session, request)

        stack.enter_context(pytest.MonkeyPatch.context()).setattr(FarmSession, "send", killing)
        found = runner.run(results.plan.case(0), load_policy("scene_policies:Squeeze"))
        assert found.digests == expected.digests and found.outcome == expected.outcome and runner.moves == 1


def test_verify_needs_neither_the_file_nor_the_policy(evaluate, servers, scene_file, capsys):
    _, folder = evaluate("NegativeZero")
    scene_file.unlink()
    assert main(["verify", str(folder), "--server", servers[1].address]) == 0
    assert "2 of 2 episodes have the same states" in capsys.readouterr().out
    kept, = (folder / "scenes").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert main(["verify", str(folder), "--server", servers[1].address]) == 1
    assert "does not match its checksum" in capsys.readouterr().out


def test_starts_are_drawn_with_the_seed(evaluate, servers, capsys):
    ranges = 'ranges { body: "cube" translation_min_m { x: -0.004 } translation_max_m { x: 0.004 } }'
    _, drawn = evaluate("Squeeze", "--randomize", ranges, episodes=3)
    _, again = evaluate("Squeeze", "--randomize", ranges.replace(": ", ":"), folder="again", episodes=3)
    first = [Results(drawn).get(k).digests for k in range(3)]
    assert len({digests[0] for digests in first}) == 3 and first == [Results(again).get(k).digests for k in range(3)]
    assert main(["verify", str(drawn), "--server", servers[1].address]) == 0


def test_materials_are_drawn_with_the_seed(evaluate, servers):
    ranges = 'materials { body: "cube" youngs_modulus_pa { min: 0.5 max: 2 factor: true } }'  # and no starts
    _, plain = evaluate("Squeeze", folder="plain", episodes=3)
    _, drawn = evaluate("Squeeze", "--randomize", ranges, episodes=3)
    first = [Results(drawn).get(k).digests for k in range(3)]
    assert len({digests[0] for digests in first} | {Results(plain).get(0).digests[0]}) == 4
    assert main(["verify", str(drawn), "--server", servers[1].address]) == 0


@pytest.mark.parametrize("policy, words", [("number", "is a float; it is None or a mapping with targets"), ("unknown_command", "has 'forces'"),
                                           ("unknown_body", "was refused")])
def test_commands_that_are_none_are_named(evaluate, policy, words):
    status, folder = evaluate(policy, episodes=1)
    assert status == 1 and words in json.loads((folder / "report.json").read_text())["problems"][0]


@pytest.mark.parametrize("clear, words", [("goals", "declares no goals"), ("schedule", "schedule.dt_s is missing")])
def test_scenes_that_cannot_be_judged_are_refused(tmp_path, clear, words):
    message = with_goals()
    message.ClearField(clear)
    (tmp_path / "s.textproto").write_text(text_format.MessageToString(message))
    with pytest.raises(EvaluationError, match=words):
        Plan.make("m", [str(tmp_path / "s.textproto")], 1)
