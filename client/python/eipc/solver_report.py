"""How steps were solved, and what vouches for them, as dataclasses. SI units."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Mapping, Optional

from .shown import brief
from .v1 import observation_pb2, scene_pb2


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
    # Largest resultant of what is not in balance on one body, N; None where Observe(force_balance=True) did not ask
    # for it, and where the scene's integrator is explicit: it solves no equation.
    unbalanced_force: Optional[float] = None
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


def _audit(message: observation_pb2.AuditReport) -> AuditReport:
    return AuditReport(message.intersections, message.inversions, message.forbidden_inversions, message.seconds,
                       message.least_relative_distance if message.HasField("least_relative_distance") else None)


def report_from_message(message: observation_pb2.SolverReport) -> SolverReport:
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
        inverted_elements=message.inverted_elements, late_steps=message.late_steps,
        unbalanced_force=message.unbalanced_force_n if message.HasField("unbalanced_force_n") else None, implicit_stages=message.implicit_stages,
        structure_breaks={f.name: getattr(message.structure_breaks, f.name) for f in message.structure_breaks.DESCRIPTOR.fields})


def receipt_from_message(message: observation_pb2.StepReceipt) -> StepReceipt:
    return StepReceipt(message.scene, message.build, message.first_step, message.step, message.state_digest,
                       message.min_distance_m, message.min_ccd_fraction, message.residual_m_s, message.target_error_m,
                       message.newton_iterations, Outcome(message.outcome), message.missed_targets,
                       message.inverted_elements)
