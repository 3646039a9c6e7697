"""Two policies on the same 200 episodes, their report, and 20 random episodes run again from a fresh clone of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from eipc_cli import REPOSITORY
from validation import Context, Record, at_most, equal, reported

EPISODES, SAMPLE = 200, 20
_POLICIES = ("farm_policies:Grasp", "farm_policies:Hasty")


def run(context: Context) -> list[Record]:
    """EIPC_FARM_SCALE: share of the episodes. EIPC_FARM_FRESH_BUILD=1: the clone builds its own server; else it takes the one at hand."""
    from eipc.farm import Plan, Results
    from eipc.farm.comparison import write_comparison
    from eipc.farm.engines.local import LocalEngine
    from eipc.farm.evaluation import evaluate
    from eipc.farm.report import write_report
    from varied_grasps import SCENES

    scale = float(os.environ.get("EIPC_FARM_SCALE", "1"))
    each = max(2, round(EPISODES * scale / len(SCENES)))
    begin = time.monotonic()
    folders = []
    for policy in _POLICIES:
        folder = context.scratch / "comparison" / policy.split(":")[1]
        Plan.make(policy, SCENES, each).write(folder)
        write_report(evaluate(folder, LocalEngine(len(os.sched_getaffinity(0))), say=context.say))
        folders.append(folder)
    found = write_comparison(Results(folders[0]), Results(folders[1]), context.scratch / "comparison")
    minutes = (time.monotonic() - begin) / 60
    for row in found["scenes"]:
        context.say(f"{row['scene']}: {row['first']} and {row['second']} of {row['pairs']}")
    same, seconds = verify_in_a_clone(context, folders[1], min(SAMPLE, each * len(SCENES)))
    return [equal("comparison.pairs", found["pairs"], each * len(SCENES)), reported("comparison.minutes", minutes, "min"),
            reported("comparison.rate_difference", found["rate_difference"], ""), reported("comparison.mcnemar_p", found["mcnemar_p"], ""),
            equal("comparison.problems", len(found["problems"]), 0),
            at_most("comparison.verified_from_a_fresh_clone_that_differ", min(SAMPLE, each * len(SCENES)) - same, 0),
            reported("comparison.verification", seconds, "s")]


def verify_in_a_clone(context: Context, folder: Path, sample: int) -> tuple[int, float]:
    """How many of the episodes have the same states, and the seconds that it took."""
    clone = context.scratch / "clone"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(clone)], check=True, capture_output=True)
    server = context.server
    if os.environ.get("EIPC_FARM_FRESH_BUILD"):
        subprocess.run(["./dev", "build", "release", "eipc-server"], cwd=clone, check=True, capture_output=True)
        server = clone / "build" / "release" / "bin" / "eipc-server"
    path = os.pathsep.join([str(clone / "client" / "python"), str(clone / "client" / "python" / "tests")])
    subprocess.run([sys.executable, str(clone / "client" / "python" / "generate_protos.py")], check=True, capture_output=True)
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "eipc.cli", "verify", "--sample", str(sample), str(folder / "report.json")], cwd=clone,
                          env={**os.environ, "PYTHONPATH": path, "EIPC_SERVER": str(server)}, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).strip().splitlines()
    for line in lines[-3:]:
        context.say(f"clone: {line}")
    words = next((line.split() for line in lines if line.endswith("episodes have the same states")), ["0"])
    return int(words[0]), time.monotonic() - begin
