"""What a night's run is staked on: bits, survival, hostility, overload and overhead of the service.

How much is done is set by the environment: EIPC_SERVICE_SCALE (default 1: the counts of the release; 0.01 for a trial),
EIPC_SERVICE_SOAK_S (default 60; slopes have targets from 600 s after the warm-up on; 3600 is an hour), EIPC_SERVICE_WARM_UP_S (default:
a third of it), EIPC_SERVICE_PARTS (a regular expression of whole names, such as "overload|overhead"; default: all) and EIPC_SERVICE_FRONTS (default "direct proxy": the server
itself, and through the proxy). Figures end in docs/results/service.md (service_page.py).
"""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

import grpc
import numpy as np

from eipc_cli import REPOSITORY, RunError
from validation import Context, Record, at_least, at_most, equal, reported, within

sys.path.insert(0, str(REPOSITORY / "client" / "python"))
import eipc  # noqa: E402
from service_floods import (Health, connection_flood, exhaust_descriptors, header_flood, header_floods,  # noqa: E402
                            open_descriptors, open_descriptors_of_proxy, ping_flood, reset_flood, reset_floods, seconds_until_accepting)
from service_fronts import Front, fronts, own_copy  # noqa: E402
from service_kill import kill_rounds  # noqa: E402
from service_launch import exact_heap, launch  # noqa: E402
from service_memory import measure  # noqa: E402
from service_overload import fork, overhead, overload, proxy_overhead  # noqa: E402
from service_page import ServicePage  # noqa: E402
from service_pauses import pauses  # noqa: E402
from service_recovery import ACTIVE, IDLE, recover  # noqa: E402
from service_scenes import affine_bin, fine_surface, pile, sliders  # noqa: E402
from service_soak import CALLS, TRIM_S, Sample, after_warm_up, soak  # noqa: E402
from trend import most_spans, trend  # noqa: E402

NAME = "service"
DESCRIPTION = "snapshots, kill -9, floods, overload and overhead of the server"

BUILD = Path(os.environ.get("EIPC_BINARY_DIR", REPOSITORY / "build" / "release"))
SCALE = float(os.environ.get("EIPC_SERVICE_SCALE", "1"))
WANTED = os.environ.get("EIPC_SERVICE_PARTS", "")
FRONTS = os.environ.get("EIPC_SERVICE_FRONTS", "direct proxy").split()
LOOPBACK = "--listen=127.0.0.1:0"
SOAK_SEED = 7
CANCEL_SEED = 11
RECOVERY_SEED = 5
PAUSE_SEED = 3
LEAST_FOR_SLOPES_S = 600.0
# A share of the heap at rest, whatever the length of a soak.
MOST_GROWTH_AT_REST = 0.01
DIGEST = eipc.Observe(poses=False, solver_report=False, state_digest=True)


Part = Callable[[Context, Front], list[Record]]


def scaled(count: int) -> int:
    return max(1, round(count * SCALE))


@functools.cache
def _program(name: str) -> str:
    """A test program, up to date."""
    built = subprocess.run(["cmake", "--build", str(BUILD), "--target", name], capture_output=True, text=True)
    if built.returncode:
        raise RunError(built.stdout[-2000:])
    return str(BUILD / "tests" / name)


def run(context: Context) -> list[Record]:
    records, page = [], ServicePage(context.figures)
    server = own_copy(context.server, context.scratch / "programs")
    for name, (part, title, where) in PARTS.items():
        if WANTED and not re.fullmatch(WANTED, name):
            continue
        for front in fronts(server, FRONTS):
            if front.name not in where:
                continue
            context.say(f"{name}, {front.name}")
            seen = _run_part(part, front, context)
            page.keep(name, front.name, title, _command(name), seen)
            page.write(PARTS)  # what is measured stays when the run is interrupted
            records += seen if front.name == "direct" else [replace(record, name=f"{front.name}.{record.name}") for record in seen]
    if not records:
        raise RunError(f"no part is called {WANTED} (there are: {', '.join(PARTS)})")
    return records


def _run_part(part: Part, front: Front, context: Context) -> list[Record]:
    own = copy.copy(context)
    own.server = front.program
    try:
        return part(own, front)
    except (RunError, eipc.EipcError, OSError) as error:  # the other parts are run all the same
        return [Record(f"{part.__name__.strip('_')}.ran", str(error).strip(), "", "== no error", False)]


