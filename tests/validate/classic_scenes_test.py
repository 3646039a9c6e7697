#!/usr/bin/python3
"""The classic scenes that take a second or two, through the same checks as `./dev validate guarantee`."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from classic_runs import energy_rise, read_classes, run_scene  # noqa: E402
from classic_scenes import SCENES, Outcome  # noqa: E402
from eipc_cli import EipcCli, default_cli  # noqa: E402
from random_grasps import run_grasp  # noqa: E402
from study_guarantee import WITHOUT_CCD_SETTINGS, scene_records  # noqa: E402

STEP_S = 0.02
QUICK = ("spike_spike", "spike_wedge", "spike_hole", "wedge_wedge_parallel", "wedge_wedge_crossed", "wedge_crack", "cliff_falls",
         "cliff_stays", "cubes_edge_to_edge", "needle_through_sieve", "mass_ratio_1e6", "stiff_on_soft", "crushed_block", "fast_slider")


class ClassicScenesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.cli = EipcCli(default_cli())
        self.by_name = {scene.name: scene for scene in SCENES}
        scratch = tempfile.TemporaryDirectory(prefix="eipc-classic-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_every_scene_is_classified(self) -> None:
        self.assertEqual(set(read_classes()), set(self.by_name))

    def test_quick_scenes_move_as_they_must_without_intersections(self) -> None:
        classes = read_classes()
        for name in QUICK:
            outcome = run_scene(self.cli, self.by_name[name], STEP_S, self.folder)
            failed = [r for r in scene_records(self.by_name[name], STEP_S, outcome, classes[name]) if not r.passed]
            self.assertEqual(failed, [], name)

    def test_energy_may_rise_only_while_drives_move(self) -> None:
        time = np.arange(1, 11) * 0.1
        flat = np.zeros(10)
        steps = {"time_s": time, "kinetic_j": flat, "gravity_j": flat, "barrier_j": flat, "barrier_stiffness": flat + 1, "next_barrier_stiffness": flat + 1}
        driven = Outcome({}, {**steps, "elastic_j": np.array([0, 1, 2, 3, 4, 4, 4, 4, 4, 4.0])})
        self.assertEqual(energy_rise(driven), 1.0)
        self.assertEqual(energy_rise(driven, (0.5, 1.0)), 0.0)
        rising = Outcome({}, {**steps, "elastic_j": np.array([0, 1, 2, 3, 4, 4, 4, 4.4, 4, 4.0])})
        self.assertAlmostEqual(energy_rise(rising, (0.5, 1.0)), 0.4 / 4.4)

    def test_the_audit_notices_when_nothing_stops_bodies(self) -> None:
        outcome = run_scene(self.cli, self.by_name["spike_spike"], STEP_S, self.folder, WITHOUT_CCD_SETTINGS)
        self.assertGreater(outcome.report["audit"]["intersections"], 0)
        self.assertEqual(outcome.report["exit_status"], 1)

    def test_random_grasps_are_sound(self) -> None:
        for seed in (0, 1, 2, 5):
            self.assertEqual(run_grasp(self.cli, seed, self.folder).failure, "", f"seed {seed}")


if __name__ == "__main__":
    unittest.main()
