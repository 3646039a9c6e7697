"""Coarse spaces of embedded bodies against full space: pads and plates on objects that nothing was chosen by."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensed_objects import CLOSE_S, HOLD_S, LOADS, PLATES, POISSON, STEP_S, Load, objects, scene, turned_to_x
from page import Page, RecordsTable
from scene_runs import SceneRun, run_scenes
from validation import Context, Record, at_most, equal, reported

NAME = "condensed"
DESCRIPTION = "Pads and plates on held-out objects in the plain, the calibrated and the condensed coarse space: force and shape against full space"

VERTICES = 34
SPACES = {"plain": ("PLAIN", False), "calibrated": ("PLAIN", True), "condensed": ("CONDENSED", False)}
NEARLY_INCOMPRESSIBLE = 0.49
LEAST_FORCE_N = 0.5  # in full space: below it the pads slip past the object, and a share says nothing


def _shape(times: np.ndarray, positions: np.ndarray) -> list[list[float]]:
    """The object's surface at the end; pads follow it."""
    return positions[-1].tolist()


def _run(name: str, mesh: Any, load: Load, space: str, calibrated: bool, vertices: int, poisson: float) -> SceneRun:
    label = name.replace(" ", "_")
    text = scene(label, mesh, load, space, vertices, poisson, calibrated)
    return SceneRun(f"{name}, {load.name}, {space}{' calibrated' if calibrated else ''}, nu {poisson:g}, {vertices}", text, STEP_S,
                    CLOSE_S + HOLD_S, (), "shape", _shape)


def _force(report: dict[str, Any]) -> float:
    """Normal force on the object along x: the mean of both sides."""
    pairs = [report["contact_forces"].get(f"object/{side}") for side in ("left", "right")]  # None: the two do not touch
    return float(np.mean([0.0 if pair is None else abs(pair["normal_n"][0]) for pair in pairs]))


def _deflection(end: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Displacement after the rigid motion that fits best."""
    a, b = rest - rest.mean(axis=0), end - end.mean(axis=0)
    u, _, vt = np.linalg.svd(b.T @ a)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return (b @ turn) - a


def _compare(full: dict[str, Any], coarse: dict[str, Any], rest: np.ndarray) -> dict[str, Any]:
    n = len(rest)
    exact, found = (_deflection(np.array(r["measured"])[:n], rest) for r in (full, coarse))
    size = np.sqrt((exact**2).sum(axis=1).mean())
    force = _force(full)
    return {"force": _force(coarse) / force - 1 if force >= LEAST_FORCE_N else None,
            "deflection": float(np.sqrt((found**2).sum(axis=1).mean()) / size - 1),
            "shape": float(np.sqrt(((found - exact)**2).sum(axis=1).mean()) / size)}


def _surface_of(mesh: Any) -> np.ndarray:
    """Vertices of the boundary, in the order in which the program stacks them: ascending."""
    vertices, tets = mesh
    faces = np.sort(np.concatenate([tets[:, list(f)] for f in ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))]), axis=1)
    unique, times = np.unique(faces, axis=0, return_counts=True)
    return vertices[np.unique(unique[times == 1])]


def run(context: Context) -> list[Record]:
    bodies = objects(context.data)
    cases = [(name, load, POISSON) for name in bodies for load in LOADS] + [(name, PLATES, POISSON) for name in bodies]
    cases += [(name, LOADS[0], NEARLY_INCOMPRESSIBLE) for name in bodies]
    spaces = {"full": ("FULL", False), **SPACES}
    runs = [_run(name, bodies[name], load, space, calibrated, VERTICES, nu) for name, load, nu in cases
            for space, calibrated in spaces.values()]
    results = run_scenes(context, runs)
    found: dict[tuple[str, str, float], dict[str, Any]] = {}
    for k, (name, load, nu) in enumerate(cases):
        made = dict(zip(spaces, results[k * len(spaces):(k + 1) * len(spaces)]))
        rest = _surface_of(turned_to_x(bodies[name], load.axis))
        found[name, load.name, nu] = {space: {**_compare(made["full"], made[space], rest), "report": made[space]} for space in SPACES}
        found[name, load.name, nu]["full"] = {"force_n": _force(made["full"]), "report": made["full"]}
    return _report(context, found)


def _report(context: Context, found: dict[tuple[str, str, float], dict[str, Any]]) -> list[Record]:
    page = Page("Coarse spaces against full space", "./dev validate condensed")
    page.text(f"""Objects of {POISSON:g} Poisson's ratio and stable neo-Hookean material, 0.1 m long, with cages of at most {VERTICES} vertices, pressed by two soft
        pads or rigid plates that close in {CLOSE_S:g} s and hold for {HOLD_S:g} s (`tests/validate/condensed_objects.py`). *Force*: of the
        pads at the end, against that of the object in its own tetrahedra (*full*); empty where that is below {LEAST_FORCE_N:g} N, because the
        pads slip past the object. *Deflection*: of the surface after the rigid
        motion that fits best, root mean square; *shape*: of the difference of the two displacements. *Inverted*: most in one state.""")
    rows = []
    for (name, load, nu), row in found.items():
        cells = ["" if row[s]["force"] is None else f"{100 * row[s]['force']:+.0f}" for s in SPACES]
        cells += [f"{100 * row[s]['deflection']:+.0f}, {100 * row[s]['shape']:.0f}" for s in SPACES]
        inverted = [row[s]["report"]["inverted_elements"]["most"] for s in SPACES]
        rows.append([name, load if nu < 0.48 else f"{load}, ν = {nu:g}", f"{row['full']['force_n']:.2f}", *cells, ", ".join(map(str, inverted))])
    page.table(["object", "load", "full, N", *[f"force, {s}, %" for s in SPACES], *[f"deflection, shape, {s}, %" for s in SPACES],
                "inverted"], rows)
    records = _records(found)
    page.records(RecordsTable("", "", {}), records)
    page.write(context.figures / "condensed.md")
    return records


def _records(found: dict[tuple[str, str, float], dict[str, Any]]) -> list[Record]:
    """The targets are of soft pads at POISSON: a median of 5 % and 10 % at worst, for force and deflection."""
    soft = [row for (_, load, nu), row in found.items() if load != PLATES.name and nu < 0.48 and row["plain"]["force"] is not None]
    records = []
    for space in SPACES:
        for figure in ("force", "deflection"):
            errors = [abs(row[space][figure]) for row in soft]
            if space == "condensed":
                records += [at_most(f"condensed.{figure}_median", float(np.median(errors)), 0.05),
                            at_most(f"condensed.{figure}_worst", max(errors), 0.10)]
            else:
                records += [reported(f"{space}.{figure}_median", float(np.median(errors))), reported(f"{space}.{figure}_worst", max(errors))]
        records.append(reported(f"{space}.newton_iterations", float(np.mean([row[space]["report"]["newton_iterations"]["mean"] for row in soft]))))
    better = sum(abs(row["condensed"]["force"]) < abs(row["plain"]["force"]) for row in soft)
    return [*records, equal("condensed.loads_where_it_is_closer_than_plain", better, len(soft))]
