"""What a step gives back, as dataclasses. SI units, world frame; arrays are read-only NumPy views, shape [n,3]."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import arrays
from .cameras import CameraPicture, CameraSense, camera_messages, pictures_from_message
from .drives import DriveReading, reading_from_message
from .geometry import Pose
from .goals import GoalReading, goals_from_messages
from .joints import JointReading, PoseDriveReading, joint_from_message, pose_drive_from_message
from .materials import BodyMaterial, materials_from_messages
from .shells import ShellReading, shell_from_message
from .shown import brief
from .solver_report import SolverReport, StepReceipt, receipt_from_message, report_from_message
from .touch import ContactTractions, PairSlip, slips_from_messages, tractions_from_message
from .v1 import geometry_pb2, observation_pb2


@dataclass(frozen=True)
class Observe:
    """Which groups a step should return; what is not asked for costs nothing and comes back as None or empty."""

    poses: bool = True
    twists: bool = False
    cage_positions: bool = False
    surface_positions: bool = False
    contact_wrenches: bool = False
    contact_counts: bool = False
    min_distance: bool = False
    energies: bool = False
    solver_report: bool = True
    # How far forces are from balance (SolverReport.unbalanced_force).
    force_balance: bool = False
    boundary_poses: bool = False
    state_digest: bool = False
    step_receipt: bool = False
    # Volume and pressure of what fills bodies.
    volumes: bool = False
    # Forces on single vertices of the surfaces.
    contact_tractions: bool = False
    # How bodies that touch slide on each other.
    slips: bool = False
    # Von Mises stress of the elements of bodies that deform.
    stresses: bool = False
    # Where joints are and what they exert.
    joints: bool = False
    # How far the scene's goals are reached.
    goals: bool = False
    # How shells lie: keypoints, coverage, layers, stretch.
    shells: bool = False
    # Which materials bodies have in place of the scene's.
    materials: bool = False
    # Restrict per-body groups to these bodies; empty means all.
    bodies: Sequence[str] = ()
    # Element type of arrays of positions, forces, areas and stresses: float64 or float32.
    positions_dtype: DTypeLike = np.float64
    # What cameras see, by names of their own; on a server with the capability `cameras`.
    cameras: Mapping[str, CameraSense] = field(default_factory=dict, hash=False)

    @classmethod
    def all(cls, **changes: Any) -> "Observe":
        """Every group but cameras, with changes by keyword."""
        groups = ("poses", "twists", "cage_positions", "surface_positions", "contact_wrenches", "contact_counts",
                  "min_distance", "energies", "solver_report", "force_balance", "boundary_poses", "state_digest", "step_receipt", "volumes",
                  "contact_tractions", "stresses", "slips", "joints", "goals", "shells", "materials")
        chosen: dict[str, Any] = {**dict.fromkeys(groups, True), **changes}
        return cls(**chosen)

    def to_message(self) -> observation_pb2.ObservationRequest:
        return observation_pb2.ObservationRequest(
            poses=self.poses, twists=self.twists, cage_positions=self.cage_positions,
            surface_positions=self.surface_positions, contact_wrenches=self.contact_wrenches,
            contact_counts=self.contact_counts, min_distance=self.min_distance, energies=self.energies,
            solver_report=self.solver_report, force_balance=self.force_balance, boundary_poses=self.boundary_poses, state_digest=self.state_digest,
            step_receipt=self.step_receipt, volumes=self.volumes,
            contact_tractions=self.contact_tractions, stresses=self.stresses, slips=self.slips, joints=self.joints,
            goals=self.goals, shells=self.shells, materials=self.materials, cameras=camera_messages(self.cameras), bodies=list(self.bodies),
            positions_dtype=arrays.data_type(self.positions_dtype))


@dataclass(frozen=True)
class VolumeReading:
    """What fills a body or its cavities; pressure over that of the outside."""

    volume_m3: float
    overpressure_pa: float


@brief
@dataclass(frozen=True, eq=False)
class BodyObservation:
    """One body: pose of its frame (centre of mass, mass-weighted polar fit), twist, positions [n,3] m."""

    name: str
    pose: Optional[Pose]
    linear_velocity: Optional[np.ndarray]
    angular_velocity: Optional[np.ndarray]
    cage_positions: Optional[np.ndarray]
    surface_positions: Optional[np.ndarray]
    # One for each of the body's enclosed volumes, in the scene's order.
    volumes: Sequence[VolumeReading] = ()
    contact_tractions: Optional[ContactTractions] = None
    # Of each tetrahedron of the body's mesh or cage, [t] Pa; of bodies that deform.
    von_mises: Optional[np.ndarray] = None
    # Of shells.
    shell: Optional[ShellReading] = None


@brief
@dataclass(frozen=True, eq=False)
class ContactWrench:
    """Force of `other` on `body`, N, and its moment about the centre of mass of `body`, Nm; end of the step."""

    body: str
    other: str
    normal_force: np.ndarray
    friction_force: np.ndarray
    normal_moment: np.ndarray
    friction_moment: np.ndarray

    @property
    def force(self) -> np.ndarray:
        return self.normal_force + self.friction_force

    @property
    def moment(self) -> np.ndarray:
        return self.normal_moment + self.friction_moment


@dataclass(frozen=True)
class PairCount:
    """Active contact stencils by kind."""

    point_triangle: int
    edge_edge: int

    @property
    def total(self) -> int:
        return self.point_triangle + self.edge_edge


@brief
@dataclass(frozen=True)
class ContactCounts(PairCount):
    """Active contact stencils of the whole scene, and by pair of bodies."""

    pairs: Mapping[tuple[str, str], PairCount] = field(default_factory=dict)


@dataclass(frozen=True)
class Energies:
    """Joules."""

    kinetic: float
    elastic: float
    gravity: float
    barrier: float
    volume: float = 0.0


@dataclass(frozen=True, eq=False)
class BoundaryPose:
    """The commanded pose of a driven frame, and the one it reached."""

    commanded: Pose
    achieved: Pose
    error_m: float = 0.0  # largest distance of a driven vertex from where the command places it
    drive: Optional[DriveReading] = None  # of a slider
    pose_drive: Optional[PoseDriveReading] = None  # of a body with a pose drive


@brief
@dataclass(frozen=True, eq=False)
class Observation:
    """State of a session after a step. Groups that were not asked for are None or empty."""

    step: int
    time_s: float
    bodies: Mapping[str, BodyObservation]
    # (body, other) -> force of other on body.
    contact_wrenches: Mapping[tuple[str, str], ContactWrench]
    contact_counts: Optional[ContactCounts]
    # Infinity when nothing is within the detection distance.
    min_distance_m: Optional[float]
    energies: Optional[Energies]
    solver_report: Optional[SolverReport]
    # (body, boundary set) -> poses; a kinematic body, or one that slides as a whole, has an empty boundary set name. Those of sliders
    # are always there.
    boundary_poses: Mapping[tuple[str, str], BoundaryPose]
    # 16 hex digits over every bit that is carried to the next step; empty when not asked for.
    state_digest: str = ""
    # Of steps only.
    step_receipt: Optional[StepReceipt] = None
    # (body, other) -> how body slides on other; both orders of each pair in contact.
    slips: Mapping[tuple[str, str], PairSlip] = field(default_factory=dict)
    # By name.
    joints: Mapping[str, JointReading] = field(default_factory=dict)
    # By name, in this state.
    goals: Mapping[str, GoalReading] = field(default_factory=dict)
    # By body: those that the last reset gave or drew, with all their numbers. Also in the answer of that reset.
    materials: Mapping[str, BodyMaterial] = field(default_factory=dict)
    # By the names of Observe.cameras.
    cameras: Mapping[str, CameraPicture] = field(default_factory=dict)

    @property
    def drives(self) -> Mapping[tuple[str, str], DriveReading]:
        """(body, boundary set) -> what the drive of that slider did."""
        return {key: pose.drive for key, pose in self.boundary_poses.items() if pose.drive is not None}

    def contact_force_on(self, *bodies: str) -> np.ndarray:
        """Sum of the contact forces on a body, or on several together, [3] N, world frame: forces between two of them are inner ones
        and left out. Needs contact_wrenches. KeyError for a body that the observation has not."""
        forces = [wrench.force for wrench in self._outer_wrenches(bodies)]
        return np.sum(forces, axis=0) if forces else np.zeros(3)

    def contact_wrench_on(self, *bodies: str, about: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The same force, and its moment about the point `about` ([3] m, world frame), [3] Nm: what a hand of these bodies feels at
        its wrist. Needs contact_wrenches and poses. KeyError for a body whose pose the observation has not."""
        moment = np.zeros(3)
        for wrench in self._outer_wrenches(bodies):
            body = self.bodies.get(wrench.body)
            if body is None or body.pose is None:
                raise KeyError(f"the moment of the forces on '{wrench.body}' needs its pose: observe poses too")
            moment += wrench.moment + np.cross(body.pose.position - np.asarray(about, dtype=float), wrench.force)
        return self.contact_force_on(*bodies), moment

    def _outer_wrenches(self, bodies: Sequence[str]) -> list[ContactWrench]:
        if not bodies:
            raise ValueError("name at least one body")
        unknown = [body for body in bodies if self.bodies and body not in self.bodies]
        if unknown:
            raise KeyError(f"no body '{unknown[0]}' in this observation; there are: {', '.join(self.bodies)}")
        return [wrench for wrench in self.contact_wrenches.values() if wrench.body in bodies and wrench.other not in bodies]


