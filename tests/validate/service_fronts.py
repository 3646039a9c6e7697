"""Fronts of a server: its own port, and the proxy that stands in front of it off loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Front:
    """program: takes the settings of eipc-server and serves them. server: eipc-server itself."""

    name: str
    program: Path
    server: Path


# What a front starts or reads, beside each other.
PROGRAMS = ("eipc-server", "eipc-server-with-proxy", "eipc-server-messages.lua")


def own_copy(server: Path, folder: Path) -> Path:
    """The server's program and what stands beside it, copied into `folder`: a build meanwhile replaces neither what runs nor what is
    started again. A server of another name, which stands alone, is returned as it is."""
    if server.name != PROGRAMS[0]:
        return server
    folder.mkdir(parents=True)
    for path in (server.with_name(name) for name in PROGRAMS):
        if path.exists():
            shutil.copy2(path, folder)
    return folder / server.name


def fronts(server: Path, names: list[str]) -> list[Front]:
    """Of "direct" and "proxy" those that are asked for. Raises ValueError for any other."""
    programs = {"direct": server, "proxy": server.with_name("eipc-server-with-proxy")}
    if unknown := set(names) - programs.keys():
        raise ValueError(f"no front of a server is called {', '.join(sorted(unknown))} (there are: {', '.join(programs)})")
    return [Front(name, program, server) for name, program in programs.items() if name in names]


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def program_of(pid: int) -> str:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def programs(pid: int) -> list[int]:
    """A process and all that it has started, parents first."""
    return [pid, *(descendant for child in _children(pid) for descendant in programs(child))]


def server_pid(process: "subprocess.Popen[str]") -> int:
    """The server's own process: `process`, or one that it has started."""
    return next((pid for pid in programs(process.pid) if program_of(pid) == "eipc-server"), process.pid)


def processor_seconds(pid: int) -> float:
    """What a process has computed so far, by all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
