"""Pipelined stepping: one connection, requests sent ahead, exactly one ordered answer to each."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Optional

import grpc

from .errors import DeadlineExceededError, EipcError, FailedPreconditionError, error_from_number, error_from_rpc
from .observation import Observation, ReceivedObservation
from .received import observation_from_bytes
from .v1 import service_pb2

if TYPE_CHECKING:
    from .session import Session

_END = object()
# A stream that the server has not confirmed within this time, s, is cancelled all the same.
_CONFIRMED_WITHIN_S = 1.0


class _Once:
    """Something to do once, by whichever thread comes first; who comes while it is done waits."""

    def __init__(self, do: Callable[[], None]) -> None:
        self._do: Optional[Callable[[], None]] = do
        self._lock = threading.Lock()
        self._error: Optional[BaseException] = None

    def __repr__(self) -> str:
        return f"_Once({'done' if self._do is None else 'to do'})"

    def done(self) -> None:
        """It is, after this. Raises nothing."""
        with self._lock:
            do, self._do = self._do, None
            try:
                if do is not None:
                    do()
            except BaseException as error:  # whatever it is, check() raises it
                self._error = error

    def check(self) -> None:
        """Raises what doing it raised."""
        if self._error is not None:
            raise self._error


class StepStream:
    """An open step stream of one session; made by Session.stream(), used in a `with` block.

    `step` sends one request and waits for its answer. `send` and `receive` apart, or `run`, keep several requests in
    flight so that the server never waits for the network. A request that fails raises from its own `receive`; the
    session then is at its last whole step and the stream stays usable.
    """

    def __init__(self, session: "Session", timeout: Optional[float]) -> None:
        self._session = session
        self._timeout = timeout
        self._requests: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._responses: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._pending = 0
        self._failure: Optional[EipcError] = None
        # Step the session is at, as the last answer said; None before the first.
        self.session_step: Optional[int] = None
        self._call = session._client._step_stream(self._outgoing())
        # The server knows of the call, or it is over.
        self._confirmed = threading.Event()
        self._reader = threading.Thread(target=self._read, name="eipc-stream", daemon=True)
        self._reader.start()

    def __repr__(self) -> str:
        return f"StepStream(of {self._session.name}, at step {self.session_step}, {self._pending} in flight)"

    def __enter__(self) -> "StepStream":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.close(cancel=kind is not None)

    @property
    def pending(self) -> int:
        """Requests sent and not yet received."""
        return self._pending

    def send(self, dt: float, **options: Any) -> None:
        """Sends one step request without waiting; arguments as Session.step (no timeout)."""
        self._send_message(self._session._step_request(dt, **options))

    def _send_message(self, request: "service_pb2.StepRequest | bytes", meanwhile: Optional[_Once] = None) -> None:
        if self._failure is not None:
            raise self._failure
        self._requests.put((request, meanwhile))
        self._pending += 1

    def _take(self, request: "service_pb2.StepRequest | bytes", meanwhile: Callable[[], None]) -> ReceivedObservation:
        """The answer to a request, a message or one that is serialized, as step() gives it. `meanwhile` is called while the server works, by
        the thread that has sent the request, and has been called when this returns or raises. What it raises is raised here, in place of
        the answer, which the stream has received then."""
        once = _Once(meanwhile)
        try:
            self._send_message(request, once)
            seen = self.receive()
        finally:
            once.done()  # in the other thread, as a rule; not where the call is over
        once.check()
        return seen

    def _outgoing(self) -> "Iterator[service_pb2.StepRequest | bytes]":
        for request, meanwhile in iter(self._requests.get, _END):
            yield request
            if meanwhile is not None:  # gRPC asks for the next request when it has sent this one
                meanwhile.done()

    def receive(self, timeout: Optional[float] = None) -> ReceivedObservation:
        """The answer to the oldest request in flight. timeout: s, default the stream's."""
        if self._failure is not None:
            raise self._failure
        if self._pending == 0:
            raise FailedPreconditionError("receive() without a request in flight", grpc.StatusCode.FAILED_PRECONDITION)
        limit = self._timeout if timeout is None else timeout
        try:
            response = self._responses.get(timeout=limit)
        except queue.Empty:
            # An answer that comes later could no longer be distinguished from the next one's.
            message = f"no answer on the step stream within {limit} s; the stream is closed"
            self._fail(DeadlineExceededError(message, grpc.StatusCode.DEADLINE_EXCEEDED))
        if isinstance(response, EipcError):
            self._fail(response)
        self._pending -= 1
        self.session_step = response.session_step
        if response.status_code != 0:
            raise error_from_number(response.status_code, response.status_message)
        return observation_from_bytes(b"".join(response.observation))

    def step(self, dt: float, **options: Any) -> Observation:
        """Sends one request and waits for its answer. Refused while earlier answers have not been received."""
        if self._pending:
            raise FailedPreconditionError("step() while answers are in flight: receive() them first",
                                          grpc.StatusCode.FAILED_PRECONDITION)
        self.send(dt, **options)
        return self.receive()

    def run(self, requests: Iterable[Mapping[str, Any]], window: int = 4) -> Iterator[Observation]:
        """Steps through `requests` (keyword arguments of Session.step), up to `window` in flight; yields in order."""
        for request in requests:
            while self._pending >= max(window, 1):
                yield self.receive()
            self.send(**request)
        while self._pending:
            yield self.receive()

    def close(self, cancel: bool = False) -> None:
        """Ends the stream; unless cancelled, steps that were sent are still taken."""
        self._end()
        if cancel or self._failure is not None:
            self._cancel()
        self._reader.join(timeout=self._timeout)
        if self._reader.is_alive():
            self._cancel()
            self._reader.join()
        if self._failure is None:
            self._failure = FailedPreconditionError("the step stream is closed", grpc.StatusCode.FAILED_PRECONDITION)

    def _end(self) -> None:
        """Says that no request follows, and waits for nothing."""
        self._requests.put(_END)

    def _fail(self, error: EipcError) -> None:
        self._failure = error
        self._pending = 0
        self._cancel()
        raise error

    def _cancel(self) -> None:
        """Not before the server has confirmed the call: gRPC's cancellation might be sent before the call's headers, for which a proxy
        closes the connection and so ends the other streams on it (grpc issue 38758)."""
        self._confirmed.wait(_CONFIRMED_WITHIN_S)
        self._call.cancel()

    def _read(self) -> None:
        try:
            self._call.initial_metadata()
            self._confirmed.set()
            for response in self._call:
                self._responses.put(response)
            self._responses.put(EipcError("the server ended the step stream", grpc.StatusCode.CANCELLED))
        except grpc.RpcError as error:
            self._responses.put(error_from_rpc(error, self._session._client.address))
        finally:
            self._confirmed.set()
