"""What a step does to an oscillation of hω = θ, by the product's table of schemes, and the stability functions that it should have."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

import numpy as np

from paper_records import scheme_runs
from validation import Context

# Of z = iθ: what the states now and before contribute to the next one, u' = Σ c_j u_{-j}.
Step = Callable[[complex], Sequence[complex]]
# A general state and those before it.
STATES = (0.3 + 0.8j, -0.5 + 0.4j, 0.2 - 0.7j, 0.9 + 0.1j, -0.6 - 0.3j, 0.4 + 0.5j)


@dataclass(frozen=True)
class Method:
    """A scheme. step: its closed form, where q and v are treated alike; else trace, by θ: of a step's matrix in (q, v / ω), whose determinant is 1.
    modal: whether it takes the mode apart ("taken") or leaves it to its row ("left"), of exponential and additive ones."""

    scheme: str
    step: Optional[Step] = None
    trace: Optional[Callable[[float], float]] = None
    history: int = 0
    alpha: float = 0.5
    modal: str = ""
    limit: float = math.inf  # the greatest stable θ; 0: none is stable

    def request(self, theta: float, u: complex, past: Sequence[complex]) -> dict[str, Any]:
        """One step from u = q - i v of q' = v, v' = -q, so that u' = i u."""
        problem = {"kind": "modal", "taken": self.modal == "taken"} if self.modal else {"kind": "oscillator", "stiffness": 1.0}
        out: dict[str, Any] = {"problem": problem, "scheme": self.scheme, "alpha": self.alpha, "h": theta, "steps": 1, "q": u.real, "v": -u.imag}
        if self.history:
            out["past"] = [[w.real, -w.imag] for w in past]
        return out

    def run(self, context: Context, angles: Sequence[float], states: Sequence[complex]) -> np.ndarray:
        """The next state after `states`, the latest first, at each angle."""
        runs = scheme_runs(context, [self.request(float(t), complex(states[0]), [complex(w) for w in states[1:]]) for t in angles])
        return np.array([r["q"][-1] - 1j * r["v"][-1] for r in runs])

    def closed(self, theta: float) -> float:
        """Amplification in a step, of a method with a history by its greatest root."""
        return 1.0 if self.step is None else float(np.abs(np.roots([1, *(-c for c in self.step(1j * theta))])).max())

    def measured(self, context: Context, angles: np.ndarray) -> np.ndarray:
        """The same from the running code: √|det T| of a step's matrix, or the greatest root of its recurrence, each coefficient a step from one state."""
        units = np.eye(self.history + 1).astype(complex)
        if self.history:
            factors = np.stack([self.run(context, angles, unit) for unit in units], axis=1)
            return np.array([np.abs(np.roots([1, *-c])).max() for c in factors])
        return np.sqrt(np.abs(self._matrix(context, angles)[0]))

    def _matrix(self, context: Context, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Determinant and trace of a step's matrix, from the states after (q, v) = (1, 0) and (0, 1)."""
        q, v = self.run(context, angles, [1]), self.run(context, angles, [-1j])
        return -q.real * v.imag + q.imag * v.real, q.real - v.imag

    def error(self, context: Context, angles: np.ndarray) -> float:
        """Of a step from general states against the closed form, phase and all; without one of the matrix' determinant and trace."""
        if self.step is not None:
            states = STATES[:self.history + 1]
            expected = np.array([sum(c * u for c, u in zip(self.step(1j * float(t)), states)) for t in angles])
            return float(np.abs(self.run(context, angles, states) - expected).max())
        assert self.trace is not None
        det, trace = self._matrix(context, angles)
        return float(max(np.abs(det - 1).max(), np.abs(trace - [self.trace(float(t)) for t in angles]).max()))


def _one(factor: Callable[[complex], complex]) -> Step:
    return lambda z: (complex(factor(z)),)


def _two_stages(z: complex) -> complex:
    first = (1 + z / 4) / (1 - z / 4)
    return (1 + 4 / 3 * (first - 1)) / (1 - z / 3)


def _backward_difference(order: int) -> Step:
    """Σ_m ∇^m u / m = z u, m = 1 .. order."""
    alpha = np.zeros(order + 1)
    for m in range(1, order + 1):
        alpha[:m + 1] += np.array([(-1) ** j * math.comb(m, j) for j in range(m + 1)]) / m
    return lambda z: [complex(-a / (alpha[0] - z)) for a in alpha[1:]]


def _taylor(order: int) -> Step:
    return _one(lambda z: sum(z**k / math.factorial(k) for k in range(order + 1)))


def _hamilton_pontryagin(alpha: float) -> Callable[[float], float]:
    return lambda theta: 2 - theta**2 / (1 + alpha * (1 - alpha) * theta**2)


EULER, TURN, TRAPEZOIDAL, TWO_STAGES = _one(lambda z: 1 / (1 - z)), _one(cmath.exp), _one(lambda z: (1 + z / 2) / (1 - z / 2)), _one(_two_stages)
BDF2 = _backward_difference(2)


def _turn_with_history(z: complex) -> Sequence[complex]:
    """3 E(k) + E(-k) in SBDF2ERE: of its roots one is e^z, the other e^-z / 3."""
    return cmath.exp(z) + cmath.exp(-z) / 3, -1 / 3


METHODS = {
    "BE": Method("BACKWARD_EULER", EULER),
    "BDF2": Method("BDF2", BDF2, history=1),
    "TR-BDF2": Method("TR_BDF2", TWO_STAGES),
    "SDIRK2": Method("SDIRK2", _one(lambda z: (1 + (math.sqrt(2) - 1) * z) / (1 - (1 - 1 / math.sqrt(2)) * z) ** 2)),
    "TR": Method("TRAPEZOIDAL", TRAPEZOIDAL),
    "TR, contact not split": Method("TRAPEZOIDAL_UNSPLIT_CONTACT", TRAPEZOIDAL),
    "midpoint": Method("IMPLICIT_MIDPOINT", TRAPEZOIDAL),
    "variational, α = 1/2": Method("VARIATIONAL", trace=_hamilton_pontryagin(0.5)),
    "variational, α = 0": Method("VARIATIONAL", trace=_hamilton_pontryagin(0.0), alpha=0.0, limit=2.0),
    "Verlet": Method("VERLET", trace=lambda theta: 2 - theta**2, limit=2.0),
    "SI": Method("SI", EULER, modal="left"),
    "ERE": Method("ERE", TURN, modal="taken"),
    "SIERE, taken": Method("SIERE", TURN, modal="taken"),
    "SIERE, left": Method("SIERE", EULER, modal="left"),
    "BEERE, taken": Method("BEERE", TURN, modal="taken"),
    "BEERE, left": Method("BEERE", EULER, modal="left"),
    "SBDF2ERE, taken": Method("SBDF2ERE", _turn_with_history, history=1, modal="taken"),
    "SBDF2ERE, left": Method("SBDF2ERE", BDF2, history=1, modal="left"),
    "STR-SBDF2ERE, taken": Method("STR_SBDF2ERE", TURN, modal="taken"),
    "STR-SBDF2ERE, left": Method("STR_SBDF2ERE", TWO_STAGES, modal="left"),
    "BDF3": Method("BDF3", _backward_difference(3), history=2),
    "BDF4": Method("BDF4", _backward_difference(4), history=3),
    "BDF5": Method("BDF5", _backward_difference(5), history=4),
    "BDF6": Method("BDF6", _backward_difference(6), history=5),
    "explicit Euler": Method("EXPLICIT_EULER", _taylor(1), limit=0.0),
    "explicit midpoint": Method("EXPLICIT_MIDPOINT", _taylor(2), limit=0.0),
    "RK4": Method("RUNGE_KUTTA_4", _taylor(4), limit=2 * math.sqrt(2)),
}
