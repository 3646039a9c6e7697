"""Policies that learn to grasp: from scratch with three seeds, and from demonstrations, each by the commands that users have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from eipc_cli import REPOSITORY, RunError
from page import Page
from study_plots import plot_lines
from validation import Context, Record, at_least, at_most, equal

SEEDS, WORLDS, GENERATIONS, EPISODES, MAX_STEPS, DEMONSTRATIONS = (0, 1, 2), 32, 12, 96, 50, 32
TEACHER_STEPS = 100  # the teacher, and who imitates it, wait before they lift
CORES, LIMIT_MIN = 2, 15.0
_TEACHER = "eipc.farm.policies:Scripted"


def policies(context: Context, page: Page) -> list[Record]:
    """EIPC_LEARNING_GENERATIONS: fewer, to try it."""
    generations = int(os.environ.get("EIPC_LEARNING_GENERATIONS", str(GENERATIONS)))
    folder = context.scratch / "policies"
    folder.mkdir(parents=True)
    commands = {f"seed {seed}": ["learn", "--seed", seed, "--generations", generations] for seed in SEEDS}
    commands["repeated"] = ["learn", "--seed", SEEDS[0], "--generations", 2]
    with ThreadPoolExecutor(context.jobs) as pool:
        found = dict(zip(commands, pool.map(lambda name: _run(context, folder, name, commands[name]), commands)))
    demos = folder / "demonstrations"
    taught = _run(context, folder, "recorded", ["record", "eipc/Grasp-v0", "--policy", _TEACHER, "--episodes", DEMONSTRATIONS, "--worlds", 8,
                                                "--max-steps", TEACHER_STEPS, "--out", demos])
    found["cloned"] = _run(context, folder, "cloned", ["learn", "--from", demos], TEACHER_STEPS)
    minutes = sum(one["cpu_s"] for one in (*found.values(), taught)) / CORES / 60
    _describe(context, page, found, minutes)
    return _records(found, minutes)


def _run(context: Context, folder: Path, name: str, words: list[Any], max_steps: int = MAX_STEPS) -> dict[str, Any]:
    """What a command left, with its processor time, its server's included. Raises RunError."""
    out = folder / name.replace(" ", "_")
    if words[0] == "learn":
        words = [*words, "--out", out, "--worlds", WORLDS, "--episodes", EPISODES, "--max-steps", max_steps]
    environment = {**os.environ, "EIPC_SERVER": str(context.server), "PYTHONPATH": str(REPOSITORY / "client" / "python")}
    context.say(f"{name}: eipc {' '.join(map(str, words))}")
    process = subprocess.Popen([sys.executable, "-m", "eipc.cli", *map(str, words)], env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise RunError(f"eipc {words[0]} ({name}) failed")
    learned = out / "learning.json"
    return {**(json.loads(learned.read_text()) if learned.exists() else {}), "cpu_s": used.ru_utime + used.ru_stime}


def _records(found: dict[str, dict[str, Any]], minutes: float) -> list[Record]:
    """Success after learning is beyond that before it when their 95 % intervals do not meet."""
    before = found["seed 0"]["before"]
    records = []
    for name in (*(f"seed {seed}" for seed in SEEDS), "cloned"):
        after = found[name]["after"]
        records.append(at_least(f"{name}.success_low", after["low"], before["high"]))
        records.append(at_least(f"{name}.success", after["successes"] / after["episodes"], 0.9))
    records.append(equal("repeated.same_curve", found["repeated"]["curve"] == found["seed 0"]["curve"][:2], True))
    records.append(at_most("processor_minutes_of_2_cores", minutes, LIMIT_MIN, "min"))
    return records


def _describe(context: Context, page: Page, found: dict[str, dict[str, Any]], minutes: float) -> None:
    page.section("Policies that learn to grasp")
    page.text(f"""`eipc/Grasp-v0` (two soft bubbles, a soft bear, the observation `state`), episodes of {MAX_STEPS} actions, with
        demonstrations of {TEACHER_STEPS}. From scratch: the cross-entropy method over {WORLDS} worlds, a linear policy of 60
        numbers that starts as a gripper which does not move. From demonstrations: a network that imitates {DEMONSTRATIONS}
        episodes of the scripted teacher. Success is measured on {EPISODES} episodes whose starts learning did not see, with
        Wilson's interval of 95 %.""")
    rows = []
    for name, one in found.items():
        if name == "repeated":
            continue
        steps = one["curve"][-1]["env_steps"] if "curve" in one else one["samples"]
        rows.append([name, _rate(one["before"]) if "before" in one else None, _rate(one["after"]), len(one.get("curve", ())) or None, steps,
                     one["cpu_s"] / 60])
    page.table(["run", "success before", "success after", "generations", "actions learned from", "processor time, min"], rows)
    page.text(f"""These commands took {minutes:.1f} minutes of {CORES} cores, by processor time (commands and servers). The first two generations of
        seed 0, learned again in another process and server, have the same figures to the last digit.""")
    curves = {name: one["curve"] for name, one in found.items() if "curve" in one and name != "repeated"}
    page.section("Learning curves")
    page.table(["generation", *(f"{name}: mean return, success of the candidates" for name in curves)],
               [[k + 1, *(_point(curve, k) for curve in curves.values())] for k in range(max(map(len, curves.values())))])
    plot_lines(context.figures / "learning.png",
               {name: (np.array([one["number"] for one in curve], dtype=float), np.array([one["success"] for one in curve]))
                for name, curve in curves.items()}, "generation", "success of the candidates")
    page.figure("learning.png", "Success of the candidates over the generations, a line for each seed")


def _point(curve: list[dict[str, Any]], k: int) -> str | None:
    return f"{curve[k]['mean_return']:.3f}, {100 * curve[k]['success']:.0f} %" if k < len(curve) else None


def _rate(rate: dict[str, Any]) -> str:
    return f"{100 * rate['successes'] / rate['episodes']:.0f} % ({100 * rate['low']:.0f} to {100 * rate['high']:.0f})"
