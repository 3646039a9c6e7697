"""Coarse spaces of embedded bodies against full space: pads and plates on objects that nothing was chosen by."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensed_measures import contact_area, deflection, mean_square_root, vertex_areas
from condensed_objects import CLOSE_S, DHAT_M, HOLD_S, LOADS, PLATES, POISSON, STEP_S, Load, objects, pad_mesh, scene, turned_to_x
from page import Page, RecordsTable
from refined_meshes import boundary
from scene_runs import SceneRun, run_scenes
from solids import Mesh
from validation import Context, Record, at_most, equal, reported

NAME = "condensed"
DESCRIPTION = "Pads and plates on held-out objects in the plain, the calibrated and the condensed coarse space: force and shape against full space"

VERTICES, MANY = 34, 200
MANY_SPACES = ("plain", "condensed")
SPACES = {"plain": ("PLAIN", False), "calibrated": ("PLAIN", True), "condensed": ("CONDENSED", False)}
NEARLY_INCOMPRESSIBLE = 0.49
Found = dict[tuple[str, str, float], dict[Any, Any]]  # of an object, a load and a Poisson's ratio: figures in full space, and by space and vertices
LEAST_FORCE_N = 0.5  # in full space: below it the pads slip past the object, and a share says nothing


def _shape(times: np.ndarray, positions: np.ndarray) -> list[list[float]]:
    """The object's surface at the end; pads follow it."""
    return positions[-1].tolist()


def _run(name: str, mesh: Mesh, load: Load, space: str, vertices: int, poisson: float) -> SceneRun:
    coarse_space, calibrated = SPACES.get(space, ("FULL", False))
    text = scene(name.replace(" ", "_"), mesh, load, coarse_space, vertices, poisson, calibrated)
    return SceneRun(f"{name}, {load.name}, {space}, nu {poisson:g}, {vertices}", text, STEP_S, CLOSE_S + HOLD_S, (), "shape", _shape)


def _force(report: dict[str, Any]) -> float:
    """Normal force on the object along x: the mean of both sides."""
    pairs = [report["contact_forces"].get(f"object/{side}") for side in ("left", "right")]  # None: the two do not touch
    return float(np.mean([0.0 if pair is None else abs(pair["normal_n"][0]) for pair in pairs]))


class _Shapes:
    """The surfaces of a load's runs at their ends."""

    def __init__(self, mesh: Mesh, load: Load) -> None:
        self.rest, self._triangles = boundary(turned_to_x(mesh, load.axis))
        self._weights = vertex_areas(self.rest, self._triangles)
        pad = pad_mesh(np.ptp(turned_to_x(mesh, load.axis)[0], axis=0), load)
        self._pad = len(boundary(pad)[0]) if load.pad else len(pad[0]), boundary(pad)[1] if load.pad else pad[1]

    def deflection(self, report: dict[str, Any]) -> np.ndarray:
        return deflection(np.array(report["measured"])[:len(self.rest)], self.rest, self._weights)

    def size(self, displacement: np.ndarray) -> float:
        return mean_square_root(displacement, self._weights)

    def contact_area(self, report: dict[str, Any]) -> float:
        """Of the object with both pads, m²: of what is nearer to them than they begin to press."""
        n, (vertices, cells), all_bodies = len(self.rest), self._pad, np.array(report["measured"])
        pads = [(all_bodies[n + k * vertices:n + (k + 1) * vertices], cells) for k in range(2)]
        return contact_area((all_bodies[:n], self._triangles), pads, DHAT_M)


def _compare(shapes: _Shapes, full: dict[str, Any], coarse: dict[str, Any]) -> dict[str, Any]:
    exact, found = shapes.deflection(full), shapes.deflection(coarse)
    force = _force(full)
    return {"force": _force(coarse) / force - 1 if force >= LEAST_FORCE_N else None, "deflection": shapes.size(found) / shapes.size(exact) - 1,
            "shape": shapes.size(found - exact) / shapes.size(exact),
            "area": shapes.contact_area(coarse) / shapes.contact_area(full) - 1 if force >= LEAST_FORCE_N else None}


def run(context: Context) -> list[Record]:
    bodies = objects(context.data)
    soft = [(name, load, POISSON) for name in bodies for load in LOADS]
    cases = soft + [(name, PLATES, POISSON) for name in bodies] + [(name, LOADS[0], NEARLY_INCOMPRESSIBLE) for name in bodies]
    asked = [(case, space, VERTICES) for case in cases for space in ("full", *SPACES)] + [(case, space, MANY) for case in soft for space in MANY_SPACES]
    made = run_scenes(context, [_run(name, bodies[name], load, space, vertices, nu) for (name, load, nu), space, vertices in asked])
    results = {key: result for key, result in zip(asked, made)}
    found: Found = {}
    for case in cases:
        name, load, nu = case
        shapes, full = _Shapes(bodies[name], load), results[case, "full", VERTICES]
        row = {(space, vertices): {**_compare(shapes, full, result), "report": result}
               for (other, space, vertices), result in results.items() if other == case and space != "full"}
        found[name, load.name, nu] = {"full_n": _force(full), "full_m2": shapes.contact_area(full), **row}
    return _report(context, found)


