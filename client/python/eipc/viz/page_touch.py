"""What surfaces and materials feel, in the form in which the viewer's page shows it (docs/reference/viewer_recording.md)."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ..observation import Observation

Arrays = dict[str, np.ndarray]


def touch_arrays(observations: Sequence[Observation], wrench_pairs: np.ndarray) -> Arrays:
    """Arrays over T + 1 observations of tractions, stresses and slips, of those that were observed in all of them.

    wrench_pairs: [P,2] names, whose order slips follow. Add them to the arrays of an episode before its page is written."""
    out: Arrays = {}
    for b, name in enumerate(observations[0].bodies):
        out.update(_traction_arrays(observations, b, name))
        stresses = [seen.bodies[name].von_mises for seen in observations]
        if all(stress is not None and len(stress) > 0 for stress in stresses):
            out[f"von_mises_pa_{b}"] = np.array(stresses, dtype=np.float32)
    if any(seen.slips for seen in observations):
        out.update(_slip_arrays(observations, wrench_pairs))
    return out


def _traction_arrays(observations: Sequence[Observation], b: int, name: str) -> Arrays:
    seen = [one.bodies[name].contact_tractions for one in observations]
    felt = [one for one in seen if one is not None]
    if len(felt) != len(seen):
        return {}
    slips = [one.slip_velocity for one in felt if one.slip_velocity is not None]
    speeds = [np.linalg.norm(slip, axis=1) for slip in slips] if len(slips) == len(felt) else None
    return {
        **({} if speeds is None else {f"slip_speed_m_s_{b}": np.concatenate(speeds).astype(np.float32)}),
        f"traction_begin_{b}": np.concatenate([[0], np.cumsum([len(one.vertices) for one in felt])]).astype(np.uint32),
        f"traction_vertices_{b}": np.concatenate([one.vertices for one in felt]).astype(np.uint32),
        f"normal_traction_pa_{b}": np.concatenate([one.pressure for one in felt]).astype(np.float32),
        f"friction_traction_pa_{b}": np.concatenate([np.linalg.norm(one.friction_traction, axis=1) for one in felt]).astype(np.float32),
    }


def _slip_arrays(observations: Sequence[Observation], wrench_pairs: np.ndarray) -> Arrays:
    """NaN where a pair does not touch."""
    speed = np.full((len(observations), len(wrench_pairs)), np.nan, dtype=np.float32)
    sticking = speed.copy()
    column = {tuple(pair): k for k, pair in enumerate(wrench_pairs.tolist())}
    for sample, seen in enumerate(observations):
        for pair, slip in seen.slips.items():
            if pair in column:
                speed[sample, column[pair]], sticking[sample, column[pair]] = np.linalg.norm(slip.velocity), slip.sticking
    return {"slip_m_s": speed, "sticking": sticking}
