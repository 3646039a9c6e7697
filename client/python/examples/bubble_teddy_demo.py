#!/usr/bin/python3
"""The grasp, end to end: a client streams a gripper's motion to an eipc server and records what comes back.

Starts a server, creates the scene, commands the two fingers (squeeze, lift, hold) step by step over a stream, then
writes summary.json, recording.npz (see grasp_recording.py), plots, rendered pictures and grasp.html, a page that plays the grasp, into
--out.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))  # works from a checkout, installed or not

try:
    import eipc
    from eipc.cli.view import page_of
    from eipc.viz import DrawingError
    from grasp_page import write_grasp_page
    from grasp_pictures import render_phases
    from grasp_plots import plot_contacts, plot_forces
    from grasp_recording import Recording
    from grasp_task import GraspTask, TaskError, read_task
except ImportError as missing:
    sys.exit(f"bubble_teddy_demo: {missing}; run ./dev setup and ./dev build first")

OBSERVE = eipc.Observe(contact_wrenches=True, contact_counts=True, min_distance=True, surface_positions=True,
                       cage_positions=True, twists=True, boundary_poses=True, contact_tractions=True, slips=True, stresses=True,
                       positions_dtype=np.float32)
STEPS_IN_FLIGHT = 3
SECONDS_TO_OPEN = 10


class Progress:
    """A bar on a terminal, a line every half simulated second elsewhere."""

    def __init__(self, task: GraspTask, stream: Any = sys.stdout) -> None:
        self._task, self._stream = task, stream
        self._live = stream.isatty()
        self._start = time.monotonic()
        self._next_line_s = 0.5

    def show(self, observation: eipc.Observation) -> None:
        task, now = self._task, observation.time_s
        factor = now / max(time.monotonic() - self._start, 1e-9)
        words = (f"{now:5.2f} of {task.duration_s:.2f} s  {task.phase(now):7s}  {observation.contact_counts.total:4d} contacts"
                 f"  {factor:5.2f}x real time")
        if self._live:
            full = int(30 * min(now / task.duration_s, 1))
            self._stream.write(f"\r  [{'#' * full}{'.' * (30 - full)}] {words} ")
        elif now + 1e-9 >= self._next_line_s:
            self._next_line_s += 0.5
            self._stream.write(f"  {words}\n")
        self._stream.flush()

    def finish(self) -> float:
        """Ends the bar; returns the seconds since the start."""
        if self._live:
            self._stream.write("\n")
        return time.monotonic() - self._start


def step_requests(task: GraspTask, dt: float, steps: int) -> Iterator[dict[str, Any]]:
    """Each step's command: where the fingers are to be when it ends."""
    for step in range(1, steps + 1):
        yield {"dt": dt, "targets": task.targets(step * dt), "observe": OBSERVE}


def run_grasp(scene: eipc.Scene, task: GraspTask, dt: float, threads: int,
              on_session: Callable[[eipc.Session], None] = lambda _: None) -> tuple[list[eipc.Observation], float]:
    """Steps through the whole grasp; returns what was observed and the wall time of the stepping, s. on_session: called before."""
    steps = round(task.duration_s / dt)
    with scene.create_session(threads=threads) as session:
        on_session(session)
        observations = [session.state(OBSERVE)]
        progress = Progress(task)
        with session.stream() as stream:
            for observation in stream.run(step_requests(task, dt, steps), window=STEPS_IN_FLIGHT):
                observations.append(observation)
                progress.show(observation)
        wall_s = progress.finish()
    return observations, wall_s


def summarize(scene: eipc.Scene, task: GraspTask, recording: Recording, dt: float, threads: int, wall_s: float) -> dict:
    """The figures of summary.json."""
    window = (recording.time_s > task.holding_start_s + 1e-9) & (recording.time_s < task.holding_end_s + 1e-9)
    holding = recording.force_on(task.held)[window]
    friction = recording.force_on(task.held, part="friction_force")[window]
    contacts = recording.point_triangle + recording.edge_edge
    held, squeezed = recording.bodies.index(task.held), recording.sample_at(task.squeeze_end_s)
    steps, solver_s = len(recording.time_s) - 1, float(recording.step_wall_s.sum())
    mean_force = float(holding[:, 2].mean()) if len(holding) else float("nan")
    smallest = float(recording.min_distance_m.min())
    return {
        "scene": scene.summary.display_name, "dt_s": dt, "steps": steps, "sim_time_s": float(recording.time_s[-1]),
        "threads": threads, "unknowns": scene.summary.unknowns, "surface_triangles": scene.summary.surface_triangles,
        "wall_s": wall_s, "real_time_factor": float(recording.time_s[-1] / wall_s),
        "solver_wall_s": solver_s,
        "solver_real_time_factor": float(recording.time_s[-1] / solver_s) if solver_s > 0 else None,
        "held_body": task.held, "weight_n": task.weight_n,
        "holding": {
            "start_s": task.holding_start_s, "end_s": task.holding_end_s, "mean_vertical_force_n": mean_force,
            "force_over_weight": mean_force / task.weight_n, "mean_vertical_friction_n": float(friction[:, 2].mean()),
            "friction_share": float(friction[:, 2].mean() / mean_force),
            "largest_deviation_n": float(np.abs(holding[:, 2] - task.weight_n).max()),
        } if len(holding) else None,
        "height_gained_m": float(recording.position_m[-1, held, 2] - recording.position_m[squeezed, held, 2]),
        "lift_commanded_m": task.lift_m,
        "min_distance_m": smallest if np.isfinite(smallest) else None,
        "contacts": {"mean": float(contacts[1:].mean()), "max": int(contacts.max())},
        "newton_iterations": {"total": int(recording.newton_iterations.sum()),
                              "mean": float(recording.newton_iterations[1:].mean()),
                              "max": int(recording.newton_iterations.max())},
        "steps_not_converged": int((~recording.converged).sum()),
    }


