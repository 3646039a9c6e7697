"""Policies over the observation "state" of the grasping environments, for many worlds at once, kept in files of NumPy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Union

import numpy as np

from ..durable import write_durably
from ..errors import EpisodeError

# Of the 26 numbers of "state": the gripper's command, the object's place from its middle, the force of each finger, the rise. Turn and
# velocity of the object are left out: a grasp that is slow can do without.
SEEN = np.array([0, 1, 2, 3, 4, 5, 6, 19, 20, 21, 22, 23, 24, 25])
# What is large of each: shares of ranges, m, N, m.
SCALE = np.array([1, 1, 1, 1, 0.01, 0.01, 0.02, 4, 4, 4, 4, 4, 4, 0.05])
ACTIONS = 4
VARIABLE = "EIPC_POLICY"


class VectorPolicy(Protocol):
    """What acts in all worlds of a vector environment."""

    def actions(self, observations: np.ndarray) -> np.ndarray:
        """[W,26] -> [W,4] in [-1, 1]."""
        ...


def features(observations: np.ndarray) -> np.ndarray:
    """[W,14] in about [-1, 1], of observations [W,26]."""
    return np.tanh(np.asarray(observations, dtype=np.float64)[:, SEEN] / SCALE)


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """weights [W,4,15]: one policy a world, or [1,4,15] the same for all; the last column is the offset."""

    weights: np.ndarray

    PARAMETERS = ACTIONS * (len(SEEN) + 1)

    def __repr__(self) -> str:
        return f"LinearPolicy({len(self.weights)} of {self.PARAMETERS} parameters)"

    @classmethod
    def of(cls, parameters: np.ndarray) -> "LinearPolicy":
        """parameters [60] or [W,60]."""
        return cls(np.asarray(parameters, dtype=np.float64).reshape(-1, ACTIONS, len(SEEN) + 1))

    def actions(self, observations: np.ndarray) -> np.ndarray:
        seen = features(observations)
        seen = np.concatenate([seen, np.ones((len(seen), 1))], axis=1)
        # Sums by NumPy itself, not by a BLAS whose bits depend on the machine; in one order, however the weights lie in memory.
        return np.tanh(np.multiply(self.weights, seen[:, None, :], order="C").sum(axis=2))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        write_durably(Path(path), lambda file: np.savez(file, kind=np.array("linear"), weights=self.weights))


@dataclass(frozen=True, eq=False)
class NetworkPolicy:
    """Layers (weights [m,n], offsets [n]) with tanh between them and at the end."""

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]

    def __repr__(self) -> str:
        return "NetworkPolicy(" + " -> ".join(str(n) for n in (len(self.layers[0][0]), *(len(b) for _, b in self.layers))) + ")"

    def actions(self, observations: np.ndarray) -> np.ndarray:
        values = features(observations)
        for weights, offsets in self.layers:
            values = np.tanh(values @ weights + offsets)
        return np.asarray(values)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        arrays = {f"{name}_{k}": array for k, layer in enumerate(self.layers) for name, array in zip(("weights", "offsets"), layer)}
        write_durably(Path(path), lambda file: np.savez(file, kind=np.array("network"), **arrays))


def load(path: Union[str, "os.PathLike[str]"]) -> Union[LinearPolicy, NetworkPolicy]:
    """What save() wrote. Raises EpisodeError."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        if str(arrays["kind"]) == "linear":
            return LinearPolicy(arrays["weights"])
        count = sum(name.startswith("weights_") for name in arrays)
        return NetworkPolicy(tuple((arrays[f"weights_{k}"], arrays[f"offsets_{k}"]) for k in range(count)))
    except FileNotFoundError:
        raise EpisodeError(f"{path}: there is no such file") from None
    except Exception as error:  # zipfile, zlib and NumPy each have their own for a damaged file
        raise EpisodeError(f"{path}: holds no learned policy ({error})") from error


class Saved:
    """The policy in the file that EIPC_POLICY names: `eipc evaluate --policy eipc.learn.policies:Saved`."""

    def __init__(self) -> None:
        named = os.environ.get(VARIABLE)
        if not named:
            raise EpisodeError(f"{VARIABLE} must name the file of a learned policy")
        self._policy = load(named)

    def __repr__(self) -> str:
        return f"Saved({self._policy!r})"

    def act(self, observation: Any) -> np.ndarray:
        return self._policy.actions(np.asarray(observation)[None])[0]
