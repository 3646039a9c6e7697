"""What a hand feels, for a device that a person holds: the net contact wrench of its bodies at every step, in the device's frame.

Forces come with the steps that ask for contact wrenches, at their rate: take each observation of a stream of steps, and pass what the hand
feels to the driver of the device. Forces between bodies of the hand are left out. Inertia of the hand is not part of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from .geometry import Pose
from .observation import Observation
from .shown import brief


@brief
@dataclass(frozen=True, eq=False)
class Felt:
    """A wrench for the device, in its frame, and the one it was made of."""

    time_s: float  # simulated
    force: np.ndarray  # [3] N, device's frame: scaled, smoothed, limited
    moment: np.ndarray  # [3] N m, the same
    contact_force: np.ndarray  # [3] N, world, as the solver has it
    contact_moment: np.ndarray  # [3] N m, world, about the point named
    limited: bool  # the device's limit of force or moment is reached


class Hand:
    """The wrench on a hand of several bodies.

    about: the point of moments: a body, for its centre of mass, or a point of the world, m. frame: orientation (quaternion w x y z) of
    the device's frame in the world, as of `eipc.robot.Clutch`. scale: device forces per contact force. max_force_n, max_moment_nm: of the
    device; longer vectors are shortened and keep their direction. cutoff_hz: of a first-order low-pass over simulated time, for devices that
    must not jump; None: forces as they are. ValueError: numbers that are not finite and > 0 (limits may be infinite), no bodies.
    """

    def __init__(self, bodies: Sequence[str], about: Union[str, ArrayLike], *, frame: Optional[ArrayLike] = None, scale: float = 1.0,
                 max_force_n: float = np.inf, max_moment_nm: float = np.inf, cutoff_hz: Optional[float] = None) -> None:
        if isinstance(bodies, str) or not bodies:
            raise ValueError(f"bodies must be a sequence of names, got {bodies!r}")
        for name, value in (("scale", scale), ("cutoff_hz", 1.0 if cutoff_hz is None else cutoff_hz)):
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be > 0, got {value}")
        for name, value in (("max_force_n", max_force_n), ("max_moment_nm", max_moment_nm)):
            if not value > 0:
                raise ValueError(f"{name} must be > 0, got {value}")
        self.bodies = tuple(bodies)
        self._about = about
        self._to_device = Pose(np.zeros(3), np.array([1.0, 0, 0, 0]) if frame is None else np.asarray(frame, dtype=float)).inverse()
        self._scale = scale
        self._limits = (max_force_n, max_moment_nm)
        self._cutoff_hz = cutoff_hz
        self._smooth: Optional[tuple[float, np.ndarray]] = None  # simulated time, and [6] scaled wrench in the device's frame

    def __repr__(self) -> str:
        return f"Hand({', '.join(self.bodies)})"

    def feel(self, observation: Observation) -> Felt:
        """The wrench of an observation with contact wrenches and poses. KeyError for a body that it has not. An observation of an earlier
        time, as after a reset, begins anew."""
        about = self._about
        if isinstance(about, str):
            body = observation.bodies.get(about)
            if body is None or body.pose is None:
                raise KeyError(f"moments about '{about}' need its pose: observe poses too")
            about = body.pose.position
        force, moment = observation.contact_wrench_on(*self.bodies, about=about)
        wrench = self._scale * np.concatenate([self._to_device.apply(force), self._to_device.apply(moment)])
        if self._cutoff_hz is not None and self._smooth is not None and observation.time_s >= self._smooth[0]:
            follows = 1 - np.exp(-2 * np.pi * self._cutoff_hz * (observation.time_s - self._smooth[0]))
            wrench = self._smooth[1] + follows * (wrench - self._smooth[1])
        self._smooth = (observation.time_s, wrench)
        sizes = np.linalg.norm(wrench.reshape(2, 3), axis=1)
        shares = np.array([limit / size if size > limit else 1.0 for size, limit in zip(sizes, self._limits)])
        shown = wrench.reshape(2, 3) * shares[:, None]
        return Felt(observation.time_s, shown[0], shown[1], force, moment, bool((shares < 1).any()))
