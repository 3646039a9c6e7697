"""What the viewer's page takes: pictures a second, latency of driving, bytes of a frame, and what pages cost the solver.

Headless Chromium draws by its software renderer, on the processor that also takes the steps. Beside each rate stands that of an empty scene,
which is the renderer's own limit on the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from typing import Any, Callable, Sequence

from eipc_cli import REPOSITORY, RunError
from page import RecordsTable
from validation import Context, Record, at_least, at_most, reported

NAME = "viewer"
DESCRIPTION = "the viewer's page: frames a second, 64 worlds as tiles, latency from the pointer to state and picture, bytes, processor time of a step"

PAGE = RecordsTable(
    "The viewer's page", """In headless Chromium with its software renderer, at 1280 × 720, each frame drawn to its end (a pixel is read back). *triangles*: a made recording of
    20,480 triangles in motion; *tiles*: 64 worlds of `bubble_teddy_low_sound`, both as moving pictures are drawn there: with one sample a pixel and, where they take longer than 33 ms, with fewer pixels (*pixels*: of the canvas along one of the page) and shadows in every second one; a picture at rest has four times as many. Beside both stand the rate of the same triangles in one colour, without light and
    shadows, which is the renderer's time for triangles alone, and that of an empty scene, in turns, medians. *drag*: the arrow of the hand is dragged by real pointer events while
    that grasp takes steps of 20 ms in real time; time from the event until the page has a state whose command is another one, and until the picture of it is drawn. *steps*: processor time of a step without the
    viewer's own thread, medians of rounds, each in turns with rounds without a page, over which the cost is; the page that reads nothing watches a second session for 60 s, and what two equal sessions differ by without it is taken off. Bytes of *triangles* are those that a frame sends to the renderer, those of
    *drag* the messages of the socket, with figures and forces. The load is that of the machine in the minute before, by other work too.""",
    {"p50": "median", "p99": "99 %", "rate": "frames a second", "ratio": "pixels", "flat_rate": "in one colour", "empty_rate": "of an empty scene", "bytes": "bytes a frame", "cage_bytes": "of cage positions", "surface_bytes": "of surface positions",
     "count": "count", "time_ms": "ms a step", "cost_percent": "cost, %"}, case="what")

TRIANGLES_PER_S, TILES_PER_S = 30.0, 10.0  # frames
STATE_MS = 50.0
COST_PERCENT = 2.0
ROUNDS, STEPS, DRAGS = 7, 100, 200
TIME_LIMIT_S = 600


def run(context: Context, parts: Sequence[str] = ()) -> list[Record]:
    """All parts, or those named. The page must be built (./dev viewer)."""
    records = [reported("load before", os.getloadavg()[0])]
    for name in parts or PARTS:
        context.say(name)
        records += PARTS[name](context)
    return records


def _page(context: Context, part: str, targets: dict[str, Callable[[str, float, str], Record]]) -> list[Record]:
    """The figures of a part of viewer/scripts/measure.mjs, judged where `targets` has their name. Raises RunError."""
    node = shutil.which("node")
    script = REPOSITORY / "viewer" / "scripts" / "measure.mjs"
    if node is None or not (script.parent.parent / "node_modules").is_dir():
        raise RunError("the page is measured with Node.js and the page's packages (./dev setup viewer, then ./dev viewer)")
    done = subprocess.run([node, str(script), "--drags", str(DRAGS), part], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
                          env={**os.environ, "EIPC_CLI": str(context.cli.binary)})
    if done.returncode != 0:
        raise RunError(f"measure.mjs {part} ended with status {done.returncode}: {done.stderr.strip()[-2000:]}")
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    missing = targets.keys() - {figure["name"] for figure in figures}
    if missing:
        raise RunError(f"measure.mjs {part} does not print {', '.join(sorted(missing))}")
    return [targets.get(figure["name"], reported)(figure["name"], figure["value"], figure["unit"]) for figure in figures]


def _frames(context: Context) -> list[Record]:
    return _page(context, "frames", {"triangles.rate": lambda name, value, unit: at_least(name, value, TRIANGLES_PER_S, unit),
                                     "triangles.cage_bytes": lambda name, value, unit: at_most(name, value, 0.01 * 240e3, unit)})


def _tiles(context: Context) -> list[Record]:
    return _page(context, "tiles", {"tiles.rate": lambda name, value, unit: at_least(name, value, TILES_PER_S, unit)})


def _latency(context: Context) -> list[Record]:
    return _page(context, "latency", {"drag to state.p50": lambda name, value, unit: at_most(name, value, STATE_MS, unit)})


def _cost(context: Context) -> list[Record]:
    from measure_viewer import measure_costs  # here: it needs the Python client, which --list does not
    costs = measure_costs(context.server, ROUNDS, STEPS)
    return [reported("steps, no page.time_ms", statistics.median(costs.alone), "ms"),
            reported("steps, 20 that read.time_ms", statistics.median(costs.read), "ms"),
            at_most("steps, 20 that read.cost_percent", costs.read_percent(), COST_PERCENT, "%"),
            reported("steps, one that reads nothing for 60 s.time_ms", statistics.median(costs.unread), "ms"),
            at_most("steps, one that reads nothing for 60 s.cost_percent", costs.unread_percent(), COST_PERCENT, "%")]


PARTS: dict[str, Any] = {"frames": _frames, "tiles": _tiles, "latency": _latency, "cost": _cost}
