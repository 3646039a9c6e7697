"""Every household mesh from file to being lifted by the bubble gripper, with one command: `eipc grasp FILE`."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from page import Page
from study_cages import EXTENSIONS, cache_folder
from validation import Context, Record, equal, reported

NAME = "household"
DESCRIPTION = "eipc grasp on every household mesh, audited: lifted, or why not; what is too large again at the scale it names"

LIMIT_S = 1200
SCALE = re.compile(r"too (?:large|small) to grasp.*try --gripper-scale ([0-9.]+)")


@dataclass(frozen=True)
class Outcome:
    mesh: Path
    scale: str  # as given to --gripper-scale
    status: int
    message: str
    report: Optional[dict[str, Any]]


def run(context: Context) -> list[Record]:
    if context.data is None:
        context.say("no real meshes (EIPC_DATA): nothing to do")
        return [reported("household.meshes", 0)]
    meshes = sorted(path for path in (context.data / "household").rglob("*") if path.suffix.lower() in EXTENSIONS)
    tries = context.each([lambda mesh=mesh: outcomes_of(context, mesh) for mesh in meshes], [mesh.name for mesh in meshes])
    write_page(context, [one for of_mesh in tries for one in of_mesh])
    last = [of_mesh[-1] for of_mesh in tries]
    lifted = [one for one in last if one.report is not None and one.report["grasp"]["lifted"]]
    return [
        reported("meshes", len(meshes)),
        equal("lifted", len(lifted), len(meshes)),
        equal("audits_failed", sum(one.report["audit"]["intersections"] > 0 for one in last if one.report is not None), 0),
        # A refusal is one line with a status of its own.
        equal("refusals_without_a_reason", sum(one.report is None and (one.status != 2 or not one.message or "\n" in one.message)
                                               for of_mesh in tries for one in of_mesh), 0),
    ]


def outcomes_of(context: Context, mesh: Path) -> list[Outcome]:
    """At the gripper's own size, and where that is refused for the object's size, at the size that the refusal names."""
    first = grasp(context, mesh, "1")
    named = SCALE.search(first.message) if first.report is None else None
    return [first] if named is None else [first, grasp(context, mesh, named[1])]


def grasp(context: Context, mesh: Path, scale: str) -> Outcome:
    out = context.scratch / f"grasp-{mesh.parent.name}-{mesh.name}-{scale}.json"
    done = subprocess.run([str(context.cli.binary), "grasp", str(mesh), "--gripper-scale", scale, "--audit", "--report", str(out),
                           "--cache", cache_folder(context)], capture_output=True, text=True, timeout=LIMIT_S)
    lines = [line for line in done.stderr.strip().splitlines() if line]
    report = json.loads(out.read_text()) if out.exists() else None
    return Outcome(mesh, scale, done.returncode, "" if report else "\n".join(lines), report)


def write_page(context: Context, outcomes: list[Outcome]) -> None:
    page = Page("Household objects: from file to being lifted", "./dev validate household")
    page.text("""`eipc grasp FILE --audit` with its defaults (800 kg/m³, E = 1 MPa, ν = 0.4, friction 0.8, at most 60 cage vertices and 2,000
        triangles), coordinates taken as metres; an object that is too large, once more at the scale that the refusal names. Fingers
        push with 12 N times the square of the scale. *Rise*: of the object, over that of the fingers. *Slip*: how far it slid on a pad while
        it was lifted and held, the larger of both. *Fallbacks*: solves whose friction was lagged because implicit friction did not converge.""")
    rows = []
    for one in outcomes:
        name = str(one.mesh.relative_to(context.data))
        if one.report is None:
            rows.append([name, one.scale, *[None] * 5, "no: " + re.sub(r"^eipc: (\S+: )?", "", one.message), *[None] * 3])
            continue
        report, made = one.report, one.report["grasp"]
        rows.append([name, one.scale, f"{made['width_m']:.3f}", f"{report['holding']['weight_n'] / 9.81:.3f}",
                     report["prepared"]["cage"]["vertices"], f"{made['rise_m'] / made['lift_m']:.2f}",
                     f"{1e3 * max(finger['slip_m'] for finger in made['fingers'].values()):.2f}",
                     "yes" if made["lifted"] else f"no: {made['reason']}", f"{report['min_distance_m']:.1e}", report["steps_not_converged"],
                     report["friction"]["fallbacks"]])
    page.table(["mesh", "gripper scale", "width, m", "mass, kg", "cage vertices", "rise", "slip, mm", "lifted", "least distance, m", "steps not converged", "fallbacks"], rows)
    page.write(context.figures / "household.md")