def _vector(message: geometry_pb2.Vec3) -> np.ndarray:
    return np.array([message.x, message.y, message.z])


def _optional_array(owner: observation_pb2.BodyObservation, name: str) -> Optional[np.ndarray]:
    return arrays.to_numpy(getattr(owner, name)) if owner.HasField(name) else None


class ReceivedBody(BodyObservation):
    """As the server sent it, unpacked as ReceivedObservation is."""

    message: observation_pb2.BodyObservation

    @functools.cached_property
    def name(self) -> str:
        return self.message.name

    @functools.cached_property
    def pose(self) -> Optional[Pose]:
        return Pose.from_message(self.message.pose) if self.message.HasField("pose") else None

    @functools.cached_property
    def linear_velocity(self) -> Optional[np.ndarray]:
        return _vector(self.message.linear_velocity_m_s) if self.message.HasField("linear_velocity_m_s") else None

    @functools.cached_property
    def angular_velocity(self) -> Optional[np.ndarray]:
        return _vector(self.message.angular_velocity_rad_s) if self.message.HasField("angular_velocity_rad_s") else None

    @functools.cached_property
    def cage_positions(self) -> Optional[np.ndarray]:
        return _optional_array(self.message, "cage_positions")

    @functools.cached_property
    def surface_positions(self) -> Optional[np.ndarray]:
        return _optional_array(self.message, "surface_positions")

    @functools.cached_property
    def volumes(self) -> Sequence[VolumeReading]:
        return tuple(VolumeReading(volume.volume_m3, volume.overpressure_pa) for volume in self.message.volumes)

    @functools.cached_property
    def contact_tractions(self) -> Optional[ContactTractions]:
        return tractions_from_message(self.message.contact_tractions) if self.message.HasField("contact_tractions") else None

    @functools.cached_property
    def von_mises(self) -> Optional[np.ndarray]:
        return _optional_array(self.message, "von_mises_pa")

    @functools.cached_property
    def shell(self) -> Optional[ShellReading]:
        return shell_from_message(self.message.shell) if self.message.HasField("shell") else None


