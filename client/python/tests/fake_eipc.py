#!/usr/bin/python3
"""Stands in for `eipc run` in tests of the benchmark and of the validation runner: recorded figures, no simulation.

Surface positions are those of a point moving as sin(t) plus an error of 0.01 h (first order), 20 s per 1 s of wall time on one thread, 25 on more.
"""

import argparse
import array
import json
import math
import sys

STAGES = {"assemble": 0.06, "factorize": 0.04, "ccd": 0.05}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["run"])
    parser.add_argument("scene")
    parser.add_argument("--dt", type=float)
    parser.add_argument("--duration", type=float, default=4.0)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--report")
    parser.add_argument("--trajectory")
    parser.add_argument("--data")
    arguments = parser.parse_args()
    if "full_real" in arguments.scene and arguments.dt == 0.005:
        print("MESH_UNREADABLE: bodies[0].full_space.mesh: no such file", file=sys.stderr)
        return 1
    steps = round(arguments.duration / arguments.dt)
    tight = any("newton_tolerance" in setting for setting in arguments.set)
    force = 7.605 if tight else 7.606
    wall = 0.2 if arguments.threads in (None, 1) else 0.16
    report = {
        "scene": arguments.scene, "dt_s": arguments.dt, "steps": steps, "sim_time_s": arguments.duration, "wall_s": wall,
        "real_time_factor": arguments.duration / wall, "threads": arguments.threads, "unknowns": 504, "surface_vertices": 2,
        "surface_triangles": 100, "newton_iterations": {"total": 4 * steps, "mean": 4.0, "max": 9},
        "contacts": {"mean": 80.5, "max": 120}, "min_distance_m": 2.5e-5, "steps_not_converged": 1, "max_rss_bytes": 64 << 20,
        "audit": {"states_checked": steps if arguments.audit else 0, "intersections": 0, "inversions": 0,
                  "forbidden_inversions": 0},
        "stage_seconds": STAGES, "linear_solver": {"kind": "cholesky"}, "bodies": {}, "state_digest": "0123456789abcdef",
        "contact_forces": {"teddy/left": {"normal_n": [0, 10, 1], "friction_n": [0, 0, force / 2 - 1], "moment_nm": [0, 0, 0]}},
        "holding": {"mean_vertical_force_n": force, "mean_vertical_friction_n": 0.8 * force, "weight_n": 7.605},
    }
    with open(arguments.report, "w", encoding="utf-8") as file:
        json.dump(report, file)
    if arguments.trajectory:
        times = [arguments.dt * i for i in range(steps + 1)]
        error = 0.01 * arguments.dt  # order one, the reference included
        frames = array.array("d", [number for t in times for number in (math.sin(t) + error, 0, 0, 0, 0, 0)])
        with open(arguments.trajectory, "wb") as file:
            file.write(json.dumps({"vertices": 2, "times": times}).encode() + b"\n" + frames.tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
