"""HTTP/1.1 and WebSockets as few bytes as the viewer's tests need, with every freedom to send what is wrong."""

from __future__ import annotations

import base64
import os
import socket
import struct
from typing import Dict, Optional, Tuple

from eipc.v1 import viewer_pb2

TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9


class Refused(Exception):
    """The handshake was answered with a status other than 101."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"{status} {body!r}")
        self.status, self.body = status, body


def request(port: int, method: str = "GET", path: str = "/", headers: Optional[Dict[str, str]] = None, body: bytes = b"") -> Tuple[int, Dict[str, str], bytes]:
    """Status, headers (of names in lower case) and body."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        send_head(connection, port, method, path, {"Content-Length": str(len(body)), "Connection": "close", **(headers or {})})
        connection.sendall(body)
        return read_response(connection)


def send_head(connection: socket.socket, port: int, method: str, path: str, headers: Dict[str, str]) -> None:
    named = {"Host": f"127.0.0.1:{port}", **headers}
    connection.sendall((f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in named.items()) + "\r\n").encode("latin-1"))


def ask_for_socket(connection: socket.socket, port: int, headers: Optional[Dict[str, str]] = None, path: str = "/socket") -> None:
    """Sends the handshake of a WebSocket."""
    send_head(connection, port, "GET", path, {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Origin": f"http://127.0.0.1:{port}",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), **(headers or {})})


def read_response(connection: socket.socket) -> Tuple[int, Dict[str, str], bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("ended before an answer")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return int(lines[0].split()[1]), headers, body


class WebSocket:
    """A connection of a page. Used in a `with` block."""

    def __init__(self, port: int, headers: Optional[Dict[str, str]] = None, path: str = "/socket", receive_buffer: int = 0,
                 over: Optional[socket.socket] = None) -> None:
        self._socket = over or self._connect(port, receive_buffer)
        self._data = b""
        ask_for_socket(self._socket, port, headers, path)
        status, _, body = self._handshake()
        if status != 101:
            self.close()
            raise Refused(status, body)

    @staticmethod
    def _connect(port: int, receive_buffer: int) -> socket.socket:
        made = socket.socket()
        if receive_buffer:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        made.settimeout(30)
        made.connect(("127.0.0.1", port))
        return made

    def __enter__(self) -> "WebSocket":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def _handshake(self) -> Tuple[int, Dict[str, str], bytes]:
        while b"\r\n\r\n" not in self._data:
            piece = self._socket.recv(65536)
            if not piece:
                raise ConnectionError("ended before an answer")
            self._data += piece
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        return int(head.split()[1]), {}, self._data

    def send_raw(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send(self, payload: bytes, opcode: int = BINARY) -> None:
        length = len(payload)
        head = bytes([0x80 | opcode])
        head += bytes([0x80 | length]) if length < 126 else bytes([0xFE]) + struct.pack(">H", length) if length < 65536 else bytes([0xFF]) + struct.pack(">Q", length)
        mask = os.urandom(4)
        self._socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def receive(self) -> Tuple[int, bytes]:
        """Opcode and payload of the next frame, pings left out; (CLOSE, b"") at the end of the connection."""
        while True:
            frame = self._parse()
            if frame is not None:
                if frame[0] != PING:
                    return frame
                continue
            try:
                piece = self._socket.recv(1 << 20)
            except ConnectionError:
                piece = b""
            if not piece:
                return CLOSE, b""
            self._data += piece

    def _parse(self) -> Optional[Tuple[int, bytes]]:
        data = self._data
        if len(data) < 2:
            return None
        length, at = data[1] & 127, 2
        if length >= 126:
            size = 2 if length == 126 else 8
            if len(data) < at + size:
                return None
            length, at = int.from_bytes(data[at:at + size], "big"), at + size
        if len(data) < at + length:
            return None
        self._data = data[at + length:]
        return data[0] & 15, data[at:at + length]

    def ask(self, message: viewer_pb2.ViewerRequest) -> None:
        self.send(message.SerializeToString())

    def next(self) -> viewer_pb2.ViewerMessage:
        opcode, payload = self.receive()
        if opcode != BINARY:
            raise ConnectionError(f"ended: {payload!r}")
        return viewer_pb2.ViewerMessage.FromString(payload)

    def answer(self, number: int) -> viewer_pb2.ViewerAnswer:
        while True:
            message = self.next()
            if message.WhichOneof("content") == "answer" and message.answer.id == number:
                return message.answer

    def call(self, number: int, method: str, request: object) -> viewer_pb2.ViewerAnswer:
        self.ask(viewer_pb2.ViewerRequest(id=number, call=viewer_pb2.ViewerCall(method=method, request=request.SerializeToString())))  # type: ignore[attr-defined]
        return self.answer(number)
