"""What environments are made of: Gymnasium's classes where it is installed, ours with the same interface where it is not."""

from __future__ import annotations

import enum
from typing import Any, Optional

import numpy as np

from . import spaces as own_spaces

try:
    import gymnasium as gymnasium  # for the modules that import it from here
except ImportError:
    gymnasium = None


class _AutoresetMode(enum.Enum):
    """When a vector environment resets the worlds whose episode is over."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


class _Environment:
    """What single and vector environments have in common: attributes, a seeded generator, and `with` blocks."""

    metadata: dict[str, Any] = {}
    render_mode: Optional[str] = None
    spec: Any = None
    _np_random: Optional[np.random.Generator] = None
    _np_random_seed: Optional[int] = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(render_mode={self.render_mode!r})"

    @property
    def unwrapped(self) -> Any:
        return self

    @property
    def np_random(self) -> np.random.Generator:
        if self._np_random is None:
            self._np_random, self._np_random_seed = generator()
        return self._np_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._np_random, self._np_random_seed = value, -1

    @property
    def np_random_seed(self) -> Optional[int]:
        self.np_random
        return self._np_random_seed

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Nothing to end."""


class _VectorEnvironment(_Environment):
    closed = False

    def close(self, **options: Any) -> None:
        """Ends it; further calls do nothing."""
        if not self.closed:
            self.close_extras(**options)
            self.closed = True

    def close_extras(self) -> None:
        """What an environment has to end."""


if gymnasium is None:
    Env: Any = _Environment
    VectorEnv: Any = _VectorEnvironment
    AutoresetMode: Any = _AutoresetMode
    Box, Dict, batch_space = own_spaces.Box, own_spaces.Dict, own_spaces.batch_space
else:
    import gymnasium.vector.utils

    Env, VectorEnv, AutoresetMode = gymnasium.Env, gymnasium.vector.VectorEnv, gymnasium.vector.AutoresetMode
    Box, Dict, batch_space = gymnasium.spaces.Box, gymnasium.spaces.Dict, gymnasium.vector.utils.batch_space


def autoreset_mode(mode: Any) -> Any:
    """The mode of its member, name or value: AutoresetMode.SAME_STEP, "SAME_STEP" or "SameStep". Raises ValueError."""
    for member in AutoresetMode:
        if mode in (member, member.name, member.value):
            return member
    raise ValueError(f"autoreset_mode is {mode!r}; it is one of " + ", ".join(member.name for member in AutoresetMode))


def generator(seed: Optional[int] = None) -> tuple[np.random.Generator, int]:
    """A generator of random numbers, as Gymnasium seeds it, and its seed. Raises ValueError for what is no seed."""
    if seed is not None and not (isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0):
        raise ValueError(f"a seed is a whole number >= 0, not {seed!r}")
    sequence = np.random.SeedSequence(None if seed is None else int(seed))
    return np.random.Generator(np.random.PCG64(sequence)), int(sequence.entropy)  # type: ignore[arg-type]  # of one number
