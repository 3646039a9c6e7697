"""HTTP/2 by hand, for clients that do what no library does."""

from __future__ import annotations

import socket
import struct
from typing import Iterator

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW_SIZE = 4
LARGEST_FRAME = 16384
SERVICE = "/eipc.v1.SimulationService/"


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def integer(value: int, prefix_bits: int) -> bytes:
    """RFC 7541, 5.1."""
    most = (1 << prefix_bits) - 1
    if value < most:
        return bytes((value,))
    out, value = bytes((most,)), value - most
    while value > 127:
        out, value = out + bytes((value & 127 | 128,)), value >> 7
    return out + bytes((value,))


def literal(name: bytes, value: bytes) -> bytes:
    return b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value


def call_headers(method: str, *more: tuple[bytes, bytes]) -> bytes:
    path = (method if method.startswith("/") else SERVICE + method).encode()
    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"test"),
              (b"content-type", b"application/grpc"), (b"te", b"trailers"), *more]
    return b"".join(literal(name, value) for name, value in fields)


def grpc_message(message: "object") -> bytes:
    text = message.SerializeToString()
    return b"\0" + struct.pack(">I", len(text)) + text


class RawConnection:
    """A connection that reads only on request."""

    def __init__(self, address: str, initial_window: int | None = None, source: str = "127.0.0.1") -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30, source_address=(source, 0))
        settings = b"" if initial_window is None else struct.pack(">HI", INITIAL_WINDOW_SIZE, initial_window)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))
        self._unread = b""

    def __enter__(self) -> "RawConnection":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def call(self, stream: int, method: str, messages: bytes = b"", ends: bool = False, window: int = 0) -> None:
        out = frame(HEADERS, END_HEADERS, stream, call_headers(method))
        if window:
            out += frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", window))
        for at in range(0, len(messages), LARGEST_FRAME):
            out += frame(DATA, 0, stream, messages[at:at + LARGEST_FRAME])
        self.socket.sendall(out + (frame(DATA, END_STREAM, stream) if ends else b""))

    def frames(self) -> Iterator[tuple[int, int, int, bytes]]:
        """(kind, flags, stream, payload) of what comes, until the other side closes. Acknowledges settings and pings."""
        while True:
            while len(self._unread) >= 9 and len(self._unread) >= 9 + int.from_bytes(self._unread[:3], "big"):
                size = int.from_bytes(self._unread[:3], "big")
                kind, flags = self._unread[3], self._unread[4]
                stream = int.from_bytes(self._unread[5:9], "big") & 0x7FFFFFFF
                payload, self._unread = self._unread[9:9 + size], self._unread[9 + size:]
                if kind in (SETTINGS, PING) and not flags & ACK:
                    self.socket.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
                yield kind, flags, stream, payload
            try:
                got = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return
            if not got:
                return
            self._unread += got

    def send_until_closed(self, chunk: bytes, most_bytes: int) -> bool:
        """Sends `chunk` again and again. True when the other side ends the connection before it has taken `most_bytes`."""
        try:
            for _ in range(most_bytes // len(chunk)):
                self.socket.sendall(chunk)
        except (ConnectionError, TimeoutError) as error:
            return isinstance(error, ConnectionError)
        return False