def _body(message: observation_pb2.BodyObservation) -> BodyObservation:
    made = object.__new__(ReceivedBody)
    made.__dict__["message"] = message
    return made


def _wrench(message: observation_pb2.ContactWrench) -> ContactWrench:
    return ContactWrench(message.body, message.other, _vector(message.normal_force_n), _vector(message.friction_force_n),
                         _vector(message.normal_moment_nm), _vector(message.friction_moment_nm))


def _counts(message: observation_pb2.ContactCounts) -> ContactCounts:
    pairs = {(pair.body_a, pair.body_b): PairCount(pair.point_triangle, pair.edge_edge) for pair in message.pairs}
    return ContactCounts(message.point_triangle, message.edge_edge, pairs)


def _energies(message: observation_pb2.Energies) -> Energies:
    return Energies(message.kinetic_j, message.elastic_j, message.gravity_j, message.barrier_j, message.volume_j)


def _boundary_pose(message: observation_pb2.BoundaryPose) -> BoundaryPose:
    return BoundaryPose(Pose.from_message(message.commanded), Pose.from_message(message.achieved), message.error_m,
                        reading_from_message(message.drive) if message.HasField("drive") else None,
                        pose_drive_from_message(message.pose_drive) if message.HasField("pose_drive") else None)


class ReceivedObservation(Observation):
    """An observation as the server sent it. Each group is unpacked when it is first asked for, so that one that nobody reads costs
    nothing; arrays are views of the message's bytes."""

    message: observation_pb2.Observation

    @functools.cached_property
    def step(self) -> int:
        return self.message.step

    @functools.cached_property
    def time_s(self) -> float:
        return self.message.time_s

    @functools.cached_property
    def bodies(self) -> Mapping[str, BodyObservation]:
        return {body.name: _body(body) for body in self.message.bodies}

    @functools.cached_property
    def contact_wrenches(self) -> Mapping[tuple[str, str], ContactWrench]:
        return {(wrench.body, wrench.other): _wrench(wrench) for wrench in self.message.contact_wrenches}

    @functools.cached_property
    def contact_counts(self) -> Optional[ContactCounts]:
        return _counts(self.message.contact_counts) if self.message.HasField("contact_counts") else None

    @functools.cached_property
    def min_distance_m(self) -> Optional[float]:
        return self.message.min_distance_m if self.message.HasField("min_distance_m") else None

    @functools.cached_property
    def energies(self) -> Optional[Energies]:
        return _energies(self.message.energies) if self.message.HasField("energies") else None

    @functools.cached_property
    def solver_report(self) -> Optional[SolverReport]:
        return report_from_message(self.message.solver_report) if self.message.HasField("solver_report") else None

    @functools.cached_property
    def boundary_poses(self) -> Mapping[tuple[str, str], BoundaryPose]:
        return {(pose.body, pose.boundary_set): _boundary_pose(pose) for pose in self.message.boundary_poses}

    @functools.cached_property
    def state_digest(self) -> str:
        return self.message.state_digest

    @functools.cached_property
    def step_receipt(self) -> Optional[StepReceipt]:
        return receipt_from_message(self.message.step_receipt) if self.message.HasField("step_receipt") else None

    @functools.cached_property
    def slips(self) -> Mapping[tuple[str, str], PairSlip]:
        return slips_from_messages(self.message.slips)

    @functools.cached_property
    def joints(self) -> Mapping[str, JointReading]:
        return {joint.name: joint_from_message(joint) for joint in self.message.joints}

    @functools.cached_property
    def goals(self) -> Mapping[str, GoalReading]:
        return goals_from_messages(self.message.goals)

    @functools.cached_property
    def materials(self) -> Mapping[str, BodyMaterial]:
        return materials_from_messages(self.message.materials)

    @functools.cached_property
    def cameras(self) -> Mapping[str, CameraPicture]:
        return pictures_from_message(self.message.cameras)


def observation_from_message(message: observation_pb2.Observation) -> ReceivedObservation:
    made = object.__new__(ReceivedObservation)
    made.__dict__["message"] = message
    return made
