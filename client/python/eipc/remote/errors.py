"""What goes wrong between a policy server and its client."""

from __future__ import annotations

import grpc

from ..errors import EipcError


class PolicyServerError(EipcError):
    """The policy server does not answer, refuses, or answers something that is no action."""

    def __init__(self, message: str, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> None:
        super().__init__(message, code)

    def __str__(self) -> str:
        return self.message


def needed(module: str, package: str) -> PolicyServerError:
    return PolicyServerError(f"this policy client needs the module {module}, which is not installed: apt-get install {package}, or pip install "
                             f"{module}", grpc.StatusCode.FAILED_PRECONDITION)
