"""Checks any vector environment against Gymnasium's contract, with and without Gymnasium installed."""

from __future__ import annotations

from typing import Any, Optional

from . import checks
from .checks import Trial, VectorEnvError

__all__ = ["VectorEnvError", "check_vector_env"]


def check_vector_env(env: Any, seed: int = 123, steps: int = 50, other: Optional[Any] = None) -> dict[str, int]:
    """Raises VectorEnvError, whose message says what is wrong and where, unless the environment keeps the contract.

    env: a vector environment that is not used otherwise; it is reset and stepped, not closed. steps: of random actions; give
    as many as an episode may take, or autoreset is not checked. other: a second one made with the same arguments, for the check
    that equal seeds give equal results in another instance; default: the same one again.

    Checked are: attributes and spaces; shapes and types of observations, rewards, terminations, truncations; that
    observations lie in their space and belong to the caller; `info` and its masks; that worlds differ, and that seeds
    decide all that follows; autoreset as metadata["autoreset_mode"] says it, partial resets included; rendering. Returns
    what was seen: {"steps", "episodes", "terminations", "truncations"}.
    """
    checks.attributes(env)
    trial = Trial(env)
    checks.first_reset(trial, seed)
    checks.worlds_differ(trial, seed)
    seen = checks.stepping(trial, seed, steps)
    checks.reproducible(trial, Trial(env if other is None else other), seed, min(steps, 10))
    if trial.mode == "DISABLED":
        checks.partial_reset(trial, seed)
    checks.rendering(trial)
    return seen
