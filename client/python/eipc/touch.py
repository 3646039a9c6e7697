"""What a body feels through its surface, as dataclasses. SI units, world frame, end of the step; arrays are read-only NumPy views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Optional

import numpy as np

from . import arrays
from .shown import brief
from .v1 import observation_pb2

if TYPE_CHECKING:
    from .observation import Observation


def _over(values: np.ndarray, divisor: np.ndarray) -> np.ndarray:
    """values / divisor by row, 0 where the divisor is 0."""
    divisor = divisor.reshape(divisor.shape + (1,) * (values.ndim - divisor.ndim))
    return np.divide(values, divisor, out=np.zeros_like(values), where=divisor > 0)


@brief
@dataclass(frozen=True, eq=False)
class ContactTractions:
    """Contact forces of other bodies on the vertices of a body's surface; one row for each of the k vertices that a contact acts on.
    Their sum, and that of their moments, is the sum of the body's contact wrenches."""

    vertices: np.ndarray  # [k] int32, increasing: rows of surface_positions
    normal_force: np.ndarray  # [k,3] N
    friction_force: np.ndarray  # [k,3] N
    area: np.ndarray  # [k] m^2, a third of the triangles at the vertex, as they are deformed
    # [k,3] m/s: how the body slides there on the others, without the part along the contact's normal; means over the contacts at the
    # vertex, weighed by their normal forces on it. None: of a server that does not say.
    slip_velocity: Optional[np.ndarray] = None

    @property
    def force(self) -> np.ndarray:
        """[k,3] N."""
        return self.normal_force + self.friction_force

    @property
    def normal(self) -> np.ndarray:
        """Unit direction of the normal force, into the body, [k,3]; zero where there is none."""
        return _over(self.normal_force, np.linalg.norm(self.normal_force, axis=1))

    @property
    def pressure(self) -> np.ndarray:
        """Normal force over area, [k] Pa."""
        return _over(np.linalg.norm(self.normal_force, axis=1), self.area)

    @property
    def friction_traction(self) -> np.ndarray:
        """Friction force over area, [k,3] Pa."""
        return _over(self.friction_force, self.area)

    @property
    def traction(self) -> np.ndarray:
        """Force over area, [k,3] Pa."""
        return _over(self.force, self.area)

    def on_surface(self, values: np.ndarray, vertices: int) -> np.ndarray:
        """Values by row ([k,...]) as values of all `vertices` of the body's surface: 0 where no contact acts."""
        out = np.zeros((vertices,) + values.shape[1:], dtype=values.dtype)
        out[self.vertices] = values
        return out


def tractions_from_message(message: observation_pb2.ContactTractions) -> ContactTractions:
    """Unpacks them; arrays stay views of the message's bytes."""
    slip = arrays.to_numpy(message.slip_velocity_m_s) if message.HasField("slip_velocity_m_s") else None
    return ContactTractions(arrays.to_numpy(message.vertices), arrays.to_numpy(message.normal_force_n),
                            arrays.to_numpy(message.friction_force_n), arrays.to_numpy(message.area_m2), slip)


class PeakStress:
    """The greatest von Mises stress that each element has had, over the observations that are added. What a request of several steps
    passes through between its observations is not seen."""

    def __init__(self) -> None:
        # Body -> [t] Pa.
        self.von_mises: dict[str, np.ndarray] = {}

    def __repr__(self) -> str:
        return f"PeakStress({', '.join(self.von_mises)})"

    def add(self, observation: "Observation") -> None:
        """Of observations with stresses. ValueError for one without."""
        seen = {name: body.von_mises for name, body in observation.bodies.items() if body.von_mises is not None}
        if not seen:
            raise ValueError("the observation has no stresses: observe=Observe(stresses=True)")
        for name, stress in seen.items():
            self.von_mises[name] = np.maximum(self.von_mises.get(name, 0.0), stress)

    def damaged(self, body: str, limit_pa: float) -> np.ndarray:
        """Which elements of a body have been above the limit, [t] bool. KeyError for a body without stresses."""
        return self.von_mises[body] > limit_pa


@brief
@dataclass(frozen=True, eq=False)
class PairSlip:
    """How `body` slides on `other` where they touch, without the part along the contact's normal: means over their contacts, weighed by
    the normal forces."""

    body: str
    other: str
    normal_force: float  # N, magnitudes summed over the contacts
    velocity: np.ndarray  # [3] m/s
    # Share of normal_force at contacts that hold (slower than the scene's friction velocity, with friction): 1 sticks, 0 slips.
    sticking: float
    # Since the two began to touch, in scenes with contact.track_slip: when that was, s; the integral of the velocity, [3] m; the integral
    # of its magnitude, m.
    begun_s: Optional[float] = None
    displacement: Optional[np.ndarray] = None
    path: Optional[float] = None

    @property
    def slipping(self) -> bool:
        """Less than half of the normal force is at contacts that hold."""
        return self.sticking < 0.5

    def reversed(self) -> "PairSlip":
        """The same of `other` on `body`."""
        return PairSlip(self.other, self.body, self.normal_force, -self.velocity, self.sticking, self.begun_s,
                        None if self.displacement is None else -self.displacement, self.path)


def slips_from_messages(messages: Iterable[observation_pb2.PairSlip]) -> dict[tuple[str, str], PairSlip]:
    """By (body, other), in both orders."""
    out = {}
    for message in messages:
        velocity, total = message.velocity_m_s, message.since_contact
        slip = PairSlip(message.body, message.other, message.normal_force_n, np.array([velocity.x, velocity.y, velocity.z]), message.sticking)
        if message.HasField("since_contact"):
            slip = PairSlip(slip.body, slip.other, slip.normal_force, slip.velocity, slip.sticking, total.begun_s,
                            np.array([total.displacement_m.x, total.displacement_m.y, total.displacement_m.z]), total.path_m)
        out[slip.body, slip.other] = slip
        out[slip.other, slip.body] = slip.reversed()
    return out
