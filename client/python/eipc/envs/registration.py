"""Environments by their ids, with and without Gymnasium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from ..client import Client
from . import gym_api
from .grasp_task import bubble_grasp
from .object_task import lift_object
from .plate_task import plate_in_rack
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
    Registered("eipc/Lift-v0", lift_object, 100, ("mesh", "mesh_scale", "cage_vertices", "gripper_scale", "density_kg_m3", "youngs_modulus_pa", "friction")),
    Registered("eipc/PlateInRack-v0", plate_in_rack, 200),
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


def task_of(id: str, **options: Any) -> Callable[[Client], Task]:
    """What makes the task of an id on a server, for an EipcVectorEnv of one's own. Raises ValueError for an unknown id."""
    entry = _entry(id)
    return lambda client: entry.task(client, **options)


def register() -> None:
    """Registers the ids with Gymnasium, where it is installed."""
    if gym_api.gymnasium is None:
        return
    for entry in REGISTRY.values():
        if entry.id not in gym_api.gymnasium.registry:
            gym_api.gymnasium.register(entry.id, entry_point=f"{__name__}:single_env", vector_entry_point=f"{__name__}:vector_env",
                                       max_episode_steps=entry.max_episode_steps, kwargs={"eipc_id": entry.id})


def single_env(eipc_id: str, **options: Any) -> EipcEnv:
    """make() without a limit, for gymnasium.make, which truncates by itself."""
    return _single(_entry(eipc_id), 0, options)


def vector_env(eipc_id: str, **options: Any) -> EipcVectorEnv:
    """make_vec(), for gymnasium.make_vec, whose own first argument is called id."""
    return make_vec(eipc_id, **options)


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
