"""Evaluation of policies on one machine or many: episodes with seeds, each with exactly one result that can be checked."""

from .backoff import Backoff
from .errors import EvaluationError, OtherBuildError
from .farm_session import FarmSession
from .plan import Case, Plan
from .policy import Policy, load_policy
from .results import Result, Results
from .server_farm import Farm, FarmOptions, Throughput

__all__ = ["Backoff", "Case", "EvaluationError", "Farm", "FarmOptions", "FarmSession", "OtherBuildError", "Plan", "Policy", "Result", "Results",
           "Throughput", "load_policy"]
