#!/usr/bin/python3
"""Benchmark of the grasp: full-space, medium and low cages, h = 0.02, 0.01, 0.005 s, generated and (if there) real meshes; of each
material against linear corotated (material_rows.py), of a second thread (thread_rows.py), and, where --filter asks for them, of bins of
household objects (hours) and of public scenes of the reference IPC code (ipc_rows.py; with --peer beside that code).

Prints the tables of speed and of stages, then what was promised beside what was measured (targets.py, bin_rows.py).

Every row runs `eipc run SCENE --dt S --threads N --report FILE`, `--runs` times; figures are medians over the runs. The
machine-speed probe beside a row is the time of a fixed loop, measured just before and after it (see machine_probe.py). Its error
is that of the same program and settings against a solution to 1e-7 m/s at the same step size: largest distance of a surface vertex
at any step, and largest difference of a force; the audit of all its states counts intersections (solution_error.py).
"""

from __future__ import annotations

import os

# One thread, or the probe would measure how busy the other cores are. Set before NumPy loads its BLAS.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import re  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, Sequence  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "validate"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import bin_rows  # noqa: E402
import ipc_rows  # noqa: E402
import material_rows  # noqa: E402
import thread_rows  # noqa: E402
from eipc_cli import GRASP_MODELS, EipcCli, GraspCase, RunError, default_cli, default_data, grasp_cases  # noqa: E402
from machine_probe import probe_ms  # noqa: E402
from page import Page  # noqa: E402
from solution_error import SolutionError, measure_solution_error  # noqa: E402
from targets import Target, grasp_targets, memory_targets, refinement_rows, refinement_target, worlds_target  # noqa: E402
from text_table import Table  # noqa: E402


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass  # not Linux: the platform's own words will do
    return {"cpu": model, "cores": os.cpu_count(), "load_average": os.getloadavg()[0], "probe_ms": probe_ms()}


def _median(reports: Sequence[dict], *path: str) -> float:
    values = []
    for report in reports:
        value: Any = report
        for key in path:
            value = value[key]
        values.append(float(value))
    return statistics.median(values)


def row_of(case: GraspCase, reports: Sequence[dict], probe: float, error: SolutionError) -> dict[str, Any]:
    """One row: medians over the runs' reports, and their error. Shares are of the stepping time; `other` is what no stage claims."""
    wall = _median(reports, "wall_s")
    stages = {name: _median(reports, "stage_seconds", name) / wall for name in reports[0]["stage_seconds"]}
    stages["other"] = max(0.0, 1.0 - sum(stages.values()))
    factors = sorted(float(report["real_time_factor"]) for report in reports)
    return {
        "name": case.name, "scene": case.scene.name, "dt_s": case.dt_s, "runs": len(reports),
        "threads": reports[0]["threads"], "steps": reports[0]["steps"], "unknowns": reports[0]["unknowns"],
        "surface_triangles": reports[0]["surface_triangles"],
        "real_time_factor": statistics.median(factors), "real_time_factor_range": [factors[0], factors[-1]],
        "wall_s": wall, "ms_per_step": 1e3 * wall / reports[0]["steps"],
        "newton_iterations": {"mean": _median(reports, "newton_iterations", "mean"),
                              "max": _median(reports, "newton_iterations", "max")},
        "ms_per_newton_iteration": 1e3 * wall / max(_median(reports, "newton_iterations", "total"), 1.0),
        "contacts": {"mean": _median(reports, "contacts", "mean"), "max": _median(reports, "contacts", "max")},
        "min_distance_m": _median(reports, "min_distance_m") if reports[0]["min_distance_m"] is not None else None,
        "steps_not_converged": reports[0]["steps_not_converged"],
        "max_rss_bytes": _median(reports, "max_rss_bytes"), "stage_share": stages, "probe_ms": probe,
        "state_digest": reports[0].get("state_digest"),
        "error": {"position_m": error.position_m, "force": error.force, "intersections": error.intersections},
    }


def speed_table(rows: Sequence[dict]) -> Table:
    header = ["grasp", "x real time", "ms/step", "Newton mean", "max", "ms/Newton", "contacts mean", "max", "min dist um",
              "not conv", "MiB", "probe ms", "error um", "force %", "intersections"]
    cells = [[row["name"], f"{row['real_time_factor']:.2f}", f"{row['ms_per_step']:.2f}",
              f"{row['newton_iterations']['mean']:.2f}", f"{row['newton_iterations']['max']:.0f}",
              f"{row['ms_per_newton_iteration']:.2f}", f"{row['contacts']['mean']:.0f}", f"{row['contacts']['max']:.0f}",
              "-" if row["min_distance_m"] is None else f"{1e6 * row['min_distance_m']:.2f}",
              str(row["steps_not_converged"]), f"{row['max_rss_bytes'] / 2**20:.0f}", f"{row['probe_ms']:.2f}",
              f"{1e6 * row['error']['position_m']:.1f}", f"{100 * row['error']['force']:.3f}",
              str(row["error"]["intersections"])] for row in rows]
    return Table(header, cells)


