"""The policy that is evaluated: anything of the user's with act(observation)."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from typing import Any, Callable, Protocol

from .errors import EvaluationError


class Policy(Protocol):
    """act: what to do, given what an environment observes (or, of a scene file, an eipc.Observation). reset, optional: an episode with
    this seed begins. A policy that draws random numbers draws them from the seed, or its episodes cannot be repeated."""

    def act(self, observation: Any) -> Any: ...


class _Function:
    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.act = function


def load_policy(name: str) -> Policy:
    """The policy MODULE[:NAME], by default NAME is `policy`: an object with act(), a class or function without arguments that makes
    one, or a function of one argument that is the policy itself. The working directory is on the path. Raises EvaluationError."""
    module_name, _, attribute = name.partition(":")
    attribute = attribute or "policy"
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and module_name.split(".")[0] == error.name.split(".")[0]:
            raise EvaluationError(f"no module is called {module_name!r}; run this from its folder, or set PYTHONPATH") from None
        raise EvaluationError(f"the module {module_name!r} cannot be imported: {error}") from error
    except Exception as error:
        raise EvaluationError(f"the module {module_name!r} cannot be imported: {type(error).__name__}: {error}") from error
    try:
        found = getattr(module, attribute)
    except AttributeError:
        raise EvaluationError(f"the module {module_name!r} has no {attribute!r}; name what there is: {module_name}:NAME") from None
    return _policy_of(found, name)


def _policy_of(found: Any, name: str) -> Policy:
    if not inspect.isclass(found) and callable(getattr(found, "act", None)):
        return found
    if not callable(found):
        raise EvaluationError(f"{name} is a {type(found).__name__}: a policy has act(observation)")
    if not inspect.isclass(found) and _arguments(found) == 1:
        return _Function(found)
    try:
        made = found()
    except Exception as error:
        raise EvaluationError(f"{name}() cannot be made: {type(error).__name__}: {error}") from error
    if not callable(getattr(made, "act", None)):
        raise EvaluationError(f"{name}() is a {type(made).__name__} without act(observation)")
    return made


def _arguments(function: Callable[..., Any]) -> int:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)