def _report(context: Context, found: Found) -> list[Record]:
    page = Page("Coarse spaces against full space", "./dev validate condensed")
    page.text(f"""Objects of {POISSON:g} Poisson's ratio and stable neo-Hookean material, 0.1 m long, with cages of at most {VERTICES} vertices, pressed by two soft
        pads or rigid plates that close in {CLOSE_S:g} s and hold for {HOLD_S:g} s (`tests/validate/condensed_objects.py`). *Force*: of the
        pads at the end, against that of the object in its own tetrahedra (*full*); empty where that is below {LEAST_FORCE_N:g} N, because the
        pads slip past the object. *Area*: of the object's surface that is nearer to the pads than d̂ = 1 mm, from where they press; a pad has 6 × 6 cells
        whatever its size, of up to 27 mm, and an object in its own tetrahedra fits such facets where one in a cage lies on their corners. *Deflection*: of the surface after the rigid
        motion that fits best, root mean square by area; *shape*: of the difference of the two displacements. *Inverted*: most in one state.""")
    rows = []
    for (name, load, nu), row in found.items():
        here = [row[space, VERTICES] for space in SPACES]
        cells = [f"{_percent(one['force'])}, {_percent(one['area'])}" if one["force"] is not None else "" for one in here]
        cells += [f"{_percent(one['deflection'])}, {100 * one['shape']:.0f}" for one in here]
        inverted = [one["report"]["inverted_elements"]["most"] for one in here]
        rows.append([name, load if nu < 0.48 else f"{load}, ν = {nu:g}", f"{row['full_n']:.2f}", f"{1e4 * row['full_m2']:.1f}", *cells, ", ".join(map(str, inverted))])
    page.table(["object", "load", "full, N", "full, cm²", *[f"force, area, {s}, %" for s in SPACES], *[f"deflection, shape, {s}, %" for s in SPACES],
                "inverted"], rows)
    page.section(f"At most {MANY} vertices")
    page.table(["object", "load", *[f"force, area, {s}, %" for s in MANY_SPACES], *[f"deflection, shape, {s}, %" for s in MANY_SPACES]],
               [[name, load, *(f"{_percent(row[s, MANY]['force'])}, {_percent(row[s, MANY]['area'])}" for s in MANY_SPACES),
                 *(f"{_percent(row[s, MANY]['deflection'])}, {100 * row[s, MANY]['shape']:.0f}" for s in MANY_SPACES)]
                for (name, load, _), row in _soft(found).items()])
    records = _records(found)
    page.section("What was asked")
    page.records(RecordsTable("", "", {}), records)
    page.write(context.figures / "condensed.md")
    return records


def _percent(share: float) -> str:
    return f"{100 * share:+.0f}"


def _soft(found: Found) -> Found:
    """The loads that the targets are of: soft pads at POISSON that do not slip past the object."""
    return {key: row for key, row in found.items() if key[1] != PLATES.name and key[2] < 0.48 and row["full_n"] >= LEAST_FORCE_N}


def _records(found: Found) -> list[Record]:
    """The targets: of force and deflection a median of 5 % and 10 % at worst, of the area 10 %; with MANY vertices of the force 2 % in the median."""
    soft = list(_soft(found).values())
    records = []
    for space in SPACES:
        for figure in ("force", "deflection", "area"):
            errors = [abs(row[space, VERTICES][figure]) for row in soft]
            median, worst = (f"{space}.{figure}_median", float(np.median(errors))), (f"{space}.{figure}_worst", max(errors))
            if space != "condensed":
                records += [reported(*median), reported(*worst)]
            else:
                records += [reported(*median) if figure == "area" else at_most(*median, 0.05), at_most(*worst, 0.10)]
        records.append(reported(f"{space}.newton_iterations", float(np.mean([row[space, VERTICES]["report"]["newton_iterations"]["mean"] for row in soft]))))
    better = sum(abs(row["condensed", VERTICES]["force"]) < abs(row["plain", VERTICES]["force"]) for row in soft)
    records.append(equal("condensed.loads_where_it_is_closer_than_plain", better, len(soft)))
    for space in MANY_SPACES:
        for figure in ("force", "deflection", "area"):
            errors = [abs(row[space, MANY][figure]) for row in soft]
            median = f"{space}.{MANY}.{figure}_median", float(np.median(errors))
            records += [at_most(*median, 0.02) if space == "condensed" and figure != "area" else reported(*median),
                        reported(f"{space}.{MANY}.{figure}_worst", max(errors))]
    return records
