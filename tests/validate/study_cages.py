"""Every mesh in a directory of dirty and household meshes, at several budgets: a valid, enclosing cage, or why not."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from page import Page
from validation import Context, Record, at_least, at_most, equal, reported

NAME = "cages"
DESCRIPTION = "eipc cage on every dirty and household mesh at 20, 60 and 200 vertices: enclosure, quality, distance, time"

BUDGETS = (20, 60, 200)
GOOD_DEG = 18  # which no inward move of the shaping may undercut (sim/meshing/cage_shaper.cc)
LIMIT_S = 300
FOLDERS = ("dirty_meshes", "household")
EXTENSIONS = {".obj", ".off", ".ply", ".stl", ".vtk", ".vtu", ".msh"}


@dataclass(frozen=True)
class Outcome:
    mesh: Path
    budget: int
    status: int
    seconds: float
    message: str
    report: Optional[dict[str, Any]]


def run(context: Context) -> list[Record]:
    if context.data is None:
        context.say("no real meshes (EIPC_DATA): nothing to do")
        return [reported("cages.meshes", 0)]
    meshes = sorted(path for folder in FOLDERS for path in (context.data / folder).rglob("*") if path.suffix.lower() in EXTENSIONS)
    cases = [(mesh, budget) for mesh in meshes for budget in BUDGETS]
    outcomes = context.each([lambda case=case: cage(context, *case) for case in cases],
                            [f"{mesh.name} at {budget} vertices" for mesh, budget in cases])
    for one in outcomes:
        context.say(line(one))
    write_page(context, outcomes)
    return records(outcomes)


def cage(context: Context, mesh: Path, budget: int) -> Outcome:
    out = context.scratch / f"cage-{mesh.parent.name}-{mesh.name}-{budget}.json"
    start = time.monotonic()
    done = subprocess.run([str(context.cli.binary), "cage", str(mesh), "--vertices", str(budget), "--report", str(out), "--timeout",
                           str(LIMIT_S), "--cache", cache_folder(context)], capture_output=True, text=True,
                          timeout=LIMIT_S + 60)
    seconds = time.monotonic() - start
    report = json.loads(out.read_text()) if out.exists() else None
    return Outcome(mesh, budget, done.returncode, seconds, done.stderr.strip(), report)


def cache_folder(context: Context) -> str:
    """EIPC_CACHE, so that a study that was cut short goes on where it was; else for this call only."""
    return os.environ.get("EIPC_CACHE") or str(context.scratch / "cages")


def line(outcome: Outcome) -> str:
    if outcome.report is None:
        return f"{outcome.mesh.name} {outcome.budget}: {outcome.message}"
    made = outcome.report["cage"]
    return f"{outcome.mesh.name} {outcome.budget}: {made['vertices']} vertices, {made['min_dihedral_deg']:.1f} deg, {outcome.seconds:.1f} s"


def records(outcomes: list[Outcome]) -> list[Record]:
    made = [one.report for one in outcomes if one.report is not None]
    refused = [one for one in outcomes if one.report is None]
    used = [report["cage"]["vertices"] / report["cage"]["budget"] for report in made]
    return [
        reported("cages.made", len(made)),
        reported("cages.refused", len(refused)),
        # A refusal is one line that says why, with a status of its own; a crash or a hang would be neither.
        equal("cages.refusals_without_a_reason", sum(not 1 <= one.status <= 99 or one.message.count("\n") > 0 or not one.message
                                                     for one in refused), 0),
        equal("cages.crashes_or_timeouts", sum(one.status in (4, 5, 6) for one in refused), 0),
        equal("cages.not_enclosed", sum(not report["cage"]["enclosed"] for report in made), 0),
        at_least("cages.min_dihedral", min(report["cage"]["min_dihedral_deg"] for report in made), GOOD_DEG, "deg"),
        at_most("cages.over_budget", max(used), 1),
        reported("cages.least_budget_used", min(used)),
        at_most("cages.mass_properties_error", max(report["mass_properties_error"] for report in made), 1e-6),
        at_most("cages.longest", max(one.seconds for one in outcomes), LIMIT_S, "s"),
    ]


def write_page(context: Context, outcomes: list[Outcome]) -> None:
    page = Page("Cages of dirty and household meshes", "./dev validate cages")
    page.text("""`eipc cage FILE --vertices N` on every mesh of the data folder, coordinates taken as metres. Distances are between the collision
        surface and the original, over the diagonal of the bounding box; every cage encloses its surface, checked exactly. *Gap tets*: in
        which parts of the object lie that are not joined. Seconds are wall time.""")
    rows = []
    for one in outcomes:
        name = str(one.mesh.relative_to(context.data))
        if one.report is None:
            reason = one.message.replace(f"{context.data}/", "")
            rows.append([name, one.budget, *[None] * 7, f"{one.seconds:.1f}", f"status {one.status}: {reason}"])
            continue
        made, far = one.report["cage"], one.report["distance_m"]
        diagonal = sum(extent**2 for extent in one.report["input"]["extent_m"])**0.5
        rows.append([name, one.budget, one.report["repair"]["method"], made["vertices"], made["tets"], f"{made['min_dihedral_deg']:.1f}",
                     f"{made['volume_ratio']:.2f}", made["shared_gap_tets"], f"{far['mean'] / diagonal:.1e}, {far['max'] / diagonal:.1e}",
                     f"{one.report['meshing_seconds']:.1f}", made["note"]])
    page.table(["mesh", "N", "repair", "vertices", "tets", "least dihedral, deg", "cage over solid volume", "gap tets",
                "distance mean, most", "s", "note"], rows)
    page.write(context.figures / "cages.md")
