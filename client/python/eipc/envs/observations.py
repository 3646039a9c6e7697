"""What environments observe: one vector, or a dictionary of groups of arrays, all with the world as first axis."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np

from . import gym_api
from .keypoints import Keypoints
from .stacked import WorldArrays
from .task import Episodes, Task

Groups = Union[str, Sequence[str], Mapping[str, str]]
_Reader = Callable[[WorldArrays, Episodes], np.ndarray]


class Observations:
    """Makes observations and knows their space.

    Groups: "state" [26] (Task.features), "gripper" [4] its command, "poses" [B,7] m and quaternions of the bodies `bodies`,
    "velocities" [B,6], "wrenches" [P,4,3] of the pairs `pairs` (WorldArrays.wrench), "contact_forces" [P,3] N, "contacts"
    [P,2] counts, "cage" [n,3] m of the object, "keypoints" [K,3] m on its surface.
    """

    def __init__(self, task: Task, groups: Groups, keypoints: int = 16) -> None:
        """groups: the name of one that is the whole observation, or several for a dictionary, or {key: group} for other keys.
        Raises ValueError."""
        self.task, self.groups = task, groups
        self.bodies, self.pairs = task.layout.bodies, task.layout.pairs
        listed = [groups] if isinstance(groups, str) else list(groups)
        names = dict(groups) if isinstance(groups, Mapping) else dict(zip(listed, listed))
        if not names or len(names) != len(listed):
            raise ValueError(f"observations are {groups!r}; name each group once, and at least one")
        self._keypoints = Keypoints(keypoints)
        readers = self._readers()
        unknown = [name for name in names.values() if name not in readers]
        if unknown:
            raise ValueError(f"no group of observations is called {unknown[0]!r}; there are " + ", ".join(readers))
        self._needed = set(names.values())
        self._chosen = {key: readers[name] for key, name in names.items()}

    @property
    def cages(self) -> tuple[str, ...]:
        """Bodies whose cages are needed."""
        return (self.task.held,) if {"cage", "keypoints"} & self._needed else ()

    def __repr__(self) -> str:
        return f"Observations({self.groups!r} of {self.task!r})"

    def prepare(self, worlds: Any) -> None:
        """Finds the keypoints of worlds that are at the scene's start."""
        if "keypoints" in self._needed:
            self._keypoints.find(worlds, self.task.held)

    def read(self, state: WorldArrays, episodes: Episodes) -> Any:
        """The observation of all worlds, in arrays of its own."""
        arrays = {name: read(state, episodes) for name, read in self._chosen.items()}
        return arrays[self.groups] if isinstance(self.groups, str) else arrays

    def space(self, state: WorldArrays, episodes: Episodes) -> Any:
        """Of one world, from the shapes of a state of any number of worlds."""
        boxes = {name: _box(read(state, episodes)) for name, read in self._chosen.items()}
        return boxes[self.groups] if isinstance(self.groups, str) else gym_api.Dict(boxes)

    def _readers(self) -> dict[str, _Reader]:
        def poses(state: WorldArrays, _: Episodes) -> np.ndarray:
            return np.concatenate([state.position, state.orientation], axis=2).astype(np.float32)

        return {
            "state": self.task.features,
            "gripper": lambda _, episodes: episodes.commands.astype(np.float32),
            "poses": poses,
            "velocities": lambda state, _: state.velocity.astype(np.float32),
            "wrenches": lambda state, _: state.wrench.astype(np.float32),
            "contact_forces": lambda state, _: state.wrench[:, :, :2].sum(axis=2).astype(np.float32),
            "contacts": lambda state, _: state.contacts.copy(),
            "cage": lambda state, _: state.cage[self.task.held].astype(np.float32),
            "keypoints": lambda state, _: self._keypoints.positions(state.cage[self.task.held]).astype(np.float32),
        }


def _box(array: np.ndarray) -> Any:
    if array.dtype.kind == "i":
        return gym_api.Box(0, np.iinfo(array.dtype).max, shape=array.shape[1:], dtype=array.dtype)
    return gym_api.Box(-np.inf, np.inf, shape=array.shape[1:], dtype=array.dtype)


def row(observation: Any, world: int) -> Any:
    """The observation of one world, out of those of all."""
    if isinstance(observation, dict):
        return {name: array[world] for name, array in observation.items()}
    return observation[world]
