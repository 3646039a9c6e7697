"""Environments by their ids, with and without Gymnasium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from ..client import Client
from . import gym_api
from .grasp_task import bubble_grasp
from .single_env import EipcEnv
from .task import Task
from .vector_env import EipcVectorEnv


@dataclass(frozen=True)
class Registered:
    """What an id stands for. task: makes it on a server; further keyword arguments of make() are its options."""

    id: str
    task: Callable[..., Task]
    max_episode_steps: int
    options: tuple[str, ...] = ()


REGISTRY: Mapping[str, Registered] = {entry.id: entry for entry in (
    Registered("eipc/Grasp-v0", bubble_grasp, 100),
)}


def make(id: str, max_episode_steps: Optional[int] = None, **options: Any) -> EipcEnv:
    """The environment of an id, truncated by itself. options: of the task, and those of EipcVectorEnv but num_envs and
    autoreset_mode. Raises ValueError for an unknown id."""
    entry = _entry(id)
    return _single(entry, entry.max_episode_steps if max_episode_steps is None else max_episode_steps, options)


def make_vec(id: str, num_envs: int = 1, max_episode_steps: Optional[int] = None, **options: Any) -> EipcVectorEnv:
    """num_envs worlds of the environment of an id, in one session. options: of the task, and those of EipcVectorEnv. Raises
    ValueError for an unknown id."""
    entry = _entry(id)
    task, rest = _split(entry, options)
    limit = entry.max_episode_steps if max_episode_steps is None else max_episode_steps
    return EipcVectorEnv(task, num_envs, max_episode_steps=limit, **rest)


def register() -> None:
    """Tells Gymnasium of the ids, where it is installed."""
    if gym_api.gymnasium is None:
        return
    for entry in REGISTRY.values():
        if entry.id not in gym_api.gymnasium.registry:
            gym_api.gymnasium.register(entry.id, entry_point=_SingleOf(entry.id), vector_entry_point=_VectorOf(entry.id),
                                       max_episode_steps=entry.max_episode_steps)


class _SingleOf:
    """Makes single environments for gymnasium.make, which truncates them itself."""

    def __init__(self, id: str) -> None:
        self.id = id

    def __call__(self, **options: Any) -> EipcEnv:
        return _single(_entry(self.id), 0, options)


class _VectorOf:
    """Makes vector environments for gymnasium.make_vec, which leaves it to them to truncate."""

    def __init__(self, id: str) -> None:
        self.id = id

    def __call__(self, **options: Any) -> EipcVectorEnv:
        return make_vec(self.id, **options)


def _single(entry: Registered, limit: int, options: Mapping[str, Any]) -> EipcEnv:
    task, rest = _split(entry, options)
    return EipcEnv(task, max_episode_steps=limit, **rest)


def _split(entry: Registered, options: Mapping[str, Any]) -> tuple[Callable[[Client], Task], dict[str, Any]]:
    """The task with its options, and the other options."""
    of_task = {key: value for key, value in options.items() if key in entry.options}
    rest = {key: value for key, value in options.items() if key not in entry.options}
    return (lambda client: entry.task(client, **of_task)), rest


def _entry(id: str) -> Registered:
    if id not in REGISTRY:
        raise ValueError(f"no environment is called {id!r}; there are " + ", ".join(REGISTRY))
    return REGISTRY[id]
