"""Light from a soft sun and an overcast sky, both sums of directions with a shadow map each.

Averaging shadow maps over the sun's disc gives soft shadows, over the hemisphere ambient occlusion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_MOST_LIGHTS = 24  # each takes a texture of what draws
_SUN_SHARE = 0.6  # of the light that a triangle gets whose normal points up, in nobody's shadow


@dataclass(frozen=True)
class Lighting:
    """sun: direction towards it. sun_radius_deg: half angle of its disc. *_samples: shadow maps for each, at least one for the sun and 24
    in all. map_size: texels along the side of a map."""

    sun: tuple[float, float, float] = (-0.6, 0.5, 0.95)
    sun_radius_deg: float = 5.0
    sun_samples: int = 8
    sky_samples: int = 14
    map_size: int = 512

    def __post_init__(self) -> None:
        if self.sun_samples < 1 or self.sky_samples < 0 or self.sun_samples + self.sky_samples > _MOST_LIGHTS:
            raise ValueError(f"needs 1 to {_MOST_LIGHTS} lights, one of them of the sun, got {self.sun_samples} and {self.sky_samples}")
        if not self.sun[2] > 0 or not 0 <= self.sun_radius_deg < 45 or not self.map_size > 0:
            raise ValueError(f"needs a sun above the ground, a radius in [0, 45) degrees and a map size > 0, got {self}")

    def as_lights(self) -> dict[str, Any]:
        """Unit directions towards the lights, [k,3], and their shares."""
        return {"sun": sun_directions(self), "sky": sky_directions(self.sky_samples), "map_size": self.map_size,
                "shares": (_SUN_SHARE, 1 - _SUN_SHARE) if self.sky_samples else (1.0, 0.0)}


def _frame(direction: np.ndarray) -> np.ndarray:
    """Rows: two tangents and the unit direction."""
    d = direction / np.linalg.norm(direction)
    helper = np.array([1.0, 0, 0]) if abs(d[0]) < 0.7 else np.array([0, 1.0, 0])
    a = np.cross(d, helper)
    a /= np.linalg.norm(a)
    return np.stack([a, np.cross(d, a), d])


def sun_directions(lighting: Lighting) -> np.ndarray:
    """Points spread over the sun's disc (sunflower spiral), unit directions [k,3]."""
    a, b, d = _frame(np.asarray(lighting.sun, dtype=float))
    i = np.arange(lighting.sun_samples)
    radius = np.tan(np.radians(lighting.sun_radius_deg)) * np.sqrt((i + 0.5) / lighting.sun_samples)
    angle = i * np.pi * (3 - np.sqrt(5))
    directions = d + (radius * np.cos(angle))[:, None] * a + (radius * np.sin(angle))[:, None] * b
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def sky_directions(samples: int) -> np.ndarray:
    """Directions [k,3] over the upper hemisphere, as dense as the cosine of their angle to the vertical (Fibonacci spiral)."""
    i = np.arange(samples)
    z = np.sqrt((i + 0.5) / max(samples, 1))
    angle = i * np.pi * (3 - np.sqrt(5))
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
