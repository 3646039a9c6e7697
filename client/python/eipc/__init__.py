"""eipc: intersection-free simulation of soft and stiff bodies, through an eipc-server.

Everything is SI; world frame right-handed, z up; quaternions w x y z. Start with connect().
"""

from .client import BodyInfo, BodyTopology, Client, Scene, SceneSummary, Tls, connect
from . import drives, robot
from .cameras import CameraPicture, CameraSense
from .drives import DriveMode, DriveMotion, DriveReading
from .joints import JointReading, PoseDriveReading
from .errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    EipcError,
    EpisodeError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    SceneFileError,
    ServerStartError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)
from .episode import Episode, load_episodes
from .episode_file import LostEpisode
from .farm import Farm
from .geometry import Interpolation, Pose, Trajectory
from .goals import GoalProgress, GoalReading
from .materials import BodyMaterial, MaterialRange
from .observation import (
    BodyObservation,
    BoundaryPose,
    ContactCounts,
    ContactWrench,
    Energies,
    Observation,
    Observe,
    PairCount,
    VolumeReading,
)
from .placement import Placement, PlacementRange
from .real_time import RealTimeLoop, Timing
from .recorder import LostEpisodeWarning, Recorder
from .resources import BatchResult, MeshUpload, Operation, ServerInfo, SessionInfo, Snapshot
from .scene_source import load_scene, mesh_from_arrays
from .server_process import ServerProcess, launch, launch_server
from .session import Session
from .shells import ShellReading
from .solver_report import Outcome, SolverReport, StepLimit, StepReceipt
from .stacked import StackedObservations, StackedPictures, StackedSolverReports
from .stream import StepStream
from .touch import ContactTractions, PairSlip, PeakStress

__version__ = "0.2.0"

__all__ = [
    "AbortedError", "BatchResult", "BodyInfo", "BodyMaterial", "BodyObservation", "BodyTopology", "BoundaryPose", "CameraPicture", "CameraSense", "CancelledError", "Client",
    "ContactCounts", "ContactTractions", "ContactWrench", "DeadlineExceededError", "DriveMode", "DriveMotion", "DriveReading", "EipcError", "Energies", "Episode", "EpisodeError", "FailedPreconditionError",
    "Farm", "GoalProgress", "GoalReading",
    "InternalError", "Interpolation", "InvalidArgumentError", "JointReading", "LostEpisode", "LostEpisodeWarning", "MaterialRange", "MeshUpload", "NotFoundError", "Observation", "Observe", "Operation", "Outcome",
    "PairCount", "PairSlip", "PeakStress", "PermissionDeniedError", "Placement", "PlacementRange", "Pose", "PoseDriveReading", "RealTimeLoop", "Recorder", "ResourceExhaustedError", "Scene",
    "SceneFileError", "SceneSummary", "ServerInfo", "ServerProcess", "ServerStartError", "Session", "SessionInfo", "ShellReading", "Snapshot", "SolverReport", "StackedObservations", "StackedPictures", "StackedSolverReports", "StepLimit", "StepReceipt", "StepStream",
    "VolumeReading", "Timing", "Tls", "Trajectory", "UnauthenticatedError", "UnavailableError", "UnimplementedError", "connect", "drives", "launch", "robot",
    "launch_server", "load_episodes", "load_scene", "mesh_from_arrays",
]
