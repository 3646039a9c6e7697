"""Pictures of worlds: colours and depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from .. import viz
from ..camera import Camera
from ..observation import Observe

if TYPE_CHECKING:
    from .task import Task
    from .worlds import Worlds

RENDER_MODES = ("rgb_array", "depth_array")
# A picture a step has to be cheap: few shadow maps, and no supersampling.
_LIGHTING = viz.Lighting(sun_samples=2, sky_samples=4, map_size=256)
_COLORS = {"held": (0.80, 0.62, 0.42), "finger": (0.45, 0.62, 0.80), "other": (0.70, 0.70, 0.72)}


class Renderer:
    """Draws worlds as they are, from a fixed point of view that shows where the gripper can be."""

    def __init__(self, worlds: "Worlds", task: "Task", size: tuple[int, int]) -> None:
        """size: width and height, pixels."""
        self._worlds, self._task = worlds, task
        self.width, self.height = size
        if min(size) < 1:
            raise ValueError(f"render_size is {size}; width and height must be at least 1")
        self.camera = task.camera()
        self._topology: Optional[dict[str, Any]] = None

    def __repr__(self) -> str:
        return f"Renderer({self.width}x{self.height})"

    def picture(self, world: int, mode: str) -> np.ndarray:
        """mode "rgb_array": [h,w,3] uint8. "depth_array": [h,w] float32, distance along the view in m, infinite where nothing is."""
        items = self._items(world)
        if mode == "rgb_array":
            return viz.render(items, self.camera, self.width, self.height, ground=viz.Ground(), lighting=_LIGHTING, supersampling=1)
        return self._depth(items)

    def _items(self, world: int) -> list[viz.Item]:
        if self._topology is None:
            self._topology = self._worlds.scene.topology()
        observe = Observe(poses=False, surface_positions=True, solver_report=False)
        seen = self._worlds.observe(world, observe).bodies
        return [viz.Item(seen[name].surface_positions if name in seen else body.positions, body.triangles, self._color(name))
                for name, body in self._topology.items() if name not in self._task.hidden]

    def _color(self, body: str) -> tuple[float, float, float]:
        return _COLORS["held" if body == self._task.held else "finger" if body in self._task.fingers else "other"]

    def _depth(self, items: list[viz.Item]) -> np.ndarray:
        pinhole = Camera.look_at(self.camera.eye, self.camera.target, width=self.width, height=self.height,
                                 fov_y_rad=np.radians(self.camera.vertical_fov_deg))
        depth = pinhole.depth([(np.asarray(item.vertices, dtype=np.float64), np.asarray(item.triangles)) for item in items])
        down = self.camera.rays(self.width, self.height)[..., 2]
        with np.errstate(divide="ignore"):
            ground = np.where(down < -1e-9, -self.camera.eye[2] / np.minimum(down, -1e-9), np.inf)
        return np.minimum(depth, ground).astype(np.float32)
