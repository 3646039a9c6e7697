"""Random grasps: objects, poses, stiffness 1e3-1e10 Pa, friction 0-2, finger speeds to 1 m/s, steps of 2.5-20 ms."""

from __future__ import annotations

import os

import numpy as np

from page import RecordsTable
from random_grasps import reproduction, run_grasp
from validation import Context, Record, at_least, at_most, equal, reported

NAME = "random_grasps"
DESCRIPTION = "Random grasps in shards, a seed each: no intersection, crash or value that is not finite"

PAGE = RecordsTable(
    "Random grasps", """Objects (boxes, balls, rods, spindles, L-prisms, soft grids and sheets of 6 mm to 10 cm), poses, stiffness of 1e3 to 1e10 Pa,
    density, material, friction of 0 to 2, d̂, ε_v and step sizes at random; two fingers close at up to 1 m/s, press, lift and shake for
    100 steps. A failure is an intersection, a crash or a value that is not finite; its record names the command that repeats it. *Converged* is
    the share of steps whose solves converged, each within the 100 iterations that scenes have by default. The fingers are often commanded to pass
    through each other with a stiff object between them, and no iteration arrives there. Where the fingers arrive, a step has a solution and must
    converge, as in the [scenes of the guarantee](guarantee.md) in 99 % of the steps: *converged where fingers arrive*. *p99 over median*: of the
    iterations of all steps.
    `EIPC_GRASP_SHARDS=0:20 ./dev validate random_grasps` takes 1e5 steps.""", {})

SHARD = 50  # grasps; of 100 steps each


def shards() -> range:
    """EIPC_GRASP_SHARDS=FIRST:LAST picks shards (default 0:1, 5000 steps; 0:20 is 1e5 steps)."""
    first, last = os.environ.get("EIPC_GRASP_SHARDS", "0:1").split(":")
    return range(int(first), int(last))


def run(context: Context) -> list[Record]:
    records, every = [], []
    for shard in shards():
        seeds = range(shard * SHARD, (shard + 1) * SHARD)
        results = [run_grasp(context.cli, seed, context.scratch) for seed in seeds]
        for result in results:
            if result.failure:
                records.append(Record(f"seed{result.seed}", f"{result.failure}; again: {reproduction(result.seed)}", "", "== sound", False))
        every += results
        context.say(f"shard {shard}: {sum(r.steps for r in results)} steps, {sum(bool(r.failure) for r in results)} failures")

    def total(figure: str) -> int:
        return sum(getattr(result, figure) for result in every)

    iterations = np.concatenate([result.iterations for result in every])
    median, p99 = (float(np.percentile(iterations, share)) for share in (50, 99))
    return records + [reported("grasps", len(every)), at_least("steps", total("steps"), 100 * len(every)), equal("failures", len(records), 0),
                      at_least("converged", total("converged") / max(total("steps"), 1), 0.95),
                      reported("steps_where_fingers_arrive", total("free")),
                      at_least("converged_where_fingers_arrive", total("free_converged") / max(total("free"), 1), 0.99),
                      reported("iterations_median", median), at_most("iterations_p99_over_median", p99 / median, 10),
                      reported("inversions_where_permitted", total("inversions"))]
