"""Evaluations on farms whose workers, nodes and servers are killed, paused, drained and cut off at random, against an undisturbed one."""

from __future__ import annotations

import importlib.util
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any, Callable

import farm_comparison
import farm_faults
import farm_namespaces
import farm_slurm
from eipc_cli import REPOSITORY
from farm_disturb import Disturbance, Disturbed
from page import Page, RecordsTable
from validation import Context, Record, at_least, equal, reported

NAME = "farm"
DESCRIPTION = "evaluations on processes, Slurm, Dask and servers in namespaces, disturbed at random: one result an episode, digests as undisturbed"

EPISODES, WORKERS = 1000, 4
MISSING = "no result"
PAGE_OF_ALL = RecordsTable(
    "Evaluations on a farm", """A scripted grasp of varied objects (`client/python/tests/varied_grasps.py`): first by one worker, with which all others are compared, then
    by as many as there are cores; then by four on each engine, while workers, nodes and servers are killed, paused, drained and cut off at random. *Differ*: episodes whose outcome or
    digest is another one than that of the one worker. [Evaluations](../howto/evaluation.md) says how to run such evaluations.""",
    {"episodes": "episodes", "episodes_without_a_result": "without a result", "errors": "errors", "episodes_that_differ": "differ",
     "killed": "killed", "paused": "paused", "drained": "drained"}, "engine")
_POLICY = "farm_policies:Grasp"


def run(context: Context) -> list[Record]:
    """EIPC_FARM_SCALE: share of the episodes, 1 by default. EIPC_FARM_PARTS: of local, dask, slurm, namespaces, faults, comparison; default:
    all."""
    episodes = max(8, round(EPISODES * float(os.environ.get("EIPC_FARM_SCALE", "1"))))
    prepare(context)
    alone, records = undisturbed(context, episodes)
    parts: dict[str, Callable[[], list[Record]]] = {
        "local": lambda: on_processes(context, episodes, alone), "dask": lambda: on_dask(context, episodes, alone),
        "slurm": lambda: on_slurm(context, episodes, alone), "namespaces": lambda: in_namespaces(context, episodes, alone),
        "faults": lambda: farm_faults.run(context), "comparison": lambda: farm_comparison.run(context)}
    chosen = os.environ.get("EIPC_FARM_PARTS", "").split()
    for name in chosen or list(parts):
        records += isolated(context, name, parts[name])
    if not chosen:
        write_page(context.figures, records)
    return records


def write_page(folder: Path, records: list[Record]) -> None:
    scale = os.environ.get("EIPC_FARM_SCALE")
    page = Page(PAGE_OF_ALL.title, (f"EIPC_FARM_SCALE={scale} " if scale else "") + "./dev validate farm")
    page.text(PAGE_OF_ALL.about)
    page.records(PAGE_OF_ALL, records)
    page.write(folder / "farm.md")


def isolated(context: Context, name: str, part: Callable[[], list[Record]]) -> list[Record]:
    """What a part records; one that fails is a record, and stops no other."""
    try:
        return part()
    except Exception as error:  # whatever stops it
        context.say(f"{name}: {type(error).__name__}: {error}")
        return [Record(f"{name}.ran", f"{type(error).__name__}: {error}", "", "== no error", False)]


def prepare(context: Context) -> None:
    """For this process and its workers: the package, the scenes and the policy of the tests, the server."""
    folders = [str(REPOSITORY / "client" / "python"), str(REPOSITORY / "client" / "python" / "tests")]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    os.environ["EIPC_SERVER"] = str(context.server)


def undisturbed(context: Context, episodes: int) -> tuple[list[str], list[Record]]:
    """With one worker, and with as many as there are cores (up to WORKERS): what all others are compared with."""
    from eipc.farm.engines.local import LocalEngine

    begin = processor_s()
    alone, seconds = evaluate(context, "alone", episodes, LocalEngine(1))
    cores, middle = min(WORKERS, len(os.sched_getaffinity(0))), processor_s()
    many, together = evaluate(context, "many", episodes, LocalEngine(cores))
    # Wall-clock time says as much of the machine's other programs; processor time says what working together costs.
    return alone, [reported("one_worker.episodes_per_second", len(alone) / seconds, "1/s"),
                   reported("local.parallel_efficiency", seconds / together / cores, ""),
                   at_least("local.efficiency_by_processor_time", (middle - begin) / (processor_s() - middle), 0.9), *same("local", alone, many)]


