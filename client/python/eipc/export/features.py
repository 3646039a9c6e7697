"""What of an episode goes into a data set, by default, and with what names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Sequence

import numpy as np

from ..episode import Episode
from ..errors import EpisodeError
from ..shown import brief


@brief
@dataclass(frozen=True, eq=False)
class Feature:
    """values [T+1,n], before the first step and after each, with a name for each of the n numbers."""

    values: np.ndarray
    names: Sequence[str]


Features = Callable[[Episode], Mapping[str, Feature]]
# What environments for LeRobot observe (eipc.envs.lerobot), and what it calls them.
_KEPT = {"agent_pos": "observation.state", "environment_state": "observation.environment_state", "observation": "observation.state"}


def default_features(episode: Episode) -> dict[str, Feature]:
    """Episodes of environments: what the policy observed. Others: `observation.state`, where the driven frames are, and
    `observation.environment_state`, pose, velocity and contact force of each body that moves."""
    if episode.kept:
        return {_KEPT.get(name, f"observation.{name}"): _flat(name, values) for name, values in episode.kept.items()}
    state: list[tuple[str, np.ndarray]] = []
    for f, frame in enumerate(episode["frame_names"].tolist()):
        label = ".".join(part for part in frame if part)
        state += _named(label, "xyz", episode["frame_position_m"][:, f]) + _named(f"{label}.q", "wxyz", episode["frame_orientation_wxyz"][:, f])
    environment: list[tuple[str, np.ndarray]] = []
    pairs, force = episode["wrench_pairs"].tolist(), episode["normal_force_n"] + episode["friction_force_n"]
    for b, body in enumerate(episode.bodies):
        if episode.cage(body).shape[1] == 0:
            continue
        on = force[:, [i for i, pair in enumerate(pairs) if pair[0] == body]].sum(axis=1)
        environment += _named(body, "xyz", episode["position_m"][:, b]) + _named(f"{body}.q", "wxyz", episode["orientation_wxyz"][:, b])
        environment += _named(f"{body}.v", "xyz", episode["linear_velocity_m_s"][:, b]) + _named(f"{body}.f", "xyz", on)
    found = {"observation.state": state, "observation.environment_state": environment}
    return {name: Feature(np.stack([column for _, column in columns], axis=1), [label for label, _ in columns])
            for name, columns in found.items() if columns}


def action_feature(episode: Episode) -> Feature:
    """values [T,n]: what each step was commanded."""
    action = episode["action"]
    if action.shape[1] == 0:
        raise EpisodeError(f"{episode.path.name} has no actions: step with targets=, trajectories= or drives=, or give action=")
    return Feature(action, [name.replace("/", ".") for name in episode.action_names] or [f"action_{k}" for k in range(action.shape[1])])


def _named(label: str, parts: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [(f"{label}.{part}", values[:, k]) for k, part in enumerate(parts)]


def _flat(name: str, values: np.ndarray) -> Feature:
    flat = values.reshape(len(values), -1)
    return Feature(flat, [f"{name}_{k}" for k in range(flat.shape[1])])
