"""How large a farm must be: sessions per core, memory and bytes measured, then 1,000 servers simulated from these figures."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any, Sequence

import study_farm
from farm_disturb import Disturbed
from farm_model import Disturbances, Farm, Job, Outcome, batches, poisson, quantile
from page import Page
from validation import Context, Record, at_least, reported, within

NAME = "sizing"
DESCRIPTION = "sessions per core, memory and bytes per step, and a farm of 1,000 servers simulated from them, checked against a real one"

SERVERS, PLACES, SESSIONS, STEPS, MOST_STEPS = 1000, 2, 4, 40, 200
# Of the simulated farm: episodes of 20 s at 50 Hz, with snapshots as eipc.Farm takes them.
EPISODE_STEPS, SNAPSHOT_EVERY = 1000, 50
HOURS = 1.0
# The model is judged by the time that an evaluation takes whose workers are killed. It knows durations of episodes and starts, and when
# workers were killed; not the polls of the evaluation (0.2 s each) nor other programs of the machine.
MODEL_ERROR = 0.25


def run(context: Context) -> list[Record]:
    """EIPC_FARM_SCALE: share of the 400 episodes of the check, 1 by default."""
    study_farm.prepare(context)
    measured = {name: measure(context, message) for name, message in scenes().items()}
    records = []
    for name, figures in measured.items():
        records += [reported(f"{name}.{figure}", value, unit) for figure, (value, unit) in figures.items()]
    check, records_of_check = check_model(context)
    records += records_of_check
    step_s = measured[list(measured)[-1]]["processor_time_a_step"][0]
    table = simulate(context, step_s)
    for row in table:
        records += [reported(f"farm_at_{row['load']:.0%}.{figure}", row[figure], unit)
                    for figure, unit in (("utilization", ""), ("p50", "s"), ("p99", "s"), ("lost_work", ""))]
        records.append(at_least(f"farm_at_{row['load']:.0%}.episodes_ended", row["ended"], 1))
    write_page(context, measured, check, table, step_s)
    return records


def scenes() -> dict[str, Any]:
    """The small grasp of the tests, and the paper's grasp as the package has it."""
    import eipc
    from eipc.envs.scene_files import model_file
    from small_grasp import scene

    found: dict[str, Any] = {"small grasp": scene()}
    try:
        found["teddy grasp"] = eipc.load_scene(model_file("scenes/bubble_teddy_low_sound.textproto"))
    except eipc.SceneFileError:
        pass  # its meshes are made by ./dev build
    return found


def measure(context: Context, message: Any) -> dict[str, tuple[float, str]]:
    """Of a server that steps some sessions of a scene in turns, through the whole of its schedule where it has one: contact takes most of
    the time."""
    import eipc

    dt = message.schedule.dt_s or 0.02
    steps = min(MOST_STEPS, round(message.schedule.duration_s / dt)) or STEPS
    observe = eipc.Observe(twists=True, boundary_poses=True, contact_wrenches=True, state_digest=True)
    begin = time.monotonic()
    with eipc.launch(context.server) as server, server.client() as client:
        started = time.monotonic() - begin
        empty = _resident(server.process.pid)
        scene = client.create_scene(message)
        sessions = [scene.create_session() for _ in range(SESSIONS)]
        for session in sessions:
            session.step(dt, observe=observe)
        before = _processor_s(server.process.pid)
        for _ in range(steps):
            for session in sessions:
                session.step(dt, observe=observe)
        step_s = (_processor_s(server.process.pid) - before) / (steps * SESSIONS)
        memory = (_resident(server.process.pid) - empty) / SESSIONS
        request = sessions[0]._step_request(dt, observe=observe)
        answer = client._call(client._stub.Step, request, None)
        snapshot = len(sessions[0].snapshot(data=True, keep=False).data)
    return {"processor_time_a_step": (step_s, "s"), "sessions_a_core_in_real_time": (dt / step_s, ""), "memory_a_session": (memory / 2**20, "MiB"),
            "memory_of_an_empty_server": (empty / 2**20, "MiB"), "bytes_a_step": (float(request.ByteSize() + answer.ByteSize()), "B"),
            "bytes_of_a_snapshot": (float(snapshot), "B"), "start_of_a_server": (started, "s")}


