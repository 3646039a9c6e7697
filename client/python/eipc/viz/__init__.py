"""Pictures of a simulation by a small software renderer in NumPy, and recordings as web pages."""

from .camera import Camera
from .color_map import heat
from .lights import Lighting
from .page import write_comparison_page, write_episode_page
from .png import write_png
from .render import Ground, Item, render
from .replayed_touch import replayed_touch

__all__ = ["Camera", "Ground", "Item", "Lighting", "heat", "render", "replayed_touch", "write_comparison_page", "write_episode_page",
           "write_png"]
