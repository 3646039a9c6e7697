"""What a step gives back, as dataclasses. SI units, world frame; arrays are read-only NumPy views, shape [n,3]."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import arrays
from .drives import DriveReading, reading_from_message
from .geometry import Pose
from .goals import GoalReading, goals_from_messages
from .joints import JointReading, PoseDriveReading, joint_from_message, pose_drive_from_message
from .shells import ShellReading, shell_from_message
from .shown import brief
from .touch import ContactTractions, PairSlip, slips_from_messages, tractions_from_message
from .v1 import geometry_pb2, observation_pb2, scene_pb2


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
    # Restrict per-body groups to these bodies; empty means all.
    bodies: Sequence[str] = ()
    # Element type of arrays of positions, forces, areas and stresses: float64 or float32.
    positions_dtype: DTypeLike = np.float64

    @classmethod
    def all(cls, **changes: Any) -> "Observe":
        """Every group, with changes by keyword."""
        groups = ("poses", "twists", "cage_positions", "surface_positions", "contact_wrenches", "contact_counts",
                  "min_distance", "energies", "solver_report", "boundary_poses", "state_digest", "step_receipt", "volumes",
                  "contact_tractions", "stresses", "slips", "joints", "goals", "shells")
        chosen: dict[str, Any] = {**dict.fromkeys(groups, True), **changes}
        return cls(**chosen)

    def to_message(self) -> observation_pb2.ObservationRequest:
        return observation_pb2.ObservationRequest(
            poses=self.poses, twists=self.twists, cage_positions=self.cage_positions,
            surface_positions=self.surface_positions, contact_wrenches=self.contact_wrenches,
            contact_counts=self.contact_counts, min_distance=self.min_distance, energies=self.energies,
            solver_report=self.solver_report, boundary_poses=self.boundary_poses, state_digest=self.state_digest,
            step_receipt=self.step_receipt, volumes=self.volumes,
            contact_tractions=self.contact_tractions, stresses=self.stresses, slips=self.slips, joints=self.joints,
            goals=self.goals, shells=self.shells, bodies=list(self.bodies),
            positions_dtype=arrays.data_type(self.positions_dtype))


class StepLimit(enum.Enum):
    """What kept a step from its tolerance."""

    NOTHING = observation_pb2.LIMITED_BY_NOTHING
    COLLISION = observation_pb2.LIMITED_BY_COLLISION
    INVERSION = observation_pb2.LIMITED_BY_INVERSION
    FRICTION = observation_pb2.LIMITED_BY_FRICTION
    ITERATIONS = observation_pb2.LIMITED_BY_ITERATIONS
    LINE_SEARCH = observation_pb2.LIMITED_BY_LINE_SEARCH
    LINEAR_SOLVE = observation_pb2.LIMITED_BY_LINEAR_SOLVE
    TIME = observation_pb2.LIMITED_BY_TIME


class Outcome(enum.Enum):
    """How a step ended. Whatever it says, the state holds no intersection."""

    UNSPECIFIED = observation_pb2.STEP_OUTCOME_UNSPECIFIED
    CONVERGED = observation_pb2.CONVERGED
    ITERATION_CAP = observation_pb2.ITERATION_CAP
    TARGET_NOT_REACHED = observation_pb2.TARGET_NOT_REACHED
    STALLED = observation_pb2.STALLED

    @classmethod
    def _missing_(cls, value: object) -> "Outcome":
        return cls.UNSPECIFIED  # an outcome that a newer server knows


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


@dataclass(frozen=True)
class AuditReport:
    """The exact check of an accepted state."""

    intersections: int  # pairs of triangles that meet
    inversions: int  # elements with orientation <= 0
    forbidden_inversions: int  # those of materials that forbid it
    seconds: float
    # Smallest distance of two features as a part of what the thicknesses of shells leave them; None where none are near.
    least_relative_distance: Optional[float] = None


@brief
@dataclass(frozen=True)
class SolverReport:
    """How the last step was solved."""

    outcome: Outcome
    newton_iterations: int
    linear_solves: int
    line_search_halvings: int
    min_ccd_fraction: float
    residual_m_s: float
    target_error_m: float
    wall_time_s: float
    barrier_stiffness: float
    stage_seconds: Mapping[str, float]
    # Points that the exact check refused although collision detection had let them pass; 0 is expected.
    exact_rejections: int = 0
    # Of the accepted state, in steps that the scene's `audit_every_n_steps` names; None in others.
    audit: Optional[AuditReport] = None
    limited_by: StepLimit = StepLimit.NOTHING
    linear_solver: str = ""  # of Newton's systems: "CHOLESKY", "PCG_DIAGONAL", "PCG_BLOCK" or "PCG_IC0"; what AUTO stood for
    krylov_iterations: int = 0  # of BiCGSTAB (implicit friction) and of conjugate gradients
    direct_solves: int = 0  # linear systems that those left to a direct solver
    kept_matrices: int = 0  # iterations of simplified Newton with the matrix of the one before
    missed_targets: int = 0  # drives that were stopped before they arrived; independent of the outcome
    unsettled_friction: int = 0  # stages that ended before friction, lagged until it converges, had converged
    # Of the accepted state, in floating point; forces of a state that has some are not those of the material.
    inverted_elements: int = 0
    late_steps: int = 0  # steps of the request that were complete after their time limit
    implicit_stages: int = 0  # stages whose lags of friction did not converge and that implicit friction was solved for instead
    # How often what the integrator promises of energy, momenta and order was broken, by cause (StructureBreaks in observation.proto).
    structure_breaks: Mapping[str, int] = field(default_factory=dict)

    @property
    def converged(self) -> bool:
        return self.outcome is Outcome.CONVERGED


@dataclass(frozen=True)
class StepReceipt:
    """What vouches for a request's steps: the worst figure of each kind over them, and the digest that `eipc verify` finds again."""

    scene: str
    build: str
    first_step: int
    step: int
    state_digest: str
    min_distance_m: float
    min_ccd_fraction: float
    residual_m_s: float
    target_error_m: float
    newton_iterations: int
    outcome: Outcome
    missed_targets: int = 0  # the most drives that a step of the request stopped before they arrived
    inverted_elements: int = 0  # the most that a step of the request ended with


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


