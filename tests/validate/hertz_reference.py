"""The force on a rigid plane that a half ball is pressed on: axisymmetric finite elements of linear elasticity, the source of what study_physics.py compares
with. Its own check is the theory of the half space, to which it must go as the approach becomes small.

Lines of nodes run from the axis to the sphere: the first is the pole alone, the last the equator, which is driven. Only neighbouring lines are coupled,
so that blocks of their nodes are eliminated in turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

GAUSS = 1 / math.sqrt(3)


@dataclass(frozen=True)
class Ball:
    """Radius, m; Young's modulus, Pa; Poisson's ratio."""

    radius: float
    youngs: float
    poisson: float

    def half_space(self, approach: float) -> float:
        """Hertz: 4/3 E* sqrt(R) d^1.5, N."""
        return 4 / 3 * self.youngs / (1 - self.poisson**2) * math.sqrt(self.radius) * approach**1.5


def lines(ball: Ball, approach: float, cells: int) -> np.ndarray:
    """Nodes [lines, cells + 1, 2] (r, z); `cells` lines over 1.5 times the radius of contact, from there on in geometric progression, and as many cells from
    the axis to the sphere, finest at the sphere."""
    contact = 1.5 * math.sqrt(ball.radius * approach) / ball.radius  # as an angle at the centre
    near = contact * np.arange(cells + 1) / cells
    ratio = 1 + 3 / cells
    count = max(2, round(math.log(1 + (math.pi / 2 - contact) * (ratio - 1) * cells / contact) / math.log(ratio)))
    steps = ratio ** np.arange(1, count + 1)
    angles = np.concatenate([near, contact + (math.pi / 2 - contact) * np.cumsum(steps) / steps.sum()])
    along = 1 - (1 - np.arange(cells + 1) / cells) ** 1.5  # 0: axis, 1: sphere
    sphere = ball.radius * np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    # The point on the axis rises with the arc, up to the centre.
    axis = np.stack([np.zeros(len(angles)), -ball.radius * (1 - angles / (math.pi / 2))], axis=1)
    return axis[:, None] + along[None, :, None] * (sphere - axis)[:, None]


def stiffnesses(ball: Ball, nodes: np.ndarray) -> np.ndarray:
    """[elements, 8, 8] of the quadrilaterals (nodes [elements, 4, 2]), whole rings, 2 x 2 points."""
    lame = ball.youngs * ball.poisson / ((1 + ball.poisson) * (1 - 2 * ball.poisson))
    shear = ball.youngs / (2 * (1 + ball.poisson))
    law = np.diag([2 * shear] * 3 + [shear])
    law[:3, :3] += lame
    total = np.zeros((len(nodes), 8, 8))
    for x in (-GAUSS, GAUSS):
        for y in (-GAUSS, GAUSS):
            shape = 0.25 * np.array([(1 - x) * (1 - y), (1 + x) * (1 - y), (1 + x) * (1 + y), (1 - x) * (1 + y)])
            slopes = 0.25 * np.array([[y - 1, x - 1], [1 - y, -1 - x], [1 + y, 1 + x], [-1 - y, 1 - x]])
            jacobian = np.einsum("nk,eni->eki", slopes, nodes)
            gradient = np.einsum("eik,nk->eni", np.linalg.inv(jacobian), slopes)
            r = nodes[:, :, 0] @ shape
            strain = np.zeros((len(nodes), 4, 8))  # rr, zz, hoop, rz
            strain[:, 0, 0::2] = strain[:, 3, 1::2] = gradient[:, :, 0]
            strain[:, 1, 1::2] = strain[:, 3, 0::2] = gradient[:, :, 1]
            strain[:, 2, 0::2] = shape / r[:, None]
            weight = 2 * math.pi * r * np.abs(np.linalg.det(jacobian))
            total += weight[:, None, None] * np.einsum("eai,ab,ebj->eij", strain, law, strain)
    return total


def blocks(ball: Ball, nodes: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Stiffness by lines: [n,n] within each, [n,m] to the next. Of the first line, whose nodes are one, only the last counts."""
    count, width = len(nodes), nodes.shape[1]
    corners = np.stack([nodes[:-1, :-1], nodes[:-1, 1:], nodes[1:, 1:], nodes[1:, :-1]], axis=2)
    every = stiffnesses(ball, corners.reshape(-1, 4, 2)).reshape(count - 1, width - 1, 8, 8)
    own = [np.zeros((2 * width, 2 * width)) for _ in range(count)]
    next_ = [np.zeros((2 * width, 2 * width)) for _ in range(count - 1)]
    for i in range(count - 1):
        for j in range(width - 1):
            low, up = slice(2 * j, 2 * j + 4), [2 * j + 2, 2 * j + 3, 2 * j, 2 * j + 1]
            k = every[i, j]
            own[i][low, low] += k[:4, :4]
            own[i + 1][np.ix_(up, up)] += k[4:, 4:]
            next_[i][low, up] += k[:4, 4:]
    merge = np.tile(np.eye(2), (width, 1))  # the pole
    own[0], next_[0] = merge.T @ own[0] @ merge, merge.T @ next_[0]
    return own, next_


