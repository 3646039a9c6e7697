"""Behaviour cloning: a network that does what demonstrations did where they were (Pomerleau 1989). With PyTorch where it is installed,
else with the same network and the same steps of Adam in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Optional

import numpy as np

from ..episode import Episode
from ..errors import EpisodeError
from .policies import ACTIONS, NetworkPolicy, features

_Layers = list[tuple[np.ndarray, np.ndarray]]
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015)


@dataclass(frozen=True)
class CloningSettings:
    """hidden: sizes of the layers between. epochs: passes over the demonstrations. batch: samples of a step. rate: of Adam. torch:
    whether PyTorch does it; None: where it is installed."""

    hidden: tuple[int, ...] = (64, 64)
    epochs: int = 60
    batch: int = 256
    rate: float = 3e-3
    torch: Optional[bool] = None


def demonstrations(episodes: Iterable[Episode], successful: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Observations [n,26] and actions [n,4] of recorded episodes of an environment that observed "state". successful: leave others
    out. Raises EpisodeError when there are none."""
    seen, done = [], []
    for episode in episodes:
        if successful and not episode.success:
            continue
        state = next((episode.kept[name] for name in ("observation", "state", "environment_state") if name in episode.kept), None)
        if state is None or state.shape[1:] != (26,) or episode["action"].shape[1] != ACTIONS:
            raise EpisodeError(f"{episode.path.name} holds no \"state\" that a policy observed: record it from an environment")
        seen.append(state[:-1])
        done.append(episode["action"])
    if not seen:
        raise EpisodeError("there are no successful demonstrations to learn from")
    return np.concatenate(seen), np.concatenate(done)


def clone(observations: np.ndarray, actions: np.ndarray, seed: int = 0,
          settings: CloningSettings = CloningSettings()) -> tuple[NetworkPolicy, list[float]]:
    """Returns the policy and the mean squared error after every epoch. observations [n,26], actions [n,4] in [-1, 1]."""
    inputs, wanted = features(observations), np.clip(np.asarray(actions, dtype=np.float64), -1, 1)
    random = np.random.default_rng(seed)
    layers = _started([inputs.shape[1], *settings.hidden, wanted.shape[1]], random)
    orders = [random.permutation(len(inputs)) for _ in range(settings.epochs)]
    fit = _fit_torch if (_has_torch() if settings.torch is None else settings.torch) else _fit
    layers, losses = fit(layers, inputs, wanted, orders, settings)
    return NetworkPolicy(tuple(layers)), losses


def _started(sizes: list[int], random: np.random.Generator) -> _Layers:
    """Weights of Glorot and Bengio (2010)."""
    return [(random.uniform(-1, 1, (m, n)) * np.sqrt(6 / (m + n)), np.zeros(n)) for m, n in zip(sizes, sizes[1:])]


def _has_torch() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch is not None


def _fit(layers: _Layers, inputs: np.ndarray, wanted: np.ndarray, orders: list[np.ndarray], settings: CloningSettings) -> tuple[_Layers, list[float]]:
    parameters = [array for layer in layers for array in layer]
    first, second = [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters]
    losses, count = [], 0
    for order in orders:
        for begin in range(0, len(order), settings.batch):
            chosen = order[begin:begin + settings.batch]
            count += 1
            for p, gradient, m, v in zip(parameters, _gradients(layers, inputs[chosen], wanted[chosen]), first, second):
                m += (1 - _FIRST) * (gradient - m)
                v += (1 - _SECOND) * (gradient**2 - v)
                p -= settings.rate * (m / (1 - _FIRST**count)) / (np.sqrt(v / (1 - _SECOND**count)) + _TINY)
        losses.append(float(((_forward(layers, inputs)[-1] - wanted)**2).mean()))
    return layers, losses


def _forward(layers: _Layers, inputs: np.ndarray) -> list[np.ndarray]:
    """The values of every layer, the inputs first."""
    values = [inputs]
    for weights, offsets in layers:
        values.append(np.tanh(values[-1] @ weights + offsets))
    return values


def _gradients(layers: _Layers, inputs: np.ndarray, wanted: np.ndarray) -> list[np.ndarray]:
    """Of the mean squared error by all weights and offsets, in the order of the layers."""
    values = _forward(layers, inputs)
    back = 2 * (values[-1] - wanted) / wanted.size
    out: list[np.ndarray] = []
    for (weights, _), before, after in zip(reversed(layers), reversed(values[:-1]), reversed(values[1:])):
        back = back * (1 - after**2)
        out = [before.T @ back, back.sum(axis=0), *out]
        back = back @ weights.T
    return out


def _fit_torch(layers: _Layers, inputs: np.ndarray, wanted: np.ndarray, orders: list[np.ndarray],
               settings: CloningSettings) -> tuple[_Layers, list[float]]:
    import torch
    parameters = [torch.tensor(array, requires_grad=True) for layer in layers for array in layer]
    x, y = torch.tensor(inputs), torch.tensor(wanted)

    def error(chosen: slice | np.ndarray) -> torch.Tensor:
        values = x[chosen]
        for weights, offsets in zip(parameters[::2], parameters[1::2]):
            values = torch.tanh(values @ weights + offsets)
        return ((values - y[chosen])**2).mean()

    optimizer = torch.optim.Adam(parameters, lr=settings.rate, betas=(_FIRST, _SECOND), eps=_TINY)
    losses = []
    for order in orders:
        for begin in range(0, len(order), settings.batch):
            optimizer.zero_grad()
            error(order[begin:begin + settings.batch]).backward()
            optimizer.step()
        with torch.no_grad():
            losses.append(float(error(slice(None))))
    found = [parameter.detach().numpy() for parameter in parameters]
    return list(zip(found[::2], found[1::2])), losses
