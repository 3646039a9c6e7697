"""The recorded grasp as a page that plays it in a browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import eipc
from eipc.episode_columns import EpisodeColumns
from eipc.recorded_scene import RecordedScene
from eipc.viz.page import built_page, write_page
from eipc.viz.page_touch import touch_arrays


def write_grasp_page(path: Path, scene: eipc.Scene, observations: list[eipc.Observation]) -> Path:
    """Observations: of the start and of each step, with all that an episode keeps, surfaces and solver reports. Raises EpisodeError when
    the viewer's page was not built."""
    built_page()  # before the work
    known = RecordedScene.of(scene)
    reports = [seen.solver_report for seen in observations[1:]]
    columns = EpisodeColumns(observations[0].message, known.surfaces_kept())
    for seen in observations[1:]:
        columns.add(seen.message)
    # The demo asks for reports of the solver, not for receipts.
    arrays = {name: values for name, values in columns.arrays().items() if not name.startswith("receipt_") and name != "state_digest"}
    arrays.update(touch_arrays(observations, arrays["wrench_pairs"]))
    arrays["receipt_newton_iterations"] = np.array([report.newton_iterations for report in reports])
    arrays["receipt_outcome"] = np.where([report.converged for report in reports], 1, 2)
    times = np.array([report.wall_time_s for report in reports])
    if (times > 0).all():
        arrays["step_wall_s"] = times
    title = scene.summary.display_name or scene.name
    write_page(path, arrays, known, title, [("Scene", scene.name), ("Unknowns", str(scene.summary.unknowns))])
    return path