def table(summary: dict, out: Path, files: list[Path]) -> str:
    """The figures a person wants to see, and where the rest is."""
    rows = [("steps", f"{summary['steps']} of {1e3 * summary['dt_s']:g} ms, {summary['unknowns']} unknowns, "
                      f"{summary['steps_not_converged']} not converged"),
            ("real-time factor", f"{summary['real_time_factor']:.2f} with network and recording, "
                                 f"{summary['solver_real_time_factor'] or float('nan'):.2f} solver alone"),
            (f"weight of {summary['held_body']}", f"{summary['weight_n']:.3f} N")]
    holding = summary["holding"]
    if holding:
        rows += [("mean holding force", f"{holding['mean_vertical_force_n']:.3f} N "
                                        f"({100 * holding['force_over_weight']:.2f} % of the weight, "
                                        f"{holding['start_s']:g} to {holding['end_s']:g} s)"),
                 ("of which", f"{100 * holding['friction_share']:.1f} % friction, "
                              f"{100 * (1 - holding['friction_share']):.1f} % normal (the pads' normals tilt)")]
    distance = summary["min_distance_m"]
    rows += [("height gained", f"{1e3 * summary['height_gained_m']:.1f} mm of the fingers' {1e3 * summary['lift_commanded_m']:.0f} mm "
                               f"(soft pads yield)"),
             ("smallest distance", f"{1e6 * distance:.2f} µm" if distance is not None else "no contact"),
             ("contacts", f"{summary['contacts']['mean']:.0f} mean, {summary['contacts']['max']} most"),
             ("files", f"{out}/: " + ", ".join(file.name for file in files))]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, default=REPOSITORY / "build" / "release" / "bin" / "eipc-server",
                        help="server binary to start")
    parser.add_argument("--connect", metavar="HOST:PORT", help="use a running server instead of starting one")
    parser.add_argument("--scene", type=Path, default=REPOSITORY / "models" / "scenes" / "bubble_teddy_low_sound.textproto")
    parser.add_argument("--data", type=Path, help="folder of the scene's data: meshes (default: EIPC_DATA)")
    parser.add_argument("--dt", type=float, default=0.02, metavar="S", help="time step, s")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out") / "demo", help="folder for the results")
    parser.add_argument("--view", action="store_true", help="serve the viewer's page meanwhile, and until Control-C afterwards")
    arguments = parser.parse_args()
    if not 1e-5 <= arguments.dt <= 0.1:
        parser.error("--dt must lie between 1e-5 and 0.1 s")
    return arguments


def record_and_report(client: eipc.Client, arguments: argparse.Namespace, on_session: Callable[[eipc.Session], None] = lambda _: None) -> None:
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    scene = client.create_scene(arguments.scene, data=arguments.data)
    task = read_task(scene.message, scene.summary)
    print(f"{scene.summary.display_name or arguments.scene.stem}: {len(scene.bodies)} bodies, {scene.summary.unknowns} "
          f"unknowns, {scene.summary.surface_triangles} surface triangles")
    observations, wall_s = run_grasp(scene, task, arguments.dt, arguments.threads, on_session)
    recording = Recording(observations, scene.topology())
    summary = summarize(scene, task, recording, arguments.dt, arguments.threads, wall_s)
    files = [out / "summary.json", out / "recording.npz", out / "forces.png", out / "contacts.png"]
    files[0].write_text(json.dumps(summary, indent=2) + "\n")
    recording.save(files[1])
    plot_forces(files[2], recording, task)
    plot_contacts(files[3], recording, task)
    try:
        files += render_phases(out, scene.message, recording, task, lambda words: print(f"  {words}", flush=True))
    except DrawingError as reason:
        print(f"  there are no pictures: {reason}", flush=True)
    try:
        files.append(write_grasp_page(out / "grasp.html", scene, observations))
        last = f"Open {files[-1]} in a browser to play the grasp."
    except eipc.EpisodeError as reason:
        last = f"grasp.html was not written: {reason}"
    print("\n" + table(summary, out, files) + "\n" + last)
    print(f"eipc view {arguments.scene} shows the grasp live, and lets you drive it.")


def show_page(server: eipc.ServerProcess, session: eipc.Session) -> None:
    """Says where the grasp is seen, and gives a person the time to open it."""
    print(f"Open {page_of(server, session)} to see it live; it begins in {SECONDS_TO_OPEN} s.", flush=True)
    time.sleep(SECONDS_TO_OPEN)


def main() -> int:
    arguments = parse_arguments()
    try:
        if arguments.connect:
            with eipc.connect(arguments.connect) as client:
                record_and_report(client, arguments)
        else:
            viewer = ["--viewer=127.0.0.1:0"] if arguments.view else []
            with eipc.launch_server(arguments.server, ["--listen=127.0.0.1:0", *viewer]) as server, server.client() as client:
                print(f"server {arguments.server.name} at {server.address}")
                record_and_report(client, arguments, lambda session: show_page(server, session) if arguments.view else None)
                if arguments.view:
                    client.create_scene(arguments.scene, data=arguments.data).create_session(record=True)
                    print(f"The page at {server.viewer_url} has a new session to drive. Control-C ends it.", flush=True)
                    threading.Event().wait()
    except (eipc.EipcError, TaskError) as error:
        print(f"bubble_teddy_demo: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"bubble_teddy_demo: cannot write results: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbubble_teddy_demo: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
