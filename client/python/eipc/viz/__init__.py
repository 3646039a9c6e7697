"""Pictures of a simulation without a graphics card: a small software renderer in NumPy."""

from .camera import Camera
from .color_map import heat
from .lights import Lighting
from .png import write_png
from .render import Ground, Item, render

__all__ = ["Camera", "Ground", "Item", "Lighting", "heat", "render", "write_png"]