def solve(own: list[np.ndarray], next_: list[np.ndarray], fixed: list[np.ndarray], values: list[np.ndarray]) -> list[np.ndarray]:
    """Displacements by lines, with `fixed` ones (bool) at `values`."""
    diagonal, right, loads = [], [], []
    for i, k in enumerate(own):
        load = -k @ values[i]
        if i > 0:
            load -= next_[i - 1].T @ values[i - 1]
        if i + 1 < len(own):
            load -= next_[i] @ values[i + 1]
            right.append(next_[i] * np.outer(~fixed[i], ~fixed[i + 1]))
        diagonal.append(k * np.outer(~fixed[i], ~fixed[i]) + np.diag(fixed[i].astype(float)))
        loads.append(np.where(fixed[i], 0.0, load))
    for i in range(1, len(own)):
        factor = np.linalg.solve(diagonal[i - 1], right[i - 1]).T
        diagonal[i] = diagonal[i] - factor @ right[i - 1]
        loads[i] = loads[i] - factor @ loads[i - 1]
    out = [np.linalg.solve(diagonal[-1], loads[-1])]
    for i in range(len(own) - 2, -1, -1):
        out.insert(0, np.linalg.solve(diagonal[i], loads[i] - right[i] @ out[0]))
    return [u + v for u, v in zip(out, values)]


def pressed(ball: Ball, approach: float, cells: int) -> float:
    """Force, N, where the equator has come `approach` nearer to the plane than where the pole touches it."""
    nodes = lines(ball, approach, cells)
    own, next_ = blocks(ball, nodes)
    count = len(own)
    fixed = [np.zeros(len(k), bool) for k in own]
    values = [np.zeros(len(k)) for k in own]
    fixed[0][0] = True
    for line in fixed[1:]:
        line[0] = True  # on the axis r stays 0
    fixed[-1][:] = True
    values[-1][1::2] = -approach
    depth = -ball.radius - nodes[:, -1, 1]  # displacement along z at which a node of the sphere is on the plane
    active = depth >= -0.4 * approach
    for _ in range(100):
        for i in range(count - 1):
            fixed[i][-1], values[i][-1] = active[i], depth[i] if active[i] else 0.0
        u = solve(own, next_, fixed, values)
        reaction = np.array([(own[i] @ u[i])[-1] + (next_[i] @ u[i + 1])[-1] + ((next_[i - 1].T @ u[i - 1])[-1] if i else 0.0) for i in range(count - 1)])
        wanted = np.where(active[:-1], reaction > 0, np.array([u[i][-1] for i in range(count - 1)]) < depth[:-1])
        if (wanted == active[:-1]).all():
            return float(reaction[active[:-1]].sum())
        active[:-1] = wanted
    raise RuntimeError("the nodes in contact were not found")


def converged(ball: Ball, approach: float) -> tuple[float, float]:
    """Force, N, extrapolated from two meshes by the second order of the elements, and how far the finer one is from it, as a share."""
    coarse, fine = pressed(ball, approach, 24), pressed(ball, approach, 48)
    limit = fine + (fine - coarse) / 3
    return limit, abs(fine / limit - 1)