def _command(part: str) -> str:
    words = [f"EIPC_SERVICE_SCALE={SCALE:g}"] if SCALE != 1 else []
    if part == "soak":
        words += [f"{name}={os.environ[name]}" for name in ("EIPC_SERVICE_SOAK_S", "EIPC_SERVICE_WARM_UP_S") if name in os.environ]
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    raised = [f"nice -n {priority}"] if priority else []
    return " ".join([*words, f"EIPC_SERVICE_PARTS={part}", *raised, "./dev validate service"])


def _storm(context: Context, _: Front) -> list[Record]:
    """Torn snapshots, malformed calls, replays and forks: in-process (tests/server/rpc/handlers/storm_test.cc), seeds fixed there."""
    counts = {"EIPC_STORM_SNAPSHOTS": scaled(100_000), "EIPC_STORM_CALLS": scaled(1_000_000), "EIPC_STORM_REPLAYS": scaled(1000)}
    done = subprocess.run([_program("rpc_storm_test")], capture_output=True, text=True,
                          env={**os.environ, **{name: str(count) for name, count in counts.items()}})
    figures = {name: int(value) for name, value in re.findall(r"^FIGURE (\S+) (\d+)$", done.stdout, re.MULTILINE)}
    records = [equal("storm.exit_status", done.returncode, 0)]
    if done.returncode:
        context.say(done.stdout[-2000:])
    records.append(equal("snapshots.torn_or_flipped_refused", figures.get("torn_snapshots_refused", 0), counts["EIPC_STORM_SNAPSHOTS"]))
    records.append(equal("replays.bit_exact", figures.get("replays_bit_exact", 0), counts["EIPC_STORM_REPLAYS"]))
    records.append(equal("forks.bit_exact_other_threads", figures.get("forks_bit_exact", 0), counts["EIPC_STORM_REPLAYS"]))
    records.append(at_least("malformed.calls_without_crash", figures.get("malformed_calls", 0), counts["EIPC_STORM_CALLS"]))
    records += [reported(f"malformed.answered_{name[10:]}", value) for name, value in sorted(figures.items())
                if name.startswith("malformed_") and name != "malformed_calls"]
    return records


def _wire_storm(context: Context, front: Front) -> list[Record]:
    """Malformed calls of every method over real sockets (tests/server/rpc/listen/wire_storm_test.cc), seeds fixed there."""
    from eipc.v1 import service_pb2
    service = service_pb2.DESCRIPTOR.services_by_name["SimulationService"]
    clients, calls = 4, scaled(50_000)
    counts = {"EIPC_STORM_WIRE_CLIENTS": clients, "EIPC_STORM_WIRE_CALLS": calls, "EIPC_SERVER": front.program}
    done = subprocess.run([_program("rpc_wire_storm_test")], capture_output=True, text=True,
                          env={**os.environ, **{name: str(value) for name, value in counts.items()}})
    figures = {name: int(value) for name, value in re.findall(r"^FIGURE (\S+) (\d+)$", done.stdout, re.MULTILINE)}
    if done.returncode:
        context.say(done.stdout[-2000:])
    names = {str(code.value[0]): code.name for code in grpc.StatusCode}
    return [equal("wire_storm.exit_status", done.returncode, 0),
            at_least("wire_storm.calls", figures.get("wire_calls", 0), clients * calls),
            equal("wire_storm.methods", figures.get("wire_methods", 0), len(service.methods)),
            reported("wire_storm.raw_connections", figures.get("wire_raw_connections", 0))] + [
                reported(f"wire_storm.answered_{names[name[10:]]}", value) for name, value in sorted(figures.items())
                if name.startswith("wire_code_")]


def _scene(height: float = 0.003) -> "eipc.v1.scene_pb2.Scene":
    """A soft cube that falls on a slab from so many m above it."""
    from eipc.v1 import scene_pb2
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float)
    tets = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]], dtype=np.int32)
    scene = scene_pb2.Scene(display_name="service study")
    cube = scene.bodies.add(name="cube")
    cube.full_space.mesh.CopyFrom(eipc.mesh_from_arrays(0.1 * corners, tets))
    cube.material.CopyFrom(scene_pb2.Material(density_kg_m3=1000, youngs_modulus_pa=1e5, poissons_ratio=0.3))
    cube.pose.position_m.z = height
    slab = scene.bodies.add(name="slab")
    slab.static_body.surface.CopyFrom(eipc.mesh_from_arrays(corners - [0.5, 0.5, 1.0], tets))
    scene.contact.friction_coefficient = 0.5
    return scene