def _processor_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * float(os.sysconf("SC_PAGE_SIZE"))


class Timed:
    """An engine that keeps when its jobs began and ended, and which cases they had. Its workers are given no more while they run, like
    those of a cluster."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.name, self.capacity, self.cancel, self.close = engine.name, engine.capacity, engine.cancel, engine.close
        self.begin = time.monotonic()
        self.jobs: dict[int, tuple[float, tuple[int, ...]]] = {}
        self.spans: list[tuple[float, float, tuple[int, ...], bool]] = []
        self.kills: list[float] = []

    def submit(self, folder: Path, cases: Sequence[int]) -> Any:
        job = self._engine.submit(folder, cases)
        self.jobs[id(job)] = (time.monotonic() - self.begin, tuple(cases))
        return job

    def poll(self, job: Any) -> Any:
        ended = self._engine.poll(job)
        if ended is not None:
            began, cases = self.jobs.pop(id(job))
            self.spans.append((began, time.monotonic() - self.begin, cases, ended.status == 0))
        return ended


def check_model(context: Context) -> tuple[dict[str, float], list[Record]]:
    """An evaluation whose workers are killed, and the model with the same durations and kills."""
    from eipc.farm import Results
    from eipc.farm.engines.local import LocalEngine

    episodes = max(40, round(400 * float(os.environ.get("EIPC_FARM_SCALE", "1"))))
    workers = min(study_farm.WORKERS, len(os.sched_getaffinity(0)))
    timed = Timed(LocalEngine(workers))

    def kill(job: Any, number: int) -> None:
        timed.kills.append(time.monotonic() - timed.begin)
        os.killpg(job.process.pid, number)

    engine = Disturbed(timed, study_farm.processes_of(kill)[:1])
    _, seconds = study_farm.evaluate(context, "model_check", episodes, engine)
    results = Results(context.scratch / "model_check")
    durations = [results.get(k).seconds for k in range(results.plan.count)]
    restart = _median([end - begin - sum(durations[k] for k in cases) for begin, end, cases, whole in timed.spans if whole])
    draw = random.Random(0)
    outcome = Farm(workers, 1).run([], [(at, draw.random()) for at in timed.kills], batches(durations, workers, restart))
    error = outcome.end / seconds - 1
    check = {"episodes": float(results.plan.count), "workers": float(workers), "killed": float(len(timed.kills)), "measured_s": seconds,
             "predicted_s": outcome.end, "error": error, "start_of_a_worker_s": restart, "lost_share": outcome.lost / outcome.busy}
    context.say(f"model: {outcome.end:.1f} s predicted, {seconds:.1f} s measured")
    return check, [within("model.error_of_predicted_time", error, -MODEL_ERROR, MODEL_ERROR), at_least("model.killed", len(timed.kills), 1),
                   reported("model.start_of_a_worker", restart, "s")]


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


def simulate(context: Context, step_s: float) -> list[dict[str, float]]:
    """1,000 servers at several loads."""
    disturbances = Disturbances(mtbf=24 * 3600, repair=30, between_drains=24 * 3600, grace=45, start=10, slow_share=0.02, slow_factor=3)
    rows = []
    for load in (0.5, 0.7, 0.85, 0.95):
        draw = random.Random(1)
        until = HOURS * 3600
        part = SNAPSHOT_EVERY * step_s

        def episode(at: float) -> Job:
            # Contact makes episodes differ: between half and one and a half times the mean.
            factor = draw.uniform(0.5, 1.5)
            return Job(at, [part * factor] * (EPISODE_STEPS // SNAPSHOT_EVERY), 0.05)

        mean = EPISODE_STEPS * step_s + 0.05
        rate = load * SERVERS * PLACES / (mean * (1 + disturbances.slow_share * (disturbances.slow_factor - 1)))
        # No more events than a study should take: shorter runs where episodes are short.
        until = min(until, 200000 / rate)
        outcome = Farm(SERVERS, PLACES, disturbances).run(poisson(rate, until, episode, seed=3), until=until)
        rows.append(_row(load, rate, until, outcome))
        context.say(f"simulated {len(outcome.jobs)} episodes at {load:.0%}")
    return rows


def _row(load: float, rate: float, until: float, outcome: Outcome) -> dict[str, float]:
    latencies = outcome.latencies(after=until * 0.2)
    return {"load": load, "rate": rate, "ended": len(outcome.jobs), "utilization": outcome.utilization, "p50": quantile(latencies, 0.5),
            "p95": quantile(latencies, 0.95), "p99": quantile(latencies, 0.99), "p999": quantile(latencies, 0.999),
            "lost_work": outcome.lost / outcome.busy if outcome.busy else 0.0, "failures": outcome.failures, "drains": outcome.drains}


def write_page(context: Context, measured: dict[str, Any], check: dict[str, float], table: list[dict[str, float]], step_s: float) -> None:
    page = Page("Sizing", f"./dev validate {NAME}")
    page.text("What a session needs, measured on one server of the release build, and what a farm of 1,000 such servers does, simulated. Processor time is that of the "
              "server's process, so other programs of the machine hardly change it.")
    page.section("Measured")
    figures = list(next(iter(measured.values())))
    page.table(["scene", *(f"{figure.replace('_', ' ')}{', ' + unit if unit else ''}" for figure, (_, unit) in next(iter(measured.values())).items())],
               [[name, *(found[figure][0] for figure in figures)] for name, found in measured.items()])
    page.text("Sessions a core in real time: the scene's step over the processor time that a step takes. A policy that steps without pause keeps one core busy, so that solve "
              "slots are as many as cores. A pod's memory is that of an empty server, that of its sessions, and what messages in flight may take (operations, Memory). "
              "bytes a step: request and answer with poses, twists, wrenches, boundary poses and digest, before HTTP/2's frames.")
    page.section("The model against a real evaluation")
    page.text(f"{check['episodes']:.0f} episodes of the tests' grasps on {check['workers']:.0f} workers of which {check['killed']:.0f} were killed took {check['measured_s']:.1f} s; the "
              f"model, given the durations of episodes, the start of a worker ({check['start_of_a_worker_s']:.2f} s) and the times of the kills, says {check['predicted_s']:.1f} s "
              f"({100 * check['error']:+.1f} %; {100 * MODEL_ERROR:.0f} % allowed). {100 * check['lost_share']:.1f} % of its work was lost.")
    page.section("1,000 servers")
    page.text(f"Each has {PLACES} places. Episodes of {EPISODE_STEPS} steps of {1000 * step_s:.3g} ms arrive at random (Poisson), differ by half in length, and go on from a snapshot of "
              f"at most {SNAPSHOT_EVERY} steps ago when their server is lost. Every server fails once in 24 h (30 s until it is back) and is drained once in 24 h (45 s of grace, 10 s "
              "to start again); 2 % of the servers are three times slower. Latency is from arrival to end.")
    page.table(["load", "episodes/s", "ended", "utilization", "median, s", "p95, s", "p99, s", "p99.9, s", "lost work", "failures", "drains"],
               [[f"{row['load']:.0%}", row["rate"], row["ended"], row["utilization"], row["p50"], row["p95"], row["p99"], row["p999"], f"{100 * row['lost_work']:.3g} %",
                 row["failures"], row["drains"]] for row in table])
    page.text("The manifests keep 20 % of the servers in use ready beside them, which holds the load at 83 %. Where latencies above the median are those of slow servers, "
              "leaving these out helps more than further servers.")
    page.write(context.figures / f"{NAME}.md")
