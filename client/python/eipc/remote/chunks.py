"""Policies that answer with several actions at a time: how many of them are carried out before the policy is asked again."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from .errors import PolicyServerError


class ActionChunks:
    """Asks for chunks of actions and gives them out one by one."""

    def __init__(self, ask: Callable[[Any], np.ndarray], horizon: Optional[int] = None) -> None:
        """ask: observation -> actions [k,n], k >= 1. horizon: of these, how many are carried out; None: all."""
        if horizon is not None and horizon < 1:
            raise ValueError(f"horizon is {horizon}; it is at least 1")
        self._ask, self._horizon = ask, horizon
        self._left: list[np.ndarray] = []

    def __repr__(self) -> str:
        return f"ActionChunks({len(self._left)} actions left, horizon {self._horizon or 'all'})"

    def clear(self) -> None:
        """An episode begins: what is left is of the last one."""
        self._left = []

    def next(self, observation: Any) -> np.ndarray:
        """The next action [n]. Raises PolicyServerError for an answer that is no chunk of finite numbers."""
        if not self._left:
            chunk = np.asarray(self._ask(observation), dtype=np.float64)
            if chunk.ndim == 1:
                chunk = chunk[None]
            if chunk.ndim != 2 or len(chunk) == 0 or not np.isfinite(chunk).all():
                raise PolicyServerError(f"the policy server's actions have shape {chunk.shape} or are not finite; they are [steps, numbers]")
            self._left = list(chunk[:self._horizon])
        return self._left.pop(0)
