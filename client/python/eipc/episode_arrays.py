"""Names and types of the arrays of an episode (docs/reference/episodes.md lists them), and what is read from several of them."""

from __future__ import annotations

from typing import Any, Collection, Mapping

import numpy as np

from .geometry import UNIT_WITHIN
from .solver_report import Outcome, StepReceipt

WRENCH_PARTS = ("normal_force_n", "friction_force_n", "normal_moment_nm", "friction_moment_nm")
RECEIPT_FIGURES: Mapping[str, Any] = {
    "first_step": np.int64, "step": np.int64, "min_distance_m": float, "min_ccd_fraction": float, "residual_m_s": float,
    "target_error_m": float, "newton_iterations": np.int32, "missed_targets": np.int32, "inverted_elements": np.int64}
DRIVE_FIGURES: Mapping[str, Any] = {"commanded": float, "position_m": float, "velocity_m_s": float, "effort_n": float, "saturated": bool,
                                    "blocked": bool}

Arrays = dict[str, np.ndarray]


def receipts_of(arrays: Arrays, scene: str, build: str) -> list[StepReceipt]:
    """The receipts of an episode's steps."""
    columns = {name: arrays[f"receipt_{name}"].tolist() for name in RECEIPT_FIGURES}
    digests, outcomes = arrays["state_digest"][1:].tolist(), arrays["receipt_outcome"].tolist()
    return [StepReceipt(scene=scene, build=build, state_digest=digest.decode(), outcome=Outcome(outcome),
                        **{name: column[t] for name, column in columns.items()})
            for t, (digest, outcome) in enumerate(zip(digests, outcomes))]


def names_array(names: Collection[Any]) -> np.ndarray:
    return np.array(list(names), dtype=np.str_)


def pair_names_array(pairs: Collection[tuple[str, str]]) -> np.ndarray:
    return names_array(pairs).reshape(-1, 2)


def unit_quaternions(quaternions: np.ndarray) -> np.ndarray:
    """[...,4] w x y z, as eipc.Pose has them, to the bit: of length 1, w not negative, no rotation where all are zero."""
    q = np.array(quaternions)
    q[~q.any(axis=-1)] = (1.0, 0.0, 0.0, 0.0)
    norm = np.sqrt((q[..., None, :] @ q[..., :, None])[..., 0])  # the same sums as np.linalg.norm of one
    q = q / np.where(abs(norm - 1) > UNIT_WITHIN, norm, 1.0)
    return q * np.where(q[..., :1] < 0, -1.0, 1.0)
