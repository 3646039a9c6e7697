"""Materials other than the scene's, which a reset gives to bodies or draws for them within one compiled scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

from .errors import missing_capability
from .shown import brief
from .v1 import observation_pb2, service_pb2
from .variation import Range

if TYPE_CHECKING:
    from .client import Client

# What a server says whose resets know materials, and factors of friction (ServerInfo.capabilities); an earlier one would ignore them.
CAPABILITY, FRICTION_CAPABILITY = "reset_materials", "reset_friction"

# Fields of the messages, in the order of BodyMaterial's.
NUMBERS = ("youngs_modulus_pa", "poissons_ratio", "density_kg_m3", "friction_factor")


@brief
@dataclass(frozen=True)
class BodyMaterial:
    """Numbers of a body's material: youngs_modulus (Pa), poissons_ratio, density (kg/m^3), and friction_factor: the friction of every
    pair that the body is part of over that of the scene; where two bodies have one, both count. In a reset None is the scene's; in an
    observation it is what the body has not: some materials have no Poisson's ratio. The density of a body with affine.inertia is its mass
    over the volume of its mesh; another one scales mass and moments, about the same centre."""

    youngs_modulus: Optional[float] = None
    poissons_ratio: Optional[float] = None
    density: Optional[float] = None
    friction_factor: Optional[float] = None

    def to_message(self, body: str) -> observation_pb2.BodyMaterial:
        return observation_pb2.BodyMaterial(body=body, youngs_modulus_pa=self.youngs_modulus, poissons_ratio=self.poissons_ratio,
                                            density_kg_m3=self.density, friction_factor=self.friction_factor)


@brief
@dataclass(frozen=True)
class MaterialRange:
    """Ranges from which numbers of a body's material are drawn; None: the scene's. See BodyMaterial."""

    youngs_modulus: Optional[Range] = None
    poissons_ratio: Optional[Range] = None
    density: Optional[Range] = None
    friction_factor: Optional[Range] = None

    def to_message(self, body: str) -> service_pb2.MaterialRange:
        return service_pb2.MaterialRange(body=body, youngs_modulus_pa=_range(self.youngs_modulus),
                                         poissons_ratio=_range(self.poissons_ratio), density_kg_m3=_range(self.density),
                                         friction_factor=_range(self.friction_factor))


Materials = Mapping[str, Union[BodyMaterial, MaterialRange]]


def needed_capabilities(request: service_pb2.ResetRequest) -> list[str]:
    """What a server has to know for a reset's materials."""
    materials = [*request.materials, *request.randomize.materials]
    friction = any(material.HasField("friction_factor") for material in materials)
    return [CAPABILITY] * bool(materials) + [FRICTION_CAPABILITY] * friction


def check_server(client: Client, request: service_pb2.ResetRequest) -> None:
    """Raises UnimplementedError where resets of the client's server would ignore materials that are wanted."""
    for capability in needed_capabilities(request):
        if not client._can(capability):
            raise missing_capability(client.address, capability)


def given_and_drawn(materials: Optional[Materials]) -> tuple[list[Any], list[Any]]:
    """The messages of the bodies whose material is given, and of those for which it is drawn."""
    given: list[Any] = []
    drawn: list[Any] = []
    for body, material in (materials or {}).items():
        (drawn if isinstance(material, MaterialRange) else given).append(material.to_message(body))
    return given, drawn


def materials_from_messages(messages: Iterable[observation_pb2.BodyMaterial]) -> dict[str, BodyMaterial]:
    return {message.body: BodyMaterial(*(_number(message, name) for name in NUMBERS)) for message in messages}


def _number(message: observation_pb2.BodyMaterial, name: str) -> Optional[float]:
    return float(getattr(message, name)) if message.HasField(name) else None


def _range(bounds: Optional[Range]) -> Optional[service_pb2.NumberRange]:
    if bounds is None:
        return None
    return service_pb2.NumberRange(min=bounds.low, max=bounds.high, logarithmic=bounds.log, factor=bounds.factor)