def _kill_nine(context: Context, _: Front) -> list[Record]:
    """Kills a journaled server while clients create, fork, step, batch, reset, restore and delete (service_kill.py)."""
    rounds = scaled(200)
    counts = kill_rounds(str(context.server), tempfile.mkdtemp(dir=context.scratch), _scene(), rounds, seed=20260303)
    for problem in counts.problems:
        context.say(problem)
    return [equal("kill_nine.rounds", counts.rounds, rounds), equal("kill_nine.acknowledged_lost", counts.lost, 0),
            equal("kill_nine.taken_twice", counts.taken_twice, 0), equal("kill_nine.deleted_back", counts.risen, 0),
            reported("kill_nine.calls", counts.calls), reported("kill_nine.sessions_checked", counts.sessions_checked)]


def _recovery(context: Context, _: Front) -> list[Record]:
    """Sessions of a grasp after kill -9, once when they have been stepped for a minute and once after ten (service_recovery.py)."""
    seconds = max(6.0, 600 * SCALE)
    folder = Path(tempfile.mkdtemp(dir=context.scratch))
    scene = REPOSITORY / "models" / "scenes" / "bubble_teddy_low.textproto"
    records = [reported("recovery.active_sessions", ACTIVE), reported("recovery.idle_sessions", IDLE)]
    for start in recover(context.server, folder, scene, (seconds / 10, seconds), RECOVERY_SEED):
        name = f"recovery.after_{start.stepped_s:g}_s"
        records += [at_most(f"{name}.ready_after", start.ready_s, 5, "s"),
                    reported(f"{name}.ready_after_at_most", start.longest_s, "s"), reported(f"{name}.processor_time", start.processor_s, "s"),
                    equal(f"{name}.sessions_back", start.sessions, ACTIVE + IDLE),
                    equal(f"{name}.stopped_early", start.stopped_early, 0),
                    equal(f"{name}.acknowledged_lost", start.behind, 0), equal(f"{name}.too_far", start.ahead, 0),
                    reported(f"{name}.steps", start.steps), reported(f"{name}.journals", start.journal_bytes / 2**20, "MiB")]
    return records


def free_port() -> int:
    with socket.socket() as file:
        file.bind(("127.0.0.1", 0))
        return file.getsockname()[1]


def _port(server: eipc.ServerProcess) -> int:
    return int(server.address.rsplit(":", 1)[1])


def _descriptors(context: Context, _: Front) -> list[Record]:
    """A client that opens more connections than the proxy takes, let alone gives to one address (CVE-2023-4785)."""
    bounds = ("--proxy-max-connections=400", "--proxy-max-connections-per-address=300", "--proxy-connection-rate=100000")
    with launch(context.server, (LOOPBACK, "--log-level=off", *bounds)) as server:
        before = open_descriptors(server.process)
        with Health(server.address) as health:
            held = exhaust_descriptors(_port(server), 2000, 2.0)
            back = seconds_until_accepting(server.address, 30)
        time.sleep(1)
        after = open_descriptors(server.process)
    return [reported("descriptors.connections_tried", held), at_most("descriptors.accepts_again_after", back, 5, "s"),
            at_most("descriptors.health_p99_meanwhile", health.p99_ms(), 250, "ms"),
            equal("descriptors.health_failures", health.failures, 0), at_most("descriptors.left_open", after - before, 4)]


def _floods(context: Context, _: Front) -> list[Record]:
    records = []
    seconds = max(2.0, 10 * SCALE)
    for name, flood in (("pings", ping_flood), ("resets", reset_flood), ("resets_from_six", reset_floods),
                        ("connections", connection_flood), ("headers", header_flood), ("headers_from_three", header_floods)):
        with launch(context.server, (LOOPBACK, "--log-level=off")) as server, Health(server.address) as health:
            sent = flood(_port(server), seconds)
            back = seconds_until_accepting(server.address, 30)
        records += [reported(f"flood.{name}_sent", sent), at_most(f"flood.{name}.accepts_again_after", back, 5, "s"),
                    at_most(f"flood.{name}.health_p99_meanwhile", health.p99_ms(), 250, "ms"),
                    equal(f"flood.{name}.health_failures", health.failures, 0)]
    return records


def _silence(context: Context, _: Front) -> list[Record]:
    """Connections that say nothing are gone after the time that they have for it."""
    with launch(context.server, (LOOPBACK, "--proxy-handshake-timeout=1", "--write-timeout=1", "--log-level=off")) as server:
        before = open_descriptors_of_proxy(server.process)
        with Health(server.address) as health:
            exhaust_descriptors(_port(server), 200, 3.0)
            meanwhile = open_descriptors_of_proxy(server.process)
        time.sleep(1)
    return [at_most("silence.descriptors_held_after_timeout", meanwhile - before, 6),
            at_most("silence.health_p99_meanwhile", health.p99_ms(), 250, "ms")]


