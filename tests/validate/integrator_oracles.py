"""What integrators do to u' = z u / h in closed form, and the names that scenes give them."""

from __future__ import annotations

import math

import numpy as np

# Kind and order without contact. The first ones solve; they have the factors below.
IMPLICIT = {"BE": ("BACKWARD_EULER", 1), "TR": ("TRAPEZOIDAL", 2), "BDF2": ("BDF2", 2), "TR-BDF2": ("TR_BDF2", 2), "SDIRK2": ("SDIRK2", 2),
            "midpoint": ("IMPLICIT_MIDPOINT", 2), "variational, α = 1/2": ("VARIATIONAL", 2), "TR, contact unsplit": ("TRAPEZOIDAL_UNSPLIT_CONTACT", 2)}
# Those of q' - q = h (v + v') / 2 without contact, which damp nothing.
MEANS = ("TR", "TR, contact unsplit", "midpoint", "variational, α = 1/2")
INTEGRATORS = {**IMPLICIT, "Verlet": ("VERLET", 2), "RK4": ("RUNGE_KUTTA_4", 4)}


def _two_stage(z: complex, g: float, b: float, c: float) -> complex:
    first = (1 + g * z / 2) / (1 - g * z / 2)
    return (1 + b / g * (first - 1)) / (1 - c * z)


def one_step_factor(name: str, z: complex) -> complex:
    """R(z) of a one-step method; of BDF2 the larger root of its recurrence."""
    if name == "BE":
        return 1 / (1 - z)
    if name in MEANS:
        return (1 + z / 2) / (1 - z / 2)
    if name == "TR-BDF2":
        return _two_stage(z, 0.5, 2 / 3, 1 / 3)
    if name == "SDIRK2":
        return _two_stage(z, 2 - math.sqrt(2), math.sqrt(0.5), 1 - math.sqrt(0.5))
    root = np.sqrt(1 + 2 * z + 0j)
    return max(((2 + root) / (3 - 2 * z), (2 - root) / (3 - 2 * z)), key=abs)


def solution(name: str, z: complex, steps: int) -> np.ndarray:
    """u_0 = 1, ..., u_steps; BDF2's first step is backward Euler's."""
    if name != "BDF2":
        return one_step_factor(name, z) ** np.arange(steps + 1)
    u = [1, 1 / (1 - z)]
    while len(u) <= steps:
        u.append((4 * u[-1] - u[-2]) / (3 - 2 * z))
    return np.array(u[: steps + 1])
