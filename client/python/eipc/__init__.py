"""eipc: intersection-free simulation of soft and stiff bodies, through an eipc-server.

Everything is SI; world frame right-handed, z up; quaternions w x y z. Start with connect().
"""

from .client import BodyInfo, BodyTopology, Client, Scene, SceneSummary, Session, connect
from .errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    EipcError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    SceneFileError,
    ServerStartError,
    UnavailableError,
    UnimplementedError,
)
from .geometry import Pose, Trajectory
from .observation import (
    BodyObservation,
    BoundaryPose,
    ContactCounts,
    ContactWrench,
    Energies,
    Observation,
    Observe,
    Outcome,
    PairCount,
    SolverReport,
)
from .scene_source import load_scene, mesh_from_arrays
from .server_process import ServerProcess, launch_server
from .stream import StepStream

__version__ = "0.1.0"

__all__ = [
    "AbortedError", "BodyInfo", "BodyObservation", "BodyTopology", "BoundaryPose", "CancelledError", "Client",
    "ContactCounts", "ContactWrench", "DeadlineExceededError", "EipcError", "Energies", "FailedPreconditionError",
    "InternalError", "InvalidArgumentError", "NotFoundError", "Observation", "Observe", "Outcome", "PairCount", "Pose",
    "ResourceExhaustedError", "Scene", "SceneFileError", "SceneSummary", "ServerProcess", "ServerStartError", "Session",
    "SolverReport", "StepStream", "Trajectory", "UnavailableError", "UnimplementedError", "connect", "launch_server",
    "load_scene", "mesh_from_arrays",
]