def _measure(*words: Any, core: int | None = None) -> dict[str, Any]:
    pin = None if core is None else lambda: os.sched_setaffinity(0, {core})
    done = subprocess.run([_program("service_load"), *map(str, words)], capture_output=True, text=True, preexec_fn=pin)
    if done.returncode:
        raise RunError(done.stderr)
    return json.loads(done.stdout)


def _overload(context: Context, _: Front) -> list[Record]:
    return overload(context.server, _measure, max(5.0, 40 * SCALE))


def _cancel(context: Context, _: Front) -> list[Record]:
    """Steps ended at random moments, by cancelling and by a deadline: until the processor is free again."""
    count, records = scaled(300), [reported("cancel.seed", CANCEL_SEED)]
    for scene in (pile, fine_surface):
        path = scene(context.scratch / "cancel")
        with launch(context.server, (LOOPBACK, "--log-level=off")) as server:
            figures = _measure("cancel", server.address, path, count, CANCEL_SEED, 600)
        name = f"cancel.{path.stem}"
        records.append(reported(f"{name}.ended", 2 * count))
        for how in ("cancelled", "late"):
            records += [reported(f"{name}.{how}_cpu_freed_p50", figures[f"{how}_p50_ms"], "ms"),
                        at_most(f"{name}.{how}_cpu_freed_p99", figures[f"{how}_p99_ms"], 50, "ms"),
                        reported(f"{name}.{how}_cpu_freed_max", figures[f"{how}_max_ms"], "ms")]
    return records


def _search(context: Context, _: Front) -> list[Record]:
    """Searches for an equilibrium ended at random moments: until the one place to compile is free again, and what is kept of the scene."""
    count, path = scaled(40), pile(context.scratch / "search", equilibrium=True)
    with launch(context.server, (LOOPBACK, "--log-level=off", "--job-slots=1")) as server:
        figures = _measure("search", server.address, path, count, CANCEL_SEED)
    return [reported("search.seed", CANCEL_SEED), reported("search.takes", figures["whole_ms"], "ms"),
            equal("search.ended", figures["count"], count), equal("search.scenes_kept", figures["scenes"], 0),
            reported("search.freed_p50", figures["freed_p50_ms"], "ms"), at_most("search.freed_p99", figures["freed_p99_ms"], 50, "ms"),
            reported("search.freed_max", figures["freed_max_ms"], "ms")]


def _overhead(context: Context, front: Front) -> list[Record]:
    driver, count, observations = _program("service_load"), scaled(5000) + 500, scaled(300) + 50
    if front.name == "direct":
        return overhead(context.server, driver, _measure, count, observations)
    return proxy_overhead(front.server, front.program, driver, _measure, count, observations, _scene(1000.0))


def _pauses(context: Context, _: Front) -> list[Record]:
    return pauses(context.server, max(5, scaled(40)), PAUSE_SEED)


def _fork(context: Context, _: Front) -> list[Record]:
    return fork(context.server, _measure, REPOSITORY / "models" / "scenes" / "bubble_teddy_low.textproto", scaled(100) + 10)


def _memory(context: Context, _: Front) -> list[Record]:
    """What sessions take in fact: the estimate that they are admitted by must not be less, nor much more."""
    folder = context.scratch / "memory"
    scenes = [(REPOSITORY / "models" / "scenes" / f"bubble_teddy_{name}.textproto", 0.02, 80) for name in ("low", "medium", "full")]
    scenes += [(pile(folder), 0.01, 4), (pile(folder, "CHOLESKY"), 0.01, 4), (affine_bin(folder), 0.01, 10),
               (fine_surface(folder, 4), 0.01, 6), (fine_surface(folder), 0.01, 6), (fine_surface(folder, 6), 0.01, 4),
               (sliders(folder, "CHOLESKY"), 0.01, 4), (sliders(folder, "PCG_IC0"), 0.01, 4)]
    records = []
    for path, dt, steps in scenes:
        metrics = f"127.0.0.1:{free_port()}"
        with launch(context.server, (LOOPBACK, "--log-level=off", f"--metrics={metrics}")) as server:
            seen = measure(server, metrics, path, dt, steps)
        records += [reported(f"memory.{path.stem}.session", seen.taken / 2**20, "MiB"),
                    within(f"memory.{path.stem}.estimate_over_measured", seen.ratio, 1, 2.5)]
    return records


