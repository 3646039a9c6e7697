"""Runs episodes of environments and of scene files on one server, or on a farm of them."""

from __future__ import annotations

import importlib
from typing import Any, Protocol, Sequence, Union

import numpy as np

from ..client import Client
from .errors import EvaluationError
from .plan import Case
from .policy import Policy
from .policy_calls import PolicyError, act, begin
from .results import ERROR, FAILURE, SUCCESS, Result, Results
from .scene_files import is_scene_file, kept, read_randomize
from .scene_runner import OneServer, OnFarm, SceneRunner
from .server_farm import Farm


class Runner(Protocol):
    """Episodes of one scene, one after the other. moves: how often it has gone on on another server, or on its own after that ended."""

    @property
    def address(self) -> str: ...

    @property
    def moves(self) -> int: ...

    def run(self, case: Case, policy: Policy) -> Result: ...

    def repeat(self, result: Result) -> tuple[str, ...]:
        """The digests of the states that the episode's actions lead to now."""

    def close(self) -> None: ...


def make_runner(scene: str, servers: Union[Client, Farm], results: Results) -> Runner:
    """Raises EvaluationError for a scene that nothing can be evaluated in."""
    plan = results.plan
    if is_scene_file(scene):
        message = kept(results.folder, scene, plan.scene_hashes[scene])
        world: Union[OnFarm, OneServer] = OnFarm(message, servers) if isinstance(servers, Farm) else OneServer(message, servers)
        return SceneRunner(message, world, plan.max_steps, read_randomize(plan.randomize))
    return EnvironmentRunner(_environment(scene, servers, plan.max_steps))


def _environment(scene: str, servers: Union[Client, Farm], max_steps: int) -> Any:
    """scene: an id of eipc.envs, or MODULE:NAME of a function that makes an environment, given server= and max_episode_steps=."""
    limit = {"max_episode_steps": max_steps} if max_steps else {}
    module, _, name = scene.partition(":")
    try:
        if name:
            env = getattr(importlib.import_module(module), name)(server=servers, **limit)
        else:
            from .. import envs  # imported when it is needed: it may bring Gymnasium along
            env = envs.registration.make(scene, server=servers, **limit)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise EvaluationError(f"the environment {scene} cannot be made: {type(error).__name__}: {error}") from error
    if not hasattr(env, "vector"):
        raise EvaluationError(f"{scene} makes a {type(env).__name__}, not an eipc.envs.EipcEnv")
    return env


class EnvironmentRunner:
    """Episodes of an environment: success as its info says."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._build = self._worlds.connection.client.server_info().build

    def __repr__(self) -> str:
        return f"EnvironmentRunner({self._env!r})"

    def run(self, case: Case, policy: Policy) -> Result:
        observation, info = self._env.reset(seed=case.seed)
        actions: list[list[float]] = []
        digests, total, over = [str(info["state_digest"])], 0.0, False
        try:
            begin(policy, case.seed)
            while not over:
                action = _numbers(act(policy, observation, len(actions)), self._env.action_space.shape, len(actions))
                observation, reward, terminated, truncated, info = self._env.step(action)
                actions.append(action.tolist())
                digests.append(str(info["state_digest"]))
                total, over = total + reward, terminated or truncated
            outcome = ERROR if info["failed"] else SUCCESS if info["is_success"] else FAILURE
            reason = f"the simulation failed: {info.get('failure')}" if info["failed"] else ""
        except PolicyError as error:
            outcome, reason = ERROR, str(error)
        return Result(case.index, case.scene, case.seed, outcome, reason, total, len(actions), _figures(info), tuple(actions),
                      tuple(digests), self._worlds.scene.name, self._build)

    def repeat(self, result: Result) -> tuple[str, ...]:
        _, info = self._env.reset(seed=result.seed)
        digests = [str(info["state_digest"])]
        for action in result.actions:
            digests.append(str(self._env.step(np.asarray(action))[4]["state_digest"]))
        return tuple(digests)

    def close(self) -> None:
        self._env.close()

    @property
    def address(self) -> str:
        return str(self._worlds.connection.client.address)

    @property
    def moves(self) -> int:
        return int(self._worlds.restarts)

    @property
    def _worlds(self) -> Any:
        return self._env.vector.worlds


def _numbers(action: Any, shape: Sequence[int], step: int) -> np.ndarray:
    try:
        numbers = np.asarray(action, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"the policy's action of step {step} is no array of numbers: {error}") from None
    if numbers.shape != tuple(shape):
        raise PolicyError(f"the policy's action of step {step} has shape {numbers.shape}, and must have {tuple(shape)}")
    if not np.isfinite(numbers).all():
        raise PolicyError(f"the policy's action of step {step} is not finite: {numbers.tolist()}")
    return numbers


def _figures(info: dict[str, Any]) -> dict[str, Any]:
    left_out = {"state_digest", "failed", "failure"}
    return {name: np.asarray(value).item() for name, value in info.items()
            if name not in left_out and not name.startswith("_") and np.asarray(value).ndim == 0}
