"""Pictures of a simulation, which VTK draws, and recordings as web pages."""

from .camera import Camera
from .color_map import heat
from .lights import Lighting
from .page import write_comparison_page, write_episode_page
from .painter import DrawingError
from .png import write_png
from .render import Ground, Item, render
from .replayed_touch import replayed_touch
from .scene_items import scene_items

__all__ = ["Camera", "DrawingError", "Ground", "Item", "Lighting", "heat", "render", "replayed_touch", "scene_items",
           "write_comparison_page", "write_episode_page", "write_png"]
