"""Pictures of triangle meshes over a ground plane: smooth shading, soft shadows, anti-aliasing. VTK draws them, in another process."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Optional, Sequence

import numpy as np

from ..shown import brief
from .camera import Camera
from .lights import Lighting
from .painter import draw

Color = tuple[float, float, float]
_MOST_PIXELS = 1 << 26  # of the square window, with supersampling


@brief
@dataclass(frozen=True, eq=False)
class Item:
    """A mesh to draw: vertices [n,3] m, triangles [m,3], colour (sRGB, 0..1; one for all or one a vertex, [n,3]), wire: strength of its
    edges, 0..1. Faces that bend by more than crease_deg meet in a sharp edge."""

    vertices: np.ndarray
    triangles: np.ndarray
    color: Color | np.ndarray
    wire: float = 0.0
    gloss: float = 0.15
    crease_deg: float = 55.0


@dataclass(frozen=True)
class Ground:
    """A plane z = height_m that fades into the background; grid lines every grid_m (0: none)."""

    height_m: float = 0.0
    color: Color = (0.87, 0.87, 0.86)
    grid_m: float = 0.05
    center: tuple[float, float] = (0.0, 0.0)
    fade_m: float = 0.9


def render(items: Sequence[Item], camera: Camera, width: int = 1000, height: int = 800, ground: Optional[Ground] = None,
           lighting: Lighting = Lighting(), supersampling: int = 2,
           background: tuple[Color, Color] = ((0.90, 0.93, 0.96), (0.985, 0.985, 0.98))) -> np.ndarray:
    """Returns a picture [height,width,3] of uint8 (sRGB). background: colours at the upper and lower edge.

    Raises DrawingError where VTK or Xvfb is missing (Debian's python3-vtk9 and xvfb), ValueError for sizes and meshes that cannot be.
    """
    if min(width, height, supersampling) < 1 or (max(width, height) * supersampling) ** 2 > _MOST_PIXELS:
        raise ValueError(f"a picture needs sizes from 1 to {int(_MOST_PIXELS**0.5)} pixels, got {width} x {height}, {supersampling} times "
                         "supersampled")
    return draw({
        "items": [_mesh(item) for item in items],
        "camera": {"eye": tuple(map(float, camera.eye)), "target": tuple(map(float, camera.target)),
                   "vertical_fov_deg": float(camera.vertical_fov_deg)},
        "size": (width, height), "supersampling": supersampling, "ground": None if ground is None else asdict(ground),
        "lights": lighting.as_lights(), "background": background})


def _mesh(item: Item) -> dict[str, object]:
    """The fields of an item. Raises ValueError where they do not fit: what draws would read beyond its arrays."""
    vertices, triangles = np.asarray(item.vertices, dtype=np.float64), np.asarray(item.triangles, dtype=np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
        raise ValueError(f"a mesh is vertices [n,3] and triangles [m,3], got {list(vertices.shape)} and {list(triangles.shape)}")
    if not np.isfinite(vertices).all():
        raise ValueError("vertices of a mesh must be finite")
    if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(vertices)):
        raise ValueError(f"triangles refer to vertices {triangles.min()} to {triangles.max()} of {len(vertices)}")
    color = np.asarray(item.color, dtype=np.float64)
    if color.shape not in ((3,), (len(vertices), 3)):
        raise ValueError(f"a colour is [3], or [{len(vertices)},3] for one a vertex, got {list(color.shape)}")
    return {"vertices": vertices, "triangles": triangles, "color": color, "wire": item.wire, "gloss": item.gloss, "crease_deg": item.crease_deg}
