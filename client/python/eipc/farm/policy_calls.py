"""Calls of the user's policy: whatever it raises is an error of the episode, said with its place."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any, Callable

from .policy import Policy


class PolicyError(Exception):
    """The policy failed, or asked for what cannot be done; the message says where."""


def begin(policy: Policy, seed: int) -> None:
    """Raises PolicyError."""
    reset: Any = getattr(policy, "reset", None)
    if reset is not None:
        _guarded(lambda: reset(seed), "in reset()")


def act(policy: Policy, observation: Any, step: int) -> Any:
    """Raises PolicyError."""
    return _guarded(lambda: policy.act(observation), f"in act() at step {step}")


def _guarded(call: Callable[[], Any], where: str) -> Any:
    try:
        return call()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        raise PolicyError(f"the policy failed {where}: {type(error).__name__}: {error}{place}") from error
