"""What can go wrong with an evaluation as a whole; what goes wrong in an episode is part of its result."""

from __future__ import annotations

import grpc

from ..errors import EipcError


class EvaluationError(EipcError):
    """The evaluation cannot be made, continued or read as it is asked for."""

    def __init__(self, message: str) -> None:
        super().__init__(message, grpc.StatusCode.FAILED_PRECONDITION)

    def __str__(self) -> str:
        return self.message


class OtherBuildError(EvaluationError):
    """A server of another build than the evaluation's: equal seeds would not give equal bits."""
