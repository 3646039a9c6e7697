"""`eipc bench --worlds N`: how fast the worlds of an environment step together, beside the solver alone on the same steps."""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass
from typing import Any, Callable, Optional

import numpy as np

from ..client import Client
from ..envs import EipcVectorEnv
from ..envs.registration import task_of
from ..envs.task import Task
from ..errors import EipcError
from ..farm.policies import Scripted
from ..server_process import ServerProcess, launch


@dataclass(frozen=True)
class Measured:
    """worlds, actions of each, simulated steps of all. wall_s of the loop, client included. solver_s: what the solver took for these
    steps, summed over the worlds, as its reports say. client_cpu_s, server_cpu_s: processor time; None where it is not known."""

    worlds: int
    actions: int
    steps: int
    wall_s: float
    solver_s: float
    client_cpu_s: float
    server_cpu_s: Optional[float]

    @property
    def rate(self) -> float:
        return self.steps / self.wall_s


def add_commands(commands: Any) -> None:
    bench = commands.add_parser(
        "bench", help="measure steps a second of many worlds stepped together",
        description="Steps the worlds of an environment together under a scripted policy, client included, and beside it one world after "
        "another, whose solver times are the solver-only rate on the same steps.")
    bench.add_argument("--worlds", type=int, nargs="+", default=[1, 16, 64], metavar="N", help="default: 1 16 64")
    bench.add_argument("--env", default="eipc/Grasp-v0", help="id of an environment (default eipc/Grasp-v0)")
    bench.add_argument("--actions", type=int, default=50, help="of each world (default 50)")
    bench.add_argument("--rounds", type=int, default=1, help="measure in turns, so many times (default 1)")
    bench.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="default: those of this process")
    bench.add_argument("--json", metavar="FILE", help="write the figures here as well")
    bench.set_defaults(command=_bench)


def _bench(options: argparse.Namespace) -> int:
    if min(options.worlds) < 1 or options.actions < 1 or options.rounds < 1:
        raise EipcError("--worlds, --actions and --rounds are at least 1")
    records = []
    with launch() as server, server.client() as client:
        for _ in range(options.rounds):
            for worlds in options.worlds:
                alone = _solver_alone(server, client, options, worlds)
                together = _measure(server, client, options, worlds, first_seed=0)
                records.append(_report(together, alone, options.cores))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(records, file, indent=1)
    return 0


def _report(together: Measured, alone: Measured, cores: int) -> dict[str, Any]:
    """Prints the figures and returns them. Solver times are wall-clock times: on a machine that is busy with other work they, and the
    share, say nothing; the client's share of the processor time does. The share compares equal steps: the solver's time for them, one world after another, over
    the time that `cores` cores had while all worlds were stepped together."""
    share = alone.solver_s / (cores * together.wall_s)
    client = None
    if together.server_cpu_s is not None:
        client = together.client_cpu_s / max(together.server_cpu_s + together.client_cpu_s, 1e-9)
    print(f"{together.worlds} worlds: {together.rate:.0f} steps a second ({together.rate / cores:.0f} a core), solver alone "
          f"{alone.steps / alone.solver_s:.0f} a second and core: {share:.2f} of {cores} cores"
          + (f"; processor time {together.server_cpu_s:.2f} s server and {together.client_cpu_s:.2f} s client ({100 * client:.1f} %)"
             if client is not None else ""), flush=True)
    return {"together": asdict(together), "alone": asdict(alone), "cores": cores, "share": share, "client_share_of_processor_time": client}


def _solver_alone(server: ServerProcess, client: Client, options: argparse.Namespace, worlds: int) -> Measured:
    """The same steps, one world after another; of more than eight worlds, of eight that are spread over them, scaled up."""
    chosen = np.unique(np.linspace(0, worlds - 1, min(worlds, 8)).round().astype(int))
    parts = [_measure(server, client, options, 1, first_seed=int(seed)) for seed in chosen]
    scale = worlds / len(parts)
    return Measured(worlds, options.actions, round(scale * sum(part.steps for part in parts)), scale * sum(part.wall_s for part in parts),
                    scale * sum(part.solver_s for part in parts), scale * sum(part.client_cpu_s for part in parts), None)


def _measure(server: ServerProcess, client: Client, options: argparse.Namespace, worlds: int, first_seed: int) -> Measured:
    task = task_of(options.env)
    with EipcVectorEnv(_timed(task), worlds, max_episode_steps=0, server=client, snapshot_every=0) as env:
        observations, _ = env.reset(seed=first_seed)
        policy = Scripted()
        begin, client_cpu, server_cpu = time.perf_counter(), time.process_time(), _cpu_s(server)
        solver = 0.0
        steps = 0
        for _ in range(options.actions):
            observations, *_ = env.step(policy.act(observations))
            answer = env.worlds.answer
            assert answer.solver_s is not None
            solver += float(answer.solver_s.sum())
            steps += len(answer.worlds) * env.task.timing.substeps
        wall = time.perf_counter() - begin
        cpu = _cpu_s(server)
        return Measured(worlds, options.actions, steps, wall, solver, time.process_time() - client_cpu,
                        None if cpu is None or server_cpu is None else cpu - server_cpu)


def _timed(make: Callable[[Client], Task]) -> Callable[[Client], Task]:
    """The task with the solver's times."""
    def timed(client: Client) -> Task:
        task = make(client)
        task.layout = task.layout.with_solver_times()
        return task
    return timed


def _cpu_s(server: ServerProcess) -> Optional[float]:
    """Processor time of the server so far."""
    try:
        with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
