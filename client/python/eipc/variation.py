"""Scenes with numbers drawn from ranges: materials, friction, masses, sizes, gains, whatever a scene message has as a number.

    drawn = vary(scene, {"bodies[cube].material.youngs_modulus_pa": Range(2e4, 2e5, log=True),
                         "contact.friction_coefficient": Range(0.4, 0.9)}, seed=7)
    client.create_scene(drawn.scene)

What was drawn is in the result and in the scene's description, which recordings and episodes keep. The same seed and ranges give the same
numbers; each path has a stream of its own, so that adding one changes none of the others. Starts of bodies and their elastic moduli and
densities are drawn by resets (PlacementRange, MaterialRange), without a new scene.
"""

from __future__ import annotations

import hashlib
import json
import operator
import re
from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from .messages import is_repeated
from .scene_source import SceneSource, load_scene
from .v1 import scene_pb2

_COMMA = re.compile(r",\s*(?![^\[\]]*\])")  # not in a name
_PART = re.compile(r"(\w+)(?:\[([^\]]+)\])?")
_FLOATS = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
_MARK = "drawn: "


@dataclass(frozen=True)
class Range:
    """Bounds between which a number is drawn uniformly. log: its logarithm is. factor: it multiplies the scene's number."""

    low: float
    high: float
    log: bool = False
    factor: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low <= self.high):
            raise ValueError(f"a range needs finite bounds in order, got {self.low} and {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic range needs bounds > 0, got {self.low}")

    def at(self, share: float) -> float:
        """The number at a share in [0, 1] of the range."""
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return float(self.low + share * (self.high - self.low))


@dataclass(frozen=True, eq=False)
class Variation:
    """A scene with drawn numbers, and these by their paths."""

    scene: scene_pb2.Scene
    values: Mapping[str, float]
    seed: int


def vary(source: SceneSource, ranges: Mapping[str, Range], seed: int, **load: Any) -> Variation:
    """A copy of a scene (a file, its text or its message) with numbers drawn from ranges, by paths as `eipc run --set` takes them:
    elements of lists by index or by name. Paths with commas between them are drawn as one: they get the same number, or with factor=True
    the same factor, as both meshes of an embedded body need it. A size is `bodies[NAME].KIND.mesh.scale` (or `.surface.scale`), a mass is
    scaled by the density. load: arguments of load_scene. ValueError: a path that is no number of the scene or is there twice, or a factor
    of a number that the scene leaves out or has as 0. TypeError: a seed that is no integer."""
    seed = operator.index(seed)
    scene = load_scene(source, **load)
    values: dict[str, float] = {}
    for paths, bounds in ranges.items():
        drawn = bounds.at(_share(seed, paths))
        for path in _COMMA.split(paths):
            owner, name = _find(scene, path)
            if path in values:
                raise ValueError(f"{path}: is drawn twice")
            scenes = float(getattr(owner, name)) or (1.0 if name == "scale" else 0.0)
            if bounds.factor and scenes == 0:
                raise ValueError(f"{path}: the scene has no such number, or 0, which a factor does not change; give bounds of the number itself")
            setattr(owner, name, drawn * scenes if bounds.factor else drawn)
            values[path] = float(getattr(owner, name))
    scene.description = "\n".join(part for part in (scene.description, _MARK + json.dumps({"seed": seed, "values": values})) if part)
    return Variation(scene, values, seed)


def drawn_values(scene: scene_pb2.Scene) -> dict[str, float]:
    """What vary() drew for a scene, from its description, of a scene that was varied again all of it; empty where it drew nothing."""
    values: dict[str, float] = {}
    for line in scene.description.splitlines():
        if not line.startswith(_MARK):
            continue
        try:
            values.update({path: float(value) for path, value in json.loads(line[len(_MARK):])["values"].items()})
        except (ValueError, TypeError, KeyError, AttributeError):
            continue  # written by somebody else
    return values


def _share(seed: int, paths: str) -> float:
    """In [0, 1), of these paths alone: the same for any order and any number of others."""
    digest = hashlib.sha256(f"{seed}:{paths}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / float(1 << 56)


def _find(scene: scene_pb2.Scene, path: str) -> tuple[Message, str]:
    """The message that has the number, and the name of its field there."""
    owner: Message = scene
    parts = path.split(".")
    for i, part in enumerate(parts):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{path}: {part!r} is no field")
        name, key = match.groups()
        field = owner.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise ValueError(f"{path}: {owner.DESCRIPTOR.name} has no field {name!r}; it has: {', '.join(owner.DESCRIPTOR.fields_by_name)}")
        last = i + 1 == len(parts)
        if field.message_type is None:
            if not last or key is not None or is_repeated(field) or field.cpp_type not in _FLOATS:
                raise ValueError(f"{path}: {part!r} is not a single number with a fraction")
            return owner, name
        if last:
            raise ValueError(f"{path}: is a message, name one of its numbers: {', '.join(field.message_type.fields_by_name)}")
        value = getattr(owner, name)
        if is_repeated(field):
            value = _element(value, name, key, path)
        elif key is not None:
            raise ValueError(f"{path}: {name} is no list")
        elif field.containing_oneof is not None and not owner.HasField(name):
            raise ValueError(f"{path}: {name} is not what the scene has there; it has: {owner.WhichOneof(field.containing_oneof.name)}")
        owner = value
    raise ValueError(f"{path!r}: names no number")


def _element(elements: Any, name: str, key: str | None, path: str) -> Message:
    if key is None:
        raise ValueError(f"{path}: {name} is a list; write {name}[INDEX] or {name}[NAME]")
    if key.isdigit() and int(key) < len(elements):
        return elements[int(key)]
    names = [getattr(element, "name", "") for element in elements]
    if key not in names:
        raise ValueError(f"{path}: {name} has no element {key!r}; it has: {', '.join(names)}")
    return elements[names.index(key)]
