"""Writes recorded episodes as a data set in robomimic's HDF5 layout. Needs h5py (docs/howto/datasets.md)."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from .durable import PART
from .episode import Episode
from .errors import EpisodeError

# robomimic's number for environments of Gym's kind.
_GYM_TYPE = 2

Observations = Mapping[str, np.ndarray]


def default_observations(episode: Episode) -> dict[str, np.ndarray]:
    """Pose, velocity and contact force of each body that moves, and pose of each driven frame; [T+1,3] or [T+1,4] each."""
    out: dict[str, np.ndarray] = {}
    pairs, force = episode["wrench_pairs"].tolist(), episode["normal_force_n"] + episode["friction_force_n"]
    for b, name in enumerate(episode.bodies):
        if episode.cage(name).shape[1] == 0:
            continue
        out[f"{name}_position"], out[f"{name}_orientation_wxyz"] = episode["position_m"][:, b], episode["orientation_wxyz"][:, b]
        out[f"{name}_velocity"] = episode["linear_velocity_m_s"][:, b]
        out[f"{name}_contact_force"] = force[:, [i for i, pair in enumerate(pairs) if pair[0] == name]].sum(axis=1)
    for f, frame in enumerate(episode["frame_names"].tolist()):
        name = "_".join(part for part in frame if part) + "_frame"
        out[f"{name}_position"], out[f"{name}_orientation_wxyz"] = episode["frame_position_m"][:, f], episode["frame_orientation_wxyz"][:, f]
    return out


def write_hdf5(path: Union[str, "os.PathLike[str]"], episodes: Iterable[Episode], env_name: str = "eipc",
               env_kwargs: Optional[Mapping[str, Any]] = None, valid: float = 0.0,
               observations: Callable[[Episode], Observations] = default_observations) -> None:
    """Writes the episodes, in order, as data/demo_0, data/demo_1 and so on.

    env_name, env_kwargs: with what an environment of the policy is made, for data.attrs["env_args"]. valid: share of the
    episodes under mask/valid, the others under mask/train; 0: no masks. observations: of an episode, arrays [T+1,...] by
    name, the same names and sizes for all. Actions are scaled to [-1, 1], column by column, over the data set;
    data.attrs["action_low"] and ["action_high"] undo it. An existing file is replaced when the new one is whole.
    Raises EpisodeError.
    """
    h5py = _h5py()
    taken = list(episodes)
    if not taken:
        raise EpisodeError(f"{path}: there are no episodes to write")
    if not 0 <= valid < 1:
        raise EpisodeError(f"valid must be in [0, 1), got {valid}")
    low, high = _action_range(taken)
    scratch = Path(str(path) + PART)
    try:
        with h5py.File(scratch, "w") as file:
            data = file.create_group("data")
            data.attrs.update(total=sum(episode.steps for episode in taken), action_low=low, action_high=high)
            data.attrs["env_args"] = json.dumps({"env_name": env_name, "env_type": _GYM_TYPE, "env_kwargs": dict(env_kwargs or {})})
            shapes: dict[str, tuple[int, ...]] = {}
            for number, episode in enumerate(taken):
                seen = _checked(episode, observations(episode), shapes)
                _write_demo(data.create_group(f"demo_{number}"), episode, seen, scaled(episode["action"], low, high))
            _write_masks(file, taken, valid)
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def scaled(action: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Actions [...,A] with [low, high] mapped to [-1, 1]; columns of one value to 0."""
    width = np.where(high > low, high - low, 1.0)
    return np.where(high > low, np.clip(2 * (action - low) / width - 1, -1, 1), 0.0)


def unscaled(action: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The commands that a policy's actions in [-1, 1] mean."""
    return low + (np.asarray(action) + 1) * (high - low) / 2


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise EpisodeError("writing HDF5 needs h5py, which is not installed: apt-get install python3-h5py, or pip install h5py") from error
    return h5py


def _action_range(episodes: Sequence[Episode]) -> tuple[np.ndarray, np.ndarray]:
    first = episodes[0]
    columns = first["action"].shape[1]
    for episode in episodes:
        if episode["action"].shape[1] != columns or episode.action_names != first.action_names:
            raise EpisodeError(f"{episode.path.name} has actions {episode.action_names or episode['action'].shape[1]}, {first.path.name} "
                               f"{first.action_names or columns}: the episodes of a data set have actions of one form")
    if columns == 0:
        raise EpisodeError("the episodes have no actions: step with targets=, trajectories= or drives=, or give action=")
    together = np.concatenate([episode["action"] for episode in episodes])
    return together.min(axis=0), together.max(axis=0)


def _checked(episode: Episode, seen: Observations, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Names without slashes, which would make groups; of the form that the first episode had, which is left in `shapes`."""
    out = {name.replace("/", "_"): np.asarray(values) for name, values in seen.items()}
    if len(out) != len(seen) or not all(out):
        raise EpisodeError(f"{episode.path.name}: names of observations are empty, or equal once '/' is '_': {', '.join(seen)}")
    for name, values in out.items():
        if values.ndim == 0 or len(values) != episode.steps + 1 or not np.isfinite(values).all():
            raise EpisodeError(f"{episode.path.name}: observation '{name}' must have {episode.steps + 1} finite rows, got {values.shape}")
    form = {name: values.shape[1:] for name, values in out.items()}
    if shapes and shapes != form:
        odd = sorted(name for name in {*form, *shapes} if form.get(name) != shapes.get(name))
        raise EpisodeError(f"{episode.path.name}: observations {', '.join(odd)} differ from those of the first episode")
    shapes.update(form)
    return out


def _write_demo(group: Any, episode: Episode, seen: Observations, actions: np.ndarray) -> None:
    group.attrs["num_samples"] = episode.steps
    group.attrs["scene"], group.attrs["task"] = episode.scene_name, episode.task
    for name, value in (("seed", episode.seed), ("success", episode.success)):
        if value is not None:
            group.attrs[name] = value
    group["states"] = np.concatenate([episode.cage(body)[:-1].reshape(episode.steps, -1) for body in episode.bodies], axis=1)
    group["actions"], group["rewards"], group["dones"] = actions, episode["reward"], episode["done"].astype(np.int64)
    for name, values in seen.items():
        group[f"obs/{name}"], group[f"next_obs/{name}"] = values[:-1], values[1:]


def _write_masks(file: Any, episodes: Sequence[Episode], valid: float) -> None:
    masks = {"success": [number for number, episode in enumerate(episodes) if episode.success]}
    if valid:
        held = [number for number in range(len(episodes)) if math.floor((number + 1) * valid) > math.floor(number * valid)]
        masks.update(valid=held, train=sorted({*range(len(episodes))} - {*held}))
    for name, numbers in masks.items():
        if numbers:
            file[f"mask/{name}"] = np.array([f"demo_{number}".encode() for number in numbers])
