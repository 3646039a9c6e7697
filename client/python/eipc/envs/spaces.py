"""Spaces of actions and observations with Gymnasium's interface, for where Gymnasium is not installed."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike


class Space:
    """A set of values that can be drawn from and tested for membership. shape and dtype are None for composed spaces."""

    def __init__(self, shape: Optional[Sequence[int]] = None, dtype: Optional[DTypeLike] = None, seed: Optional[int] = None) -> None:
        self.shape = None if shape is None else tuple(int(n) for n in shape)
        self.dtype = None if dtype is None else np.dtype(dtype)
        self._np_random: Optional[np.random.Generator] = None
        if seed is not None:
            self.seed(seed)

    @property
    def np_random(self) -> np.random.Generator:
        """The generator that samples come from; of entropy of the system until seed() was called."""
        if self._np_random is None:
            self._np_random = np.random.default_rng()
        return self._np_random

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape}, {self.dtype})"

    def seed(self, seed: Optional[int] = None) -> Any:
        """Equal seeds give equal samples. Returns the seed in use. Raises ValueError for what is no whole number >= 0."""
        if seed is not None and not (isinstance(seed, (int, np.integer)) and seed >= 0):
            raise ValueError(f"a seed is a whole number >= 0, not {seed!r}")
        sequence = np.random.SeedSequence(None if seed is None else int(seed))
        self._np_random = np.random.Generator(np.random.PCG64(sequence))
        return sequence.entropy

    def sample(self) -> Any:
        """A random member."""
        raise NotImplementedError

    def contains(self, x: Any) -> bool:
        """Whether x is a member."""
        raise NotImplementedError

    def __contains__(self, x: Any) -> bool:
        return self.contains(x)


class Box(Space):
    """Arrays of one shape between bounds, each of which may be infinite."""

    def __init__(self, low: ArrayLike, high: ArrayLike, shape: Optional[Sequence[int]] = None, dtype: DTypeLike = np.float32,
                 seed: Optional[int] = None) -> None:
        """low, high: numbers or arrays of `shape`, by default the shape that they have together. Raises ValueError."""
        if shape is None:
            shape = np.broadcast(np.asarray(low), np.asarray(high)).shape
        super().__init__(shape, dtype, seed)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape: tuple[int, ...] = tuple(int(n) for n in shape)
        self.low = np.broadcast_to(np.asarray(low), self.shape).astype(self.dtype)
        self.high = np.broadcast_to(np.asarray(high), self.shape).astype(self.dtype)
        if not (self.low <= self.high).all():
            raise ValueError("a box needs low <= high everywhere, and no NaN")
        self.bounded_below = np.isfinite(self.low)
        self.bounded_above = np.isfinite(self.high)

    def sample(self) -> np.ndarray:
        """Uniform between finite bounds, exponential from a single one, normal without any."""
        drawn = self._draw()
        if self.dtype.kind in "iu":
            drawn = np.floor(drawn)
        with np.errstate(over="ignore"):
            return np.clip(drawn.astype(self.dtype), self.low, self.high)

    def _draw(self) -> np.ndarray:
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        if self.dtype.kind in "iu":
            high = high + 1
        both = self.bounded_below & self.bounded_above
        drawn = self.np_random.normal(size=self.shape)
        share = self.np_random.uniform(size=self.shape)
        away = self.np_random.exponential(size=self.shape)
        drawn = np.where(self.bounded_below & ~both, low + away, drawn)
        drawn = np.where(self.bounded_above & ~both, high - away, drawn)
        low, high = np.where(both, low, 0), np.where(both, high, 0)
        return np.where(both, (1 - share) * low + share * high, drawn)

    def contains(self, x: Any) -> bool:
        """Arrays of this shape whose values can be stored here without loss; NaN is outside."""
        if not isinstance(x, np.ndarray):
            try:
                x = np.asarray(x, dtype=self.dtype)
            except (TypeError, ValueError):
                return False
        return bool(np.can_cast(x.dtype, self.dtype) and x.shape == self.shape and (x >= self.low).all() and (x <= self.high).all())

    def is_bounded(self, manner: str = "both") -> bool:
        """manner: "below", "above" or "both"."""
        below, above = bool(self.bounded_below.all()), bool(self.bounded_above.all())
        return {"below": below, "above": above, "both": below and above}[manner]

    def __eq__(self, other: Any) -> bool:
        return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype and
                np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        low, high = (f"{bound.flat[0]}" if bound.size and (bound == bound.flat[0]).all() else f"{bound}" for bound in (self.low, self.high))
        return f"Box({low}, {high}, {self.shape}, {self.dtype})"


class Dict(Space):
    """A value of each of some named spaces."""

    def __init__(self, spaces: Mapping[str, Space], seed: Optional[int] = None) -> None:
        super().__init__()
        self.spaces = dict(spaces)
        if seed is not None:
            self.seed(seed)

    def seed(self, seed: Optional[int] = None) -> dict[str, Any]:
        """Seeds every member with a number of its own that follows from `seed`."""
        super().seed(seed)
        numbers = self.np_random.integers(np.iinfo(np.int32).max, size=len(self.spaces))
        return {name: space.seed(int(number)) for (name, space), number in zip(self.spaces.items(), numbers)}

    def sample(self) -> dict[str, Any]:
        return {name: space.sample() for name, space in self.spaces.items()}

    def contains(self, x: Any) -> bool:
        return (isinstance(x, Mapping) and x.keys() == self.spaces.keys() and
                all(space.contains(x[name]) for name, space in self.spaces.items()))

    def __getitem__(self, name: str) -> Space:
        return self.spaces[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.spaces)

    def __len__(self) -> int:
        return len(self.spaces)

    def keys(self) -> Any:
        return self.spaces.keys()

    def values(self) -> Any:
        return self.spaces.values()

    def items(self) -> Any:
        return self.spaces.items()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Dict) and self.spaces == other.spaces

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Dict(" + ", ".join(f"{name!r}: {space}" for name, space in self.spaces.items()) + ")"


def batch_space(space: Space, n: int) -> Space:
    """The space of n values of a space, stacked along a new first axis."""
    if isinstance(space, Dict):
        return Dict({name: batch_space(member, n) for name, member in space.items()})
    if isinstance(space, Box):
        low, high = (np.repeat(bound[None], n, axis=0) for bound in (space.low, space.high))
        return Box(low, high, dtype=space.dtype)
    raise TypeError(f"no batch of {type(space).__name__} is known; use Box or Dict")
