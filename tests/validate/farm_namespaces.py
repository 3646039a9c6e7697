"""Servers in network namespaces of their own, whose packets are lost at random and whose connections are delayed."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

from farm_disturb import Disturbance

_PORT, _RELAY_PORT = 50051, 50052
_RELAY = Path(__file__).resolve().parent / "farm_relay.py"
# In each direction; a kernel sends lost packets again after 0.2 s or more.
LOSS_PERCENT, DELAY_S, JITTER_S = 2, 0.005, 0.002


def missing() -> str:
    """Why there can be no namespaces here; "" where there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    absent = [name for name in ("ip", "nft") if shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") is None]
    if absent:
        return f"no {', '.join(absent)} (./dev setup farm)"
    probe = subprocess.run(["ip", "netns", "add", f"eipc-probe-{os.getpid()}"], capture_output=True, text=True, check=False)
    if probe.returncode:
        return f"namespaces cannot be made: {probe.stderr.strip()}"
    _run("ip", "netns", "del", f"eipc-probe-{os.getpid()}")
    return ""


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


class NamespaceServers:
    """`count` servers in a `with` block, each on loopback in its namespace, with a relay before it that delays. addresses: of the
    relays, by which clients on this machine reach the servers."""

    def __init__(self, server: Path, folder: Path, count: int) -> None:
        self._server, self._folder, self._count = server, folder, count
        self._names = [f"eipc{os.getpid()}-{k}" for k in range(count)]
        self._processes: list["subprocess.Popen[bytes] | None"] = [None] * count
        self._relays: list["subprocess.Popen[str]"] = []
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "NamespaceServers":
        self._folder.mkdir(parents=True)
        self._stack.callback(self._remove)
        try:
            for k in range(self._count):
                self._make(k)
                self.start(k)
                self._start_relay(k)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.close()

    @property
    def addresses(self) -> list[str]:
        return [f"{self._host(k)}:{_RELAY_PORT}" for k in range(self._count)]

    def lost_packets(self) -> int:
        """Dropped by the filters so far."""
        total = 0
        for name in self._names:
            text = subprocess.run(["ip", "netns", "exec", name, "nft", "list", "ruleset"], capture_output=True, text=True, check=False).stdout
            words = text.split()
            total += sum(int(words[k + 1]) for k, word in enumerate(words) if word == "packets")
        return total

    def start(self, k: int) -> None:
        with open(self._folder / f"server-{k}.log", "ab") as log:
            self._processes[k] = subprocess.Popen(
                ["ip", "netns", "exec", self._names[k], str(self._server), f"--listen=127.0.0.1:{_PORT}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def _start_relay(self, k: int) -> None:
        words = [f"{self._host(k)}:{_RELAY_PORT}", f"127.0.0.1:{_PORT}", str(DELAY_S), str(JITTER_S), str(k)]
        relay = subprocess.Popen(["ip", "netns", "exec", self._names[k], sys.executable, str(_RELAY), *words], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, text=True)
        self._relays.append(relay)
        if relay.stdout is None or relay.stdout.readline().strip() != "ready":
            raise RuntimeError(f"the relay of namespace {self._names[k]} does not start")

    def disturbances(self) -> list[Disturbance]:
        return [Disturbance("killed", self._kill), Disturbance("paused", self._pause), Disturbance("cut_off", self._cut_off)]

    def _kill(self, _: Any, draw: random.Random) -> Callable[[], None]:
        k = draw.randrange(self._count)
        process = self._processes[k]
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._processes[k] = None

        def again() -> None:
            if self._processes[k] is None:
                self.start(k)

        return again

    def _pause(self, _: Any, draw: random.Random) -> Callable[[], None] | None:
        process = self._processes[draw.randrange(self._count)]
        if process is None:
            return None
        os.killpg(process.pid, signal.SIGSTOP)
        return lambda: _resume(process)

    def _cut_off(self, _: Any, draw: random.Random) -> Callable[[], None]:
        """No packet reaches the server for a while; it runs on."""
        device = f"ve{os.getpid() % 100000}{draw.randrange(self._count)}"
        _run("ip", "link", "set", device, "down")
        return lambda: _run("ip", "link", "set", device, "up")

    def _host(self, k: int) -> str:
        return f"10.213.{k + 1}.2"

    def _make(self, k: int) -> None:
        name, outside, inside = self._names[k], f"ve{os.getpid() % 100000}{k}", f"vi{os.getpid() % 100000}{k}"
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", outside, "type", "veth", "peer", "name", inside)
        _run("ip", "link", "set", inside, "netns", name)
        _run("ip", "addr", "add", f"10.213.{k + 1}.1/24", "dev", outside)
        _run("ip", "link", "set", outside, "up")
        within = ["ip", "netns", "exec", name]
        _run(*within, "ip", "addr", "add", f"{self._host(k)}/24", "dev", inside)
        _run(*within, "ip", "link", "set", inside, "up")
        _run(*within, "ip", "link", "set", "lo", "up")
        _run(*within, "nft", "add", "table", "inet", "loss")
        for hook, interface in (("input", "iifname"), ("output", "oifname")):
            _run(*within, "nft", f"add chain inet loss {hook} {{ type filter hook {hook} priority 0; }}")
            _run(*within, "nft", f"add rule inet loss {hook} {interface} {inside} numgen random mod 100 < {LOSS_PERCENT} counter drop")

    def _remove(self) -> None:
        for relay in self._relays:
            relay.kill()
            relay.wait()
        for k, name in enumerate(self._names):
            process = self._processes[k]
            if process is not None and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            subprocess.run(["ip", "link", "del", f"ve{os.getpid() % 100000}{k}"], capture_output=True, check=False)
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _resume(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGCONT)
    except ProcessLookupError:
        pass  # killed meanwhile
