"""Continuous collision detection against exact arithmetic on queries made to break it, in shards that can be resumed.

EIPC_CCD_QUERIES sets how many (default 40000: minutes; 1000000 and more is a study), EIPC_CCD_SHARD_SIZE how many a shard (20000).
A shard that has passed is not run again as long as the test binary is the same: its record lies in build/ccd_shards.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from eipc_cli import REPOSITORY
from page import RecordsTable
from validation import Context, Record, at_most, equal, reported

NAME = "ccd"
DESCRIPTION = "CCD against exact rational arithmetic on adversarial queries; the public sets where they are at hand"

PAGE = RecordsTable(
    "Continuous collision detection against exact answers", """The reference for the adversarial queries is rational arithmetic: coplanarity is
    a cubic in time, whose roots are compared as algebraic numbers (`tests/sim/geometry/ccd_exact_reference.h`; it agrees with every answer of
    the public sets). A shard holds queries of seven families: grazing contact, gaps and motions of a few units in the last place, generic
    ones at scales from 1e-13 to 1e6 m, lattices (exact touching), degenerate primitives, nearly parallel edges, far offsets. For each query
    the time that is returned must be free of contact exactly, and the positions that a caller forms in doubles then, and at half
    of that time, must keep the promised distance. `EIPC_CCD_QUERIES=1000000 ./dev validate ccd --jobs 1` runs a million.""",
    {"queries": "queries", "hits": "hits", "shards_failed": "shards failed", "false_negatives": "false negatives",
     "false_positives_percent": "false positives, % of negatives", "iterations_mean": "passes, mean", "iterations_worst": "passes, most"},
    case="set", hidden=frozenset({"cpu_s"}))

BUILD = REPOSITORY / "build" / "release"
TEST = BUILD / "tests" / "ccd_adversarial_test"
RECORDS = REPOSITORY / "build" / "ccd_shards"


def run(context: Context) -> list[Record]:
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "ccd_adversarial_test"], check=True, stdout=subprocess.DEVNULL)
    count = int(os.environ.get("EIPC_CCD_QUERIES", "40000"))
    size = int(os.environ.get("EIPC_CCD_SHARD_SIZE", "20000"))
    binary = hashlib.sha256(TEST.read_bytes()).hexdigest()[:16]
    with ThreadPoolExecutor(context.jobs) as pool:
        shards = list(pool.map(lambda shard: _shard(shard, size, binary), range(max(1, count // size))))
    failed = [shard for shard in shards if not shard["passed"]]
    for shard in failed:
        print(shard["output"])
    records = [
        reported("adversarial.queries", sum(shard["queries"] for shard in shards)),
        reported("adversarial.hits", sum(shard["hits"] for shard in shards)),
        equal("adversarial.shards_failed", len(failed), 0),
        reported("adversarial.cpu_s", sum(shard["seconds"] for shard in shards), "s"),
    ]
    return records + _public_sets(context)


def _shard(shard: int, size: int, binary: str) -> dict:
    """One shard's record: kept when it passed, so that a study that was cut off goes on where it was."""
    path = RECORDS / f"{binary}_{size}_{shard}.json"
    if path.exists():
        return json.loads(path.read_text())
    start = time.monotonic()
    out = RECORDS / f"{binary}_{size}_{shard}.tmp"
    RECORDS.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([TEST, f"--gtest_output=json:{out}"], capture_output=True, text=True,
                          env={**os.environ, "EIPC_CCD_COUNT": str(size), "EIPC_CCD_SHARD": str(shard)})
    record = {"passed": done.returncode == 0, "queries": size, "hits": 0, "seconds": time.monotonic() - start,
              "output": "" if done.returncode == 0 else done.stdout[-4000:] + done.stderr[-2000:]}
    if record["passed"]:
        case = json.loads(out.read_text())["testsuites"][0]["testsuite"][0]
        record["hits"] = int(case["hits"])
        path.write_text(json.dumps(record))
    out.unlink(missing_ok=True)
    return record


def _public_sets(context: Context) -> list[Record]:
    """The public sets below the data folder: false negatives, false positives, passes."""
    data = context.data
    if data is None:
        return []
    handcrafted = sorted((data / "ccd_queries").glob("**/*.csv"))
    others = sorted((data / "ccd_queries_scalable").glob("**/*.csv"))
    records = []
    for name, files in (("handcrafted", handcrafted), ("scalable", others)):
        files = [file for file in files if re.search(r"edge-edge|vertex-face|(ee|vf)\.csv$", str(file))]
        if not files:
            continue
        done = subprocess.run([BUILD / "bin" / "eipc", "ccd-query", *files], capture_output=True, text=True)
        figures = re.search(r"total: queries (\d+), false negatives (\d+), false positives (\d+) \(([0-9.]+) %.*"
                            r"iterations mean ([0-9.e+]+) worst (\d+)", done.stdout)
        if figures is None:
            raise RuntimeError(f"eipc ccd-query: {done.stderr[-500:]}")
        queries, misses, _, percent, mean, worst = figures.groups()
        records += [reported(f"{name}.queries", int(queries)), equal(f"{name}.false_negatives", int(misses), 0),
                    at_most(f"{name}.false_positives_percent", float(percent), 8, "% of negatives"),
                    reported(f"{name}.iterations_mean", float(mean)), reported(f"{name}.iterations_worst", int(worst))]
    return records