def processor_s() -> float:
    """Of all processes that this one has started and that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def evaluate(context: Context, name: str, episodes: int, engine: Any) -> tuple[list[str], float]:
    """Outcome and digest of every episode, and the seconds that all took."""
    from eipc.farm import Plan
    from eipc.farm.evaluation import evaluate as run_evaluation
    from varied_grasps import SCENES

    folder: Path = context.scratch / name
    Plan.make(_POLICY, SCENES, -(-episodes // len(SCENES))).write(folder)
    start = time.monotonic()
    results = run_evaluation(folder, engine, say=context.say)
    seconds = time.monotonic() - start
    there = results.finished()
    context.say(f"{name}: {len(there)} episodes in {seconds:.0f} s")
    found = {index: results.get(index) for index in sorted(there)}
    moves = sum(result.moves for result in found.values())
    if moves:
        context.say(f"{name}: episodes went on on another server {moves} times")
    return [f"{found[k].outcome} {found[k].digest}" if k in there else MISSING for k in range(results.plan.count)], seconds


def same(name: str, alone: list[str], other: list[str]) -> list[Record]:
    return [equal(f"{name}.episodes", len(other), len(alone)),
            equal(f"{name}.episodes_without_a_result", other.count(MISSING), 0),
            equal(f"{name}.errors", sum(words.startswith("error") for words in other), 0),
            equal(f"{name}.episodes_that_differ", sum(a != b for a, b in zip(alone, other)), 0)]


def disturbed(context: Context, name: str, episodes: int, engine: Disturbed, alone: list[str]) -> list[Record]:
    found, _ = evaluate(context, name, episodes, engine)
    first, *others = engine.counts.items()
    return [at_least(f"{name}.{first[0]}", first[1], 1, ""), *(reported(f"{name}.{what}", count, "") for what, count in others),
            *same(name, alone, found)]


def on_processes(context: Context, episodes: int, alone: list[str]) -> list[Record]:
    from eipc.farm.engines.local import LocalEngine

    def send(job: Any, number: int) -> None:
        os.killpg(job.process.pid, number)

    return disturbed(context, "local_disturbed", episodes, Disturbed(LocalEngine(WORKERS), processes_of(send)), alone)


def processes_of(send: Callable[[Any, int], None]) -> list[Disturbance]:
    """Kills and pauses by signals to the worker of a job."""
    def kill(job: Any, _: random.Random) -> None:
        send(job, signal.SIGKILL)

    def pause(job: Any, _: random.Random) -> Callable[[], None]:
        send(job, signal.SIGSTOP)

        def resume() -> None:
            try:
                send(job, signal.SIGCONT)
            except ProcessLookupError:
                pass  # killed meanwhile

        return resume

    return [Disturbance("killed", kill), Disturbance("paused", pause)]


def on_dask(context: Context, episodes: int, alone: list[str]) -> list[Record]:
    if importlib.util.find_spec("distributed") is None:
        context.say("Dask is not installed (./dev setup farm): its proof is skipped")
        return []
    import distributed
    from eipc.farm.engines.dask import DaskEngine

    with distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster:
        client = distributed.Client(cluster)

        def nanny(draw: random.Random) -> Any:
            """One whose worker runs; None while all are starting again."""
            running = [one for _, one in sorted(cluster.workers.items(), key=lambda entry: str(entry[0])) if one.pid and one.worker_address]
            return draw.choice(running) if running else None

        def kill(_: Any, draw: random.Random) -> None:
            chosen = nanny(draw)
            if chosen is not None:
                _signal(chosen.pid, signal.SIGKILL)

        def pause(_: Any, draw: random.Random) -> Callable[[], None] | None:
            chosen = nanny(draw)
            if chosen is None:
                return None
            process = chosen.pid
            _signal(process, signal.SIGSTOP)
            return lambda: _signal(process, signal.SIGCONT)

        def drain(_: Any, draw: random.Random) -> Callable[[], None] | None:
            """The worker hands its tasks to others and ends; another one takes its place."""
            chosen = nanny(draw)
            if chosen is None:
                return None
            client.retire_workers([chosen.worker_address], close_workers=True)
            return lambda: cluster.scale(WORKERS)

        engine = Disturbed(DaskEngine(WORKERS, client=client),
                           [Disturbance("killed", kill), Disturbance("paused", pause), Disturbance("drained", drain)])
        return disturbed(context, "dask_disturbed", episodes, engine, alone)


def _signal(process: int | None, number: int) -> None:
    try:
        if process is not None:
            os.kill(process, number)
    except ProcessLookupError:
        pass  # it has ended meanwhile


def on_slurm(context: Context, episodes: int, alone: list[str]) -> list[Record]:
    missing = farm_slurm.missing()
    if missing:
        context.say(f"{missing}: the proof on Slurm is skipped")
        return []
    from eipc.farm.engines.slurm import SlurmEngine

    with farm_slurm.SlurmCluster(context.scratch / "slurm", WORKERS) as cluster:
        return disturbed(context, "slurm_disturbed", episodes, Disturbed(SlurmEngine(WORKERS), cluster.disturbances()), alone)


def in_namespaces(context: Context, episodes: int, alone: list[str]) -> list[Record]:
    missing = farm_namespaces.missing()
    if missing:
        context.say(f"{missing}: the proof in network namespaces is skipped")
        return []
    from eipc.farm.engines.local import LocalEngine

    with farm_namespaces.NamespaceServers(context.server, context.scratch / "namespaces", WORKERS) as servers:
        engine = Disturbed(LocalEngine(WORKERS, servers.addresses), servers.disturbances())
        records = disturbed(context, "namespaces_disturbed", episodes, engine, alone)
        return [*records, at_least("namespaces_disturbed.packets_lost", servers.lost_packets(), 1, ""),
                reported("namespaces_disturbed.delay_each_way", farm_namespaces.DELAY_S, "s")]