def stage_table(rows: Sequence[dict]) -> Table:
    """Share of the stepping time by stage, the largest stages of the first row first."""
    stages = list(dict.fromkeys(name for row in rows for name in row["stage_share"] if name != "other"))
    stages = sorted(stages, key=lambda name: -rows[0]["stage_share"].get(name, 0.0)) + ["other"]
    cells = [[row["name"], *(f"{100 * row['stage_share'].get(name, 0.0):.1f}" for name in stages)] for row in rows]
    return Table(["% of time in", *stages], cells)


def run_rows(cli: EipcCli, cases: Sequence[GraspCase], runs: int, threads: int) -> list[dict]:
    rows = []
    for number, case in enumerate(cases, start=1):
        print(f"[{number}/{len(cases)}] {case.name} ...", file=sys.stderr, flush=True)
        before = probe_ms()
        reports = [cli.run(case.scene, case.dt_s, threads=threads) for _ in range(runs)]
        probe = 0.5 * (before + probe_ms())
        rows.append(row_of(case, reports, probe, measure_solution_error(cli, case, threads)))
    return rows


def refinement_table(rows: Sequence[dict]) -> Table:
    header = ["triangles of the bear", "free fall: first step, ms", "median", "x the first", "mean", "x the first", "whole grasp: ms/step",
              "contacts mean", "us/contact", "Newton mean"]
    cells = [[str(row["triangles"]), f"{row['free_first_ms']:.2f}", f"{row['free_median_ms']:.3f}",
              f"{row['free_median_ms'] / rows[0]['free_median_ms']:.2f}", f"{row['free_ms_per_step']:.3f}",
              f"{row['free_ms_per_step'] / rows[0]['free_ms_per_step']:.2f}", f"{row['ms_per_step']:.2f}", f"{row['contacts']:.0f}",
              f"{1e3 * row['ms_per_step'] / row['contacts']:.1f}", f"{row['newton']:.2f}"] for row in rows]
    return Table(header, cells)


def targets_table(targets: Sequence[Target]) -> Table:
    return Table(["target", "measured", "wanted", "unit", ""], [target.cells() for target in targets])


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", metavar="NAME",
                        help="only rows whose name contains this, or one of these with commas between them, e.g. low, low-0.02, "
                             "material-low, threads-full, bin-25,bin-100, ipc or ipc-chain5")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables here as a page of the documentation")
    parser.add_argument("--runs", type=int, default=5, help="runs of each row; figures are medians")
    parser.add_argument("--refinement", type=int, default=0, metavar="LEVELS",
                        help="also refine the bear's surface so many times, each into four times as many triangles")
    parser.add_argument("--peer", type=Path, metavar="PROGRAM",
                        help="run PROGRAM SCENE STEPS in turns with the rows ipc-SCENE, and compare processor seconds; skipped where it is absent")
    parser.add_argument("--threads", type=int, default=1, help="threads inside a step")
    parser.add_argument("--eipc", type=Path, default=default_cli(), help="the eipc program")
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real meshes (default: EIPC_DATA)")
    arguments = parser.parse_args(argv)
    if arguments.runs < 1 or arguments.threads < 1:
        parser.error("--runs and --threads must be at least 1")
    return arguments


@dataclass(frozen=True)
class Rows:
    """What is measured: grasps, models whose materials are compared, names of thread_rows.CASES, objects in bins, public scenes."""

    cases: Sequence[GraspCase]
    models: Sequence[str]
    threads: Sequence[str]
    bins: Sequence[int]
    public: Sequence[ipc_rows.IpcCase]


def measure(arguments: argparse.Namespace, rows: Rows) -> dict[str, Any]:
    """Everything that was asked for. Raises RunError, and ValueError where generated meshes are missing."""
    cli = EipcCli(arguments.eipc, arguments.data)
    cli.check()
    # First: where its program is missing, that is said before hours of runs.
    memory = [] if arguments.filter else memory_targets(arguments.eipc.parents[1] / "tests" / "tools_step_memory_test")
    out: dict[str, Any] = {"machine": machine()}
    out["rows"] = run_rows(cli, rows.cases, arguments.runs, arguments.threads)
    out["targets"] = grasp_targets(out["rows"])
    if not arguments.filter:
        out["targets"] += [worlds_target(cli, arguments.runs), *memory]
    out["refinement"] = refinement_rows(cli, range(arguments.refinement + 1), arguments.runs) if arguments.refinement else []
    refinement = refinement_target(out["refinement"]) if out["refinement"] else None
    out["targets"] += [refinement] if refinement else []
    out["materials"] = material_rows.material_rows(cli, rows.models, arguments.runs, arguments.threads)
    out["targets"] += material_rows.material_targets(out["materials"])
    out["threads"] = thread_rows.thread_rows(cli, rows.threads, arguments.runs)
    out["targets"] += thread_rows.thread_targets(out["threads"])
    out["bin"] = bin_rows.bin_rows(cli, rows.bins, arguments.runs, arguments.threads)
    out["targets"] += bin_rows.bin_targets(out["bin"])
    peer = arguments.peer if arguments.peer and arguments.peer.is_file() else None
    out["ipc"] = ipc_rows.ipc_rows(cli, rows.public, arguments.data, arguments.runs, arguments.threads, peer)
    out["targets"] += ipc_rows.ipc_targets(out["ipc"])
    return out


