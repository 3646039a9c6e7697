"""Meshes of sheets: (vertices [n,3], triangles [m,3]), at z = 0 with normals up unless said otherwise."""

from __future__ import annotations

import math

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]


def right_grid(length: float, width: float, along: int, across: int) -> Mesh:
    """[0, length] x [-width/2, width/2]; every cell cut by the same diagonal."""
    xs, ys = np.linspace(0, length, along + 1), np.linspace(-width / 2, width / 2, across + 1)
    vertices = np.array([[x, y, 0.0] for y in ys for x in xs])
    m = along + 1
    corners = [i + m * j for j in range(across) for i in range(along)]
    return vertices, np.array([t for a in corners for t in ((a, a + 1, a + m + 1), (a, a + m + 1, a + m))])


def equilateral(length: float, width: float, along: int) -> Mesh:
    """The same rectangle of nearly equilateral triangles: rows along x, every other one shifted by half an edge, its ends cut straight."""
    edge = length / along
    rows = max(1, round(width / (edge * math.sqrt(3) / 2)))
    vertices: list[tuple[float, float, float]] = []
    lines: list[list[int]] = []
    for j in range(rows + 1):
        y = -width / 2 + width * j / rows
        xs = [edge * i for i in range(along + 1)] if j % 2 == 0 else [0.0, *(edge * (i + 0.5) for i in range(along)), length]
        lines.append(list(range(len(vertices), len(vertices) + len(xs))))
        vertices += [(x, y, 0.0) for x in xs]
    triangles = []
    for low, high in zip(lines, lines[1:]):
        a = b = 0
        while a + 1 < len(low) or b + 1 < len(high):
            # The shorter of the two next diagonals.
            next_a = vertices[low[a + 1]][0] if a + 1 < len(low) else math.inf
            next_b = vertices[high[b + 1]][0] if b + 1 < len(high) else math.inf
            if next_a <= next_b:
                triangles.append((low[a], low[a + 1], high[b]))
                a += 1
            else:
                triangles.append((low[a], high[b + 1], high[b]))
                b += 1
    return np.array(vertices), np.array(triangles)


def square(side: float, cells: int) -> Mesh:
    """Equilateral triangles, around the origin."""
    vertices, triangles = equilateral(side, side, cells)
    return vertices - (side / 2, 0, 0), triangles


def tube(radius: float, length: float, around: int) -> Mesh:
    """Open tube about z from 0 to length, of nearly equilateral triangles, normals outwards."""
    edge = 2 * math.pi * radius / around
    rows = max(1, round(length / (edge * math.sqrt(3) / 2)))
    vertices = np.array([[radius * math.cos(a), radius * math.sin(a), length * j / rows]
                         for j in range(rows + 1) for i in range(around) for a in [2 * math.pi * (i + 0.5 * (j % 2)) / around]])
    triangles = []
    for j in range(rows):
        for i in range(around):
            a, b, c, d = i + around * j, (i + 1) % around + around * j, i + around * (j + 1), (i + 1) % around + around * (j + 1)
            triangles += [(a, b, c), (b, d, c)] if j % 2 == 0 else [(a, b, d), (a, d, c)]
    return vertices, np.array(triangles)


def disc(radius: float, rings: int) -> Mesh:
    """Rings of 6, 12, 18 ... vertices around the middle: nearly equilateral triangles."""
    vertices = [(0.0, 0.0, 0.0)]
    starts = [0]
    for r in range(1, rings + 1):
        starts.append(len(vertices))
        vertices += [(radius * r / rings * math.cos(2 * math.pi * i / (6 * r)), radius * r / rings * math.sin(2 * math.pi * i / (6 * r)), 0.0)
                     for i in range(6 * r)]
    triangles = []
    for r in range(1, rings + 1):
        for s in range(6):
            inner = [0] if r == 1 else [starts[r - 1] + (s * (r - 1) + i) % (6 * (r - 1)) for i in range(r)]
            outer = [starts[r] + (s * r + i) % (6 * r) for i in range(r + 1)]
            for i in range(r):
                triangles.append((inner[i], outer[i], outer[i + 1]))
                if i + 1 < r:
                    triangles.append((inner[i], outer[i + 1], inner[i + 1]))
    return np.array(vertices), np.array(triangles)
