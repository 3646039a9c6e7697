"""What of a scene is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, Optional, Union

import numpy as np

from .render import Color, Item

if TYPE_CHECKING:
    from ..observation import Observation
    from ..client import BodyTopology

# Of bodies that are given none, by their place in the scene.
PALETTE: tuple[Color, ...] = ((0.85, 0.45, 0.25), (0.45, 0.62, 0.80), (0.55, 0.60, 0.66), (0.62, 0.58, 0.50), (0.40, 0.65, 0.45),
                              (0.72, 0.52, 0.68), (0.80, 0.70, 0.40))


def scene_items(topology: Mapping[str, "BodyTopology"], observation: "Observation",
                colors: Mapping[str, Union[Color, np.ndarray, None]] = {}, wire: float = 0.0) -> list[Item]:
    """The bodies of a scene as they stand: where the observation has surface positions, else where the scene placed them.

    topology: Scene.topology(). colors: of bodies by name, [3] or one a vertex [n,3] (sRGB, 0..1); None leaves a body out; the others have
    colours of PALETTE. wire: as of Item. Raises KeyError for a colour of a body that the scene has not.
    """
    unknown = sorted(set(colors) - set(topology))
    if unknown:
        raise KeyError(f"the scene has no body {', '.join(unknown)}")
    items = []
    for place, (name, body) in enumerate(topology.items()):
        color = colors.get(name, PALETTE[place % len(PALETTE)])
        if color is None:
            continue
        seen = observation.bodies.get(name)
        positions: Optional[np.ndarray] = None if seen is None else seen.surface_positions
        items.append(Item(body.positions if positions is None else positions, body.triangles, color, wire))
    return items
