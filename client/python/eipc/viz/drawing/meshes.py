"""Arrays as meshes of VTK."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

Mesh = tuple[np.ndarray, np.ndarray, np.ndarray]  # positions, corners of cells, colours
_GAMMA = 2.2


def _points(positions: np.ndarray, colors: Optional[np.ndarray]) -> vtkPolyData:
    made, points = vtkPolyData(), vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(positions, np.float32), deep=1))
    made.SetPoints(points)
    if colors is not None:
        made.GetPointData().SetScalars(numpy_to_vtk(np.round(255 * np.clip(colors, 0, 1)).astype(np.uint8), deep=1))
    return made


def _cells(corners: np.ndarray) -> vtkCellArray:
    """corners: [m,k] indices of points."""
    made, (count, size) = vtkCellArray(), corners.shape
    made.SetData(numpy_to_vtkIdTypeArray(np.arange(0, size * (count + 1), size, dtype=np.int64), deep=1),
                 numpy_to_vtkIdTypeArray(np.ascontiguousarray(corners, np.int64).ravel(), deep=1))
    return made


def surface(positions: np.ndarray, triangles: np.ndarray, colors: Optional[np.ndarray] = None) -> vtkPolyData:
    """positions: [n,3]. triangles: [m,3]. colors: of the positions, [n,3] or [n,4], 0..1."""
    made = _points(positions, colors)
    made.SetPolys(_cells(triangles))
    return made


def segments(positions: np.ndarray, ends: np.ndarray, colors: Optional[np.ndarray] = None) -> vtkPolyData:
    """Straight lines between pairs of positions, [m,2]."""
    made = _points(positions, colors)
    made.SetLines(_cells(ends))
    return made


def edges(item: dict[str, Any]) -> Mesh:
    """The edges of an item's triangles, black with opacity: they take `wire` of the light."""
    sides = np.sort(item["triangles"][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    opacity = 1 - (1 - item["wire"]) ** (1 / _GAMMA)
    return item["vertices"], np.unique(sides, axis=0), np.tile([0.0, 0.0, 0.0, opacity], (len(item["vertices"]), 1))
