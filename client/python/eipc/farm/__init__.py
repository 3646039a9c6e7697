"""Evaluation of policies on one machine or many: episodes with seeds, each with exactly one result that can be checked."""

from .errors import EvaluationError, OtherBuildError
from .plan import Case, Plan
from .policy import Policy, load_policy
from .results import Result, Results

__all__ = ["Case", "EvaluationError", "OtherBuildError", "Plan", "Policy", "Result", "Results", "load_policy"]
