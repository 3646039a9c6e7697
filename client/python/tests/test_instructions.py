"""The guard of instruction counts on recorded figures, and its scenes on the real program when there is one."""

import importlib
import json

import numpy as np
import pytest

from conftest import REPOSITORY


@pytest.fixture
def counts(monkeypatch):
    for folder in ("bench", "support"):
        monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / folder))
    return importlib.import_module("count_instructions")


@pytest.fixture
def settled(counts):
    module = importlib.import_module("settled_bin")
    if not (REPOSITORY / "models" / "generated" / "manifest.json").exists():
        pytest.skip("the meshes have not been generated")
    return module


def test_any_scene_that_grows_beyond_the_limit_is_refused(counts):
    recorded = {"a": 1_000_000, "b": 2_000_000}
    assert counts.LARGEST_GROWTH == 0.02  # what ./dev says
    assert counts.compared(recorded, recorded)[1] and counts.compared({"a": 1_019_000, "b": 1_000_000}, recorded)[1]
    for grown in ({"a": 1_021_000, "b": 2_000_000}, {"a": 1_000_000, "b": 2_200_000}):
        lines, passed = counts.compared(grown, recorded)
        assert not passed and ["TOO MANY" in line for line in lines] == [grown[name] > recorded[name] for name in "ab"]
    lines, passed = counts.compared({"a": 1_000_000, "c": 1}, recorded)
    assert not passed and "c: 1 instructions, none recorded" in lines[1]


def test_every_scene_that_is_counted_has_a_figure(counts, settled, tmp_path):
    runs = counts.guarded(tmp_path)
    assert sorted(run.name for run in runs) == sorted(json.loads(counts.RECORDED.read_text())) and len(runs) == 4
    assert all(run.scene.is_file() for run in runs)


def test_the_stored_bin_is_at_rest(settled, counts, eipc_binary, tmp_path):
    from bin_scene import GRAVITY_M_S2
    from eipc_cli import EipcCli

    run = next(run for run in counts.guarded(tmp_path) if run.name.startswith("resting"))
    report = EipcCli(eipc_binary).run(run.scene, run.dt_s, duration_s=1.0, audit=True)
    assert report["audit"]["states_checked"] == report["steps"] and report["audit"]["intersections"] == 0
    assert report["steps_not_converged"] == 0 and report["contacts"]["mean"] > 9
    bodies = {name: body for name, body in report["bodies"].items() if name != "bin_0"}
    stored = json.loads(settled.PLACEMENTS.read_text())
    assert bodies.keys() == stored.keys() and len(stored) == settled.OBJECTS
    assert report["newton_iterations"]["mean"] < 2
    # What is held creeps at about the speed at which friction is smoothed, 1 mm/s; nothing falls or is pushed apart.
    for name, body in bodies.items():
        assert np.linalg.norm(np.subtract(body["position_m"], stored[name]["position_m"])) < 2e-3, name
    # The bin carries them all.
    carried = [force for pair, force in report["contact_forces"].items() if pair.endswith("/bin_0")]
    weight = GRAVITY_M_S2 * sum(body["mass_kg"] for body in bodies.values())
    assert sum(force["normal_n"][2] + force["friction_n"][2] for force in carried) == pytest.approx(weight, rel=0.02)
