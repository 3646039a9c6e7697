"""A Slurm cluster of several nodes on this machine, for as long as a study runs: munged, slurmctld and one slurmd a node."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Optional

from farm_disturb import Disturbance

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "sinfo")
_START_S = 30.0

_CONFIGURATION = """\
ClusterName=eipc
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={munge}/socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldPort={controller}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=2
SchedulerParameters=batch_sched_delay=1,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why no cluster can be started here; "" where one can."""
    if os.geteuid() != 0:
        return "starting Slurm's daemons needs root"
    absent = [program for program in PROGRAMS if _program(program) is None]
    return f"Slurm is not installed (./dev setup farm): no {', '.join(absent)}" if absent else ""


def _program(name: str) -> Optional[str]:
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class SlurmCluster:
    """In a `with` block; its commands find it by SLURM_CONF, which is set meanwhile."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder, self.names = folder, [f"n{k + 1}" for k in range(nodes)]
        self._daemons: dict[str, "subprocess.Popen[bytes]"] = {}
        self._munge = Path(tempfile.mkdtemp(prefix="eipc-munge-"))  # all users must reach its socket, but not this study's folder
        self._former = os.environ.get("SLURM_CONF")

    def __enter__(self) -> "SlurmCluster":
        self.folder.mkdir(parents=True)
        (self.folder / "state").mkdir()
        controller, *ports = _free_ports(1 + len(self.names))
        nodes = "\n".join(f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=1"
                          for name, port in zip(self.names, ports))
        (self.folder / "slurm.conf").write_text(_CONFIGURATION.format(
            folder=self.folder, munge=self._munge, host=f"{socket.gethostname()}(127.0.0.1)", controller=controller, nodes=nodes, names=",".join(self.names)))
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        try:
            self._start_munge()
            self._start("slurmctld", ["-D"])
            for name in self.names:
                self.start_node(name)
            self._await_nodes()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        for name in self.names:
            self._signal_node(name, signal.SIGKILL)
        for daemon in self._daemons.values():
            if daemon.poll() is None:
                daemon.kill()
            daemon.wait()
        shutil.rmtree(self._munge, ignore_errors=True)
        if self._former is None:
            os.environ.pop("SLURM_CONF", None)
        else:
            os.environ["SLURM_CONF"] = self._former

    def start_node(self, name: str) -> None:
        self._start(name, ["-D", "-N", name], "slurmd")

    def disturbances(self) -> list[Disturbance]:
        return [Disturbance("killed", self._kill), Disturbance("paused", self._pause), Disturbance("drained", self._drain)]

    def _kill(self, _: Any, draw: random.Random) -> Callable[[], None]:
        """A node's daemon and everything that it runs end at once; it is started again later."""
        name = draw.choice(self.names)
        self._signal_node(name, signal.SIGKILL)
        self._daemons[name].wait()
        return lambda: self.start_node(name)

    def _pause(self, _: Any, draw: random.Random) -> Callable[[], None]:
        name = draw.choice(self.names)
        processes = self._signal_node(name, signal.SIGSTOP)

        def resume() -> None:
            for process in processes:
                try:
                    os.kill(process, signal.SIGCONT)
                except ProcessLookupError:
                    pass  # killed meanwhile

        return resume

    def _drain(self, _: Any, draw: random.Random) -> Callable[[], None]:
        """The node takes no new job, and the one that it runs is sent elsewhere."""
        name = draw.choice(self.names)
        self._control("update", f"NodeName={name}", "State=DRAIN", "Reason=test")
        jobs = subprocess.run(["squeue", "-h", "-w", name, "-t", "R", "-o", "%A"], capture_output=True, text=True, check=False).stdout.split()
        for job in jobs:
            self._control("requeue", job)
        return lambda: self._control("update", f"NodeName={name}", "State=RESUME")

    def _control(self, *words: str) -> None:
        subprocess.run(["scontrol", *words], capture_output=True, check=False)

    def _signal_node(self, name: str, number: int) -> list[int]:
        """To the daemon of a node and to everything that it started."""
        daemon = self._daemons.get(name)
        if daemon is None or daemon.poll() is not None:
            return []
        processes = _tree(daemon.pid, name)
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        return processes

    def _start_munge(self) -> None:
        folder, key = self._munge, self._munge / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        folder.chmod(0o755)
        for path in (folder, key):
            shutil.chown(path, "munge", "munge")
        words = ["--foreground", f"--key-file={key}", f"--socket={folder}/socket", f"--pid-file={folder}/pid", f"--seed-file={folder}/seed",
                 f"--log-file={folder}/log"]
        self._start("munged", words, user="munge")
        self._await(lambda: (folder / "socket").exists(), "munged makes no socket")

    def _start(self, name: str, words: list[str], program: str = "", user: str = "") -> None:
        with open(self.folder / f"{name}.out", "ab") as out:
            self._daemons[name] = subprocess.Popen([str(_program(program or name)), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                   user=user or None, group=user or None, start_new_session=True)

    def _await_nodes(self) -> None:
        def ready() -> bool:
            seen = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], capture_output=True, text=True, check=False).stdout.split()
            return seen.count("idle") == len(self.names)

        self._await(ready, "Slurm's nodes do not come up")

    def _await(self, ready: Callable[[], bool], words: str) -> None:
        end = time.monotonic() + _START_S
        while not ready():
            if time.monotonic() > end:
                logs = " | ".join((self.folder / f"{name}.out").read_text(errors="replace")[-300:] for name in self._daemons)
                raise RuntimeError(f"{words}: {logs}")
            time.sleep(0.1)


def _tree(root: int, node: str) -> list[int]:
    """A slurmd, what it started, and the steps of its node, which belong to no parent any more."""
    parents: dict[int, int] = {}
    mine = {root}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
            parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
            if f"SLURMD_NODENAME={node}\0".encode() in (entry / "environ").read_bytes() or _is_step(entry, node):
                mine.add(int(entry.name))
        except (OSError, ValueError):
            continue
    while True:
        more = {process for process, parent in parents.items() if parent in mine} - mine
        if not more:
            return sorted(mine)
        mine |= more


def _is_step(entry: Path, node: str) -> bool:
    words = (entry / "cmdline").read_bytes().split(b"\0")
    return bool(words) and words[0].endswith(b"slurmstepd") and node.encode() in words