def _body(message: observation_pb2.BodyObservation) -> BodyObservation:
    def optional_vector(name: str) -> Optional[np.ndarray]:
        return _vector(getattr(message, name)) if message.HasField(name) else None

    return BodyObservation(
        name=message.name,
        pose=Pose.from_message(message.pose) if message.HasField("pose") else None,
        linear_velocity=optional_vector("linear_velocity_m_s"),
        angular_velocity=optional_vector("angular_velocity_rad_s"),
        cage_positions=_optional_array(message, "cage_positions"),
        surface_positions=_optional_array(message, "surface_positions"),
        volumes=tuple(VolumeReading(volume.volume_m3, volume.overpressure_pa) for volume in message.volumes),
        contact_tractions=tractions_from_message(message.contact_tractions) if message.HasField("contact_tractions") else None,
        von_mises=_optional_array(message, "von_mises_pa"),
        shell=shell_from_message(message.shell) if message.HasField("shell") else None)


def _wrench(message: observation_pb2.ContactWrench) -> ContactWrench:
    return ContactWrench(message.body, message.other, _vector(message.normal_force_n), _vector(message.friction_force_n),
                         _vector(message.normal_moment_nm), _vector(message.friction_moment_nm))


def _counts(message: observation_pb2.ContactCounts) -> ContactCounts:
    pairs = {(pair.body_a, pair.body_b): PairCount(pair.point_triangle, pair.edge_edge) for pair in message.pairs}
    return ContactCounts(message.point_triangle, message.edge_edge, pairs)


def _audit(message: observation_pb2.AuditReport) -> AuditReport:
    return AuditReport(message.intersections, message.inversions, message.forbidden_inversions, message.seconds,
                       message.least_relative_distance if message.HasField("least_relative_distance") else None)


def _report(message: observation_pb2.SolverReport) -> SolverReport:
    return SolverReport(
        outcome=Outcome(message.outcome), newton_iterations=message.newton_iterations,
        linear_solves=message.linear_solves, line_search_halvings=message.line_search_halvings,
        min_ccd_fraction=message.min_ccd_fraction, residual_m_s=message.residual_m_s,
        target_error_m=message.target_error_m, wall_time_s=message.wall_time_s,
        barrier_stiffness=message.barrier_stiffness, stage_seconds=dict(message.stage_seconds),
        exact_rejections=message.exact_rejections,
        audit=_audit(message.audit) if message.HasField("audit") else None,
        limited_by=StepLimit(message.limited_by),
        linear_solver=scene_pb2.SolverSettings.LinearSolver.Name(message.linear_solver),
        krylov_iterations=message.krylov_iterations, direct_solves=message.direct_solves, kept_matrices=message.kept_matrices,
        missed_targets=message.missed_targets, unsettled_friction=message.unsettled_friction,
        inverted_elements=message.inverted_elements, late_steps=message.late_steps, implicit_stages=message.implicit_stages,
        structure_breaks={f.name: getattr(message.structure_breaks, f.name) for f in message.structure_breaks.DESCRIPTOR.fields})


def _receipt(message: observation_pb2.StepReceipt) -> StepReceipt:
    return StepReceipt(message.scene, message.build, message.first_step, message.step, message.state_digest,
                       message.min_distance_m, message.min_ccd_fraction, message.residual_m_s, message.target_error_m,
                       message.newton_iterations, Outcome(message.outcome), message.missed_targets,
                       message.inverted_elements)


def _boundary_pose(message: observation_pb2.BoundaryPose) -> BoundaryPose:
    return BoundaryPose(Pose.from_message(message.commanded), Pose.from_message(message.achieved), message.error_m,
                        reading_from_message(message.drive) if message.HasField("drive") else None,
                        pose_drive_from_message(message.pose_drive) if message.HasField("pose_drive") else None)


def observation_from_message(message: observation_pb2.Observation) -> Observation:
    """Unpacks an observation; arrays stay views of the message's bytes."""
    energies = message.energies
    return Observation(
        step=message.step,
        time_s=message.time_s,
        bodies={body.name: _body(body) for body in message.bodies},
        contact_wrenches={(wrench.body, wrench.other): _wrench(wrench) for wrench in message.contact_wrenches},
        contact_counts=_counts(message.contact_counts) if message.HasField("contact_counts") else None,
        min_distance_m=message.min_distance_m if message.HasField("min_distance_m") else None,
        energies=Energies(energies.kinetic_j, energies.elastic_j, energies.gravity_j, energies.barrier_j,
                          energies.volume_j)
        if message.HasField("energies") else None,
        solver_report=_report(message.solver_report) if message.HasField("solver_report") else None,
        boundary_poses={(pose.body, pose.boundary_set): _boundary_pose(pose) for pose in message.boundary_poses},
        state_digest=message.state_digest,
        step_receipt=_receipt(message.step_receipt) if message.HasField("step_receipt") else None,
        slips=slips_from_messages(message.slips),
        joints={joint.name: joint_from_message(joint) for joint in message.joints},
        goals=goals_from_messages(message.goals))