def _soak(context: Context, _: Front) -> list[Record]:
    """64 idle and 8 active sessions with churn, journaled: nothing is left behind, and in the long run nothing grows."""
    seconds = float(os.environ.get("EIPC_SERVICE_SOAK_S", "60"))
    warm_up = float(os.environ.get("EIPC_SERVICE_WARM_UP_S", seconds / 3))
    metrics = f"127.0.0.1:{free_port()}"
    folder = tempfile.mkdtemp(dir=context.scratch)
    arguments = (LOOPBACK, "--max-sessions=128", "--log-level=off", f"--metrics={metrics}", f"--state-dir={folder}",
                 f"--trim-interval={TRIM_S:g}", f"--max-calls={CALLS}")
    with exact_heap(), launch(context.server, arguments) as server:
        seen = soak(server, metrics, _scene, seconds, SOAK_SEED, context.say)
    for failure in seen.failures[:10]:
        context.say(f"soak: {failure}")
    records = [reported("soak.seconds", seconds, "s"), reported("soak.warm_up", warm_up, "s"), reported("soak.seed", SOAK_SEED),
               reported("soak.active_steps", seen.steps), reported("soak.acts_of_churn", sum(seen.acts.values())),
               at_least("soak.rarest_act", min(seen.acts.values()), 1), equal("soak.failures", len(seen.failures), 0),
               equal("soak.left_behind", str(seen.left_behind), "{}"),
               at_most("soak.descriptors_left_open", seen.descriptors_after.server - seen.descriptors_before.server, 0),
               at_most("soak.descriptors_left_open_in_the_proxy", seen.descriptors_after.proxy - seen.descriptors_before.proxy, 0),
               reported("soak.heap_at_rest_before", seen.rest_before / 2**20, "MiB"),
               at_most("soak.heap_at_rest_growth", seen.rest_after / seen.rest_before - 1, MOST_GROWTH_AT_REST),
               reported("soak.heap_kept_of_an_act", (seen.rest_after - seen.rest_before) / sum(seen.acts.values()), "B")]
    return records + _growth(after_warm_up(seen.samples, warm_up), seconds - warm_up >= LEAST_FOR_SLOPES_S)


def _growth(seen: Sample, long: bool) -> list[Record]:
    """Slopes an hour. Their bounds are only held against targets where the run is long enough to show them."""
    judge = at_most if long else lambda name, value, limit, unit: reported(name, value, unit)
    spans = most_spans(seen.t_s)
    records = [reported("soak.samples", len(seen.t_s)), reported("soak.samples_averaged_in_spans", spans)]
    for name, values, limit in (("heap_in_use", seen.in_use, 0.01), ("anonymous_memory", seen.anonymous, 0.01),
                                ("descriptors", seen.descriptors, 1)):
        scale = values.mean() if name != "descriptors" else 1.0  # memory: a share of itself
        line = trend(seen.t_s / 3600, values / scale, spans)
        mean = reported(f"soak.{name}", values.mean()) if scale == 1 else reported(f"soak.{name}", values.mean() / 2**20, "MiB")
        records += [mean, reported(f"soak.{name}_scatter", line.scatter), reported(f"soak.{name}_slope", line.slope, "1/h"),
                    reported(f"soak.{name}_slope_uncertainty", line.uncertainty, "1/h"), reported(f"soak.{name}_slope_t", line.t),
                    judge(f"soak.{name}_slope_at_most", line.upper, limit, "1/h")]
    return records


# By name: what is run, what it is about, and on which fronts. Hostile clients reach the proxy only: the server listens on loopback.
DIRECT, PROXY, BOTH = ("direct",), ("proxy",), ("direct", "proxy")
PARTS: dict[str, tuple[Part, str, tuple[str, ...]]] = {
    "storm": (_storm, "Snapshots, replays, forks and malformed calls in-process", DIRECT),
    "wire_storm": (_wire_storm, "Malformed calls over real sockets", BOTH),
    "kill_nine": (_kill_nine, "Survival of kill -9", BOTH),
    "recovery": (_recovery, "Readiness after kill -9", BOTH),
    "descriptors": (_descriptors, "More connections than there may be", PROXY),
    "floods": (_floods, "Floods", PROXY),
    "silence": (_silence, "Silent connections", PROXY),
    "overload": (_overload, "Overload", BOTH),
    "cancel": (_cancel, "Steps ended at random moments", BOTH),
    "search": (_search, "Searches for an equilibrium ended at random moments", DIRECT),
    "overhead": (_overhead, "Overhead", BOTH),
    "pauses": (_pauses, "Calls after a pause", BOTH),
    "fork": (_fork, "Forks", DIRECT),
    "memory": (_memory, "Estimates of memory", DIRECT),
    "soak": (_soak, "Soak", BOTH),
}
