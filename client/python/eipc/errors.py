"""What can go wrong, as exceptions: one class per gRPC status that an eipc server uses.

Every error carries `code` (a grpc.StatusCode), `message` (the server's own words) and `reason` (its stable upper-case
word, when there is one). A physics outcome (a blocked
target, an iteration cap) is not an error: it is data in the observation's solver report.
"""

from __future__ import annotations

import re

import grpc

# Messages begin with `REASON: text`.
_REASON = re.compile(r"([A-Z][A-Z0-9_]+): ")


class EipcError(Exception):
    """Base of every error of this package."""

    def __init__(self, message: str, code: grpc.StatusCode = grpc.StatusCode.UNKNOWN) -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    @property
    def reason(self) -> str:
        """The server's stable word for what is wrong, such as REQUEST_ID_REUSED; empty when it gave none."""
        match = _REASON.match(self.message)
        return match.group(1) if match else ""

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


class InvalidArgumentError(EipcError):
    """The request is wrong whatever the server's state: an invalid scene, an unknown body, a wrong array size."""

    @property
    def problems(self) -> list[str]:
        """The message line by line: scene validation reports every problem on a line of its own."""
        return [line.strip() for line in self.message.splitlines() if line.strip()]


class NotFoundError(EipcError):
    """No such scene or session."""


class FailedPreconditionError(EipcError):
    """The server's state does not allow it, for example deleting a scene that sessions use."""


class AbortedError(EipcError):
    """`expected_step` did not match: somebody else stepped the session."""


class CancelledError(EipcError):
    """The call was cancelled; the session stays at its last whole step."""


class DeadlineExceededError(EipcError):
    """No answer in time; the session stays at its last whole step."""


class ResourceExhaustedError(EipcError):
    """A limit of the server: message size, sessions, memory, solve slots."""


class UnauthenticatedError(EipcError):
    """The server does not know the caller: no token or certificate, or one it has not heard of."""


class PermissionDeniedError(EipcError):
    """The caller may read, but not change."""


class UnavailableError(EipcError):
    """Nobody answers at the address, the connection was lost, or the server cannot do it now (it stops, its disk is full)."""


class UnimplementedError(EipcError):
    """The server does not know this call: client and server are of different versions."""


class InternalError(EipcError):
    """A fault of the server."""


class SceneFileError(EipcError):
    """A scene file, or a mesh file that it refers to, is missing or unreadable on the client's side."""

    def __init__(self, message: str) -> None:
        super().__init__(message, grpc.StatusCode.INVALID_ARGUMENT)

    def __str__(self) -> str:
        return self.message


class EpisodeError(EipcError):
    """A recorder's folder or an episode's file cannot be used, or the steps of an episode do not follow each other."""

    def __init__(self, message: str) -> None:
        super().__init__(message, grpc.StatusCode.FAILED_PRECONDITION)

    def __str__(self) -> str:
        return self.message


class ServerStartError(EipcError):
    """A local server could not be started."""

    def __init__(self, message: str) -> None:
        super().__init__(message, grpc.StatusCode.UNAVAILABLE)

    def __str__(self) -> str:
        return self.message


_BY_CODE = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgumentError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgumentError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
    grpc.StatusCode.ABORTED: AbortedError,
    grpc.StatusCode.CANCELLED: CancelledError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhaustedError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.UNIMPLEMENTED: UnimplementedError,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.DATA_LOSS: InternalError,
}
_CODE_BY_NUMBER = {code.value[0]: code for code in grpc.StatusCode}


def error_from_code(code: grpc.StatusCode, message: str) -> EipcError:
    """The exception of a gRPC status."""
    return _BY_CODE.get(code, EipcError)(message, code)


def error_from_number(number: int, message: str) -> EipcError:
    """The exception of a google.rpc.Code number, as step streams carry it."""
    return error_from_code(_CODE_BY_NUMBER.get(number, grpc.StatusCode.UNKNOWN), message)


def missing_capability(address: str, capability: str) -> EipcError:
    """The exception of a server that does not have what ServerInfo.capabilities calls so."""
    message = f"the server at {address} lacks the capability {capability}; it is of an earlier version"
    return UnimplementedError(message, grpc.StatusCode.UNIMPLEMENTED)


def error_from_rpc(error: grpc.RpcError, address: str) -> EipcError:
    """The exception of a failed call; a lost connection names the server's address."""
    code, message = error.code(), error.details() or ""
    if code == grpc.StatusCode.UNAVAILABLE and not _REASON.match(message):
        message = f"no eipc server answers at {address} ({message})"
    return error_from_code(code, message)