def conditions(arguments: argparse.Namespace, found: dict[str, Any]) -> str:
    about = found["machine"]
    return (f"{about['cpu']}, {about['cores']} cores, load {about['load_average']:.1f}, probe {about['probe_ms']:.2f} ms; "
            f"medians of {arguments.runs}, {arguments.threads} thread(s)")


def tables_of(found: dict[str, Any]) -> list[tuple[str, Table]]:
    """The tables of what was measured, with their titles."""
    tables = []
    if found["rows"]:
        tables += [("Grasps", speed_table(found["rows"])), ("Stages", stage_table(found["rows"]))]
    if found["materials"]:
        tables.append(("Materials", material_rows.material_table(found["materials"])))
    if found["threads"]:
        tables.append(("A second thread", thread_rows.thread_table(found["threads"])))
    if found["targets"]:
        tables.append(("Targets", targets_table(found["targets"])))
    if found["refinement"]:
        tables.append(("Refined surfaces", refinement_table(found["refinement"])))
    if found["bin"]:
        tables += [("Bins", bin_rows.speed_table(found["bin"])), ("The same runs", bin_rows.error_table(found["bin"]))]
    if found["ipc"]:
        tables.append(("Public scenes", ipc_rows.ipc_table(found["ipc"])))
    return tables


def remarks(arguments: argparse.Namespace) -> list[str]:
    """What was not measured, and why."""
    said = []
    if arguments.peer and not arguments.peer.is_file():
        said.append(f"There is no program at {arguments.peer}: nothing is compared with a peer.")
    if arguments.data is None:
        said.append("The rows on real meshes need EIPC_DATA.")
    return said


def report(arguments: argparse.Namespace, found: dict[str, Any]) -> str:
    return "\n\n".join([conditions(arguments, found), *(table.text() for _, table in tables_of(found)), *remarks(arguments)])


def write_page(arguments: argparse.Namespace, options: Sequence[str], found: dict[str, Any]) -> None:
    """The same as a page of the documentation, under the command that writes it again."""
    kept = re.sub(r"--(page|json)[ =]\S+", "", " ".join(options)).split()
    page = Page(arguments.page.stem.replace("_", " ").capitalize(), " ".join(["./dev bench", *kept]))
    page.text(f"""{conditions(arguments, found)}. What the columns mean is said in `tests/bench/run_bench.py` and `tests/bench/bin_rows.py`.
        Machines differ: compare times only where their probes agree.""")
    for title, table in tables_of(found):
        page.section(title)
        page.table(table.header, table.rows)
    for remark in remarks(arguments):
        page.text(remark)
    page.write(arguments.page)


def chosen(text: str, names: Sequence[str], group: str = "") -> list[int]:
    """Places of the names that contain one of the parts of a filter; of a group that has to be asked for, only by parts that begin so."""
    parts = [part for part in text.split(",") if part.startswith(group)]
    return [place for place, name in enumerate(names) if any(part in name for part in parts)]


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    grasps, scenes = grasp_cases(arguments.data), ipc_rows.ipc_cases(arguments.data)
    cases = [grasps[i] for i in chosen(arguments.filter, [case.name for case in grasps])]
    group = "material" if arguments.filter else ""
    models = [GRASP_MODELS[i] for i in chosen(arguments.filter, [material_rows.name_of(model) for model in GRASP_MODELS], group)]
    group = "threads" if arguments.filter else ""
    names = [name for name, *_ in thread_rows.CASES]
    threads = [names[i] for i in chosen(arguments.filter, [thread_rows.name_of(name) for name in names], group)]
    # Only where they are asked for: they take hours.
    bins = [bin_rows.COUNTS[i] for i in chosen(arguments.filter, [bin_rows.name_of(count) for count in bin_rows.COUNTS], "bin")]
    public = [scenes[i] for i in chosen(arguments.filter, [case.name for case in scenes], "ipc")]
    rows = Rows(cases, models, threads, bins, public)
    if not any(vars(rows).values()):
        names = ", ".join([*(case.name for case in grasps), *(material_rows.name_of(model) for model in GRASP_MODELS),
                           *(thread_rows.name_of(name) for name, *_ in thread_rows.CASES),
                           *(bin_rows.name_of(count) for count in bin_rows.COUNTS), *(case.name for case in scenes)])
        print(f"bench: no row's name contains '{arguments.filter}' (rows: {names})", file=sys.stderr)
        return 2
    try:
        found = measure(arguments, rows)
    except (RunError, ValueError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(report(arguments, found))
    if arguments.page:
        write_page(arguments, list(sys.argv[1:] if argv is None else argv), found)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        found["targets"] = [{**vars(target), "met": target.met} for target in found["targets"]]
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
