"""Finds the scenes and meshes of environments: in the package where a wheel brought them along, else in the checkout."""

from __future__ import annotations

from pathlib import Path

from ..errors import SceneFileError

_PACKAGE = Path(__file__).resolve().parents[1]


def model_file(name: str, package: Path = _PACKAGE) -> Path:
    """The path of a file of `models`, such as "scenes/finray_plate.textproto" or "generated/mug.obj". A wheel has the scenes and meshes of
    the environments, and the mug of the tutorials. Raises SceneFileError with the places."""
    places = [package / "models" / name]
    if len(package.parents) > 2 and package.parent == package.parents[2] / "client" / "python":
        places.append(package.parents[2] / "models" / name)
    for place in places:
        if place.is_file():
            return place
    raise SceneFileError(f"{name} is in none of " + ", ".join(str(place) for place in places) +
                         ". In a checkout ./dev build makes what lies in models/generated")
