"""Coarse spaces of embedded bodies against full space: pads and plates on objects that nothing was chosen by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

import numpy as np

from condensed_measures import contact_areas, deflection, mean_square_root, vertex_areas
from condensed_objects import (CLOSE_S, DHAT_M, HOLD_S, LOADS, PAD_CELL_M, PLATES, POISSON, STEP_S, Load, objects, pad_mesh, scene, turned_to_x)
from page import Page, RecordsTable
from refined_meshes import boundary
from scene_runs import SceneRun, run_scenes
from solids import Mesh
from validation import Context, Record, at_most, equal, reported

NAME = "condensed"
DESCRIPTION = "Pads and plates on held-out objects in the plain, the calibrated and the condensed coarse space: force and shape against full space"

VERTICES, FEW, MANY = 34, 20, 200
PAIR = ("plain", "condensed")
FEW_LOADS = (LOADS[1],)  # of what is reported beside: runs under small pads take seconds
MANY_LOADS = (LOADS[1],)  # a run with MANY vertices under wide pads takes minutes
SPACES = {"plain": ("PLAIN", False), "calibrated": ("PLAIN", True), "condensed": ("CONDENSED", False)}
NEARLY_INCOMPRESSIBLE = 0.49
LEAST_FORCE_N = 0.5  # in full space: below it the pads slip past the object, and a share says nothing
# Objects and loads that run again on pads whose faces are cut once more, each side of a cell into two; by how much that may change the force.
CUT_ONCE_MORE = (("finger", LOADS[0]), ("lemon", LOADS[3]))
CUT_SPACES = ("full", "condensed")
PAD_CHANGE = 0.02
NEAR = 2.0  # how many d̂ from the pads counts as near: where gaps are about d̂, the area within d̂ itself depends on the mesh of the pads
FIGURES = ("force", "deflection", "area", "near")  # of Errors, that are judged


@dataclass(frozen=True)
class Case:
    """An object under a load. cut: of pad_mesh."""

    name: str
    load: Load
    poisson: float = POISSON
    cut: int = 1

    @property
    def words(self) -> str:
        return self.load.name if self.poisson < 0.48 else f"{self.load.name}, ν = {self.poisson:g}"


@dataclass(frozen=True)
class Figures:
    """Of one run: the force on the object, the displacement of its surface in the mean, and its areas within d̂ of the pads and within NEAR d̂."""

    force_n: float
    displacement: np.ndarray
    area_m2: float
    near_m2: float
    report: dict[str, Any]


@dataclass(frozen=True)
class Errors:
    """Of a coarse space, as shares of what full space has; force and areas: None where the pads slip past the object."""

    force: Optional[float]
    deflection: float
    shape: float
    area: Optional[float]
    near: Optional[float]
    report: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A case: its figures in full space, and the errors of each coarse space."""

    full: Figures
    errors: dict[str, Errors]


Found = dict[Case, Row]


def _shape(times: np.ndarray, positions: np.ndarray) -> list[list[float]]:
    """The object's surface at the end; pads follow it."""
    return positions[-1].tolist()


def _run(mesh: Mesh, case: Case, space: str, vertices: int) -> SceneRun:
    coarse_space, calibrated = SPACES.get(space, ("FULL", False))
    text = scene(case.name.replace(" ", "_"), mesh, case.load, coarse_space, vertices, case.poisson, calibrated, case.cut)
    name = f"{case.name}, {case.load.name}, {space}, nu {case.poisson:g}, {vertices}, pads {case.cut}"
    return SceneRun(name, text, STEP_S, CLOSE_S + HOLD_S, (), "shape", _shape)


def _force(report: dict[str, Any]) -> float:
    """Normal force on the object along x: the mean of both sides."""
    pairs = [report["contact_forces"].get(f"object/{side}") for side in ("left", "right")]  # None: the two do not touch
    return float(np.mean([0.0 if pair is None else abs(pair["normal_n"][0]) for pair in pairs]))


class _Shapes:
    """The surfaces of a case's runs at their ends."""

    def __init__(self, mesh: Mesh, case: Case) -> None:
        turned = turned_to_x(mesh, case.load.axis)
        self.rest, self._triangles = boundary(turned)
        self._weights = vertex_areas(self.rest, self._triangles)
        pad = pad_mesh(np.ptp(turned[0], axis=0), case.load, case.cut)
        self._pad = (len(boundary(pad)[0]), boundary(pad)[1]) if case.load.pad else (len(pad[0]), pad[1])

    def figures(self, report: dict[str, Any]) -> Figures:
        n, (vertices, cells), all_bodies = len(self.rest), self._pad, np.array(report["measured"])
        pads = [(all_bodies[n + k * vertices:n + (k + 1) * vertices], cells) for k in range(2)]
        areas = contact_areas((all_bodies[:n], self._triangles), pads, (DHAT_M, NEAR * DHAT_M))
        return Figures(_force(report), deflection(all_bodies[:n], self.rest, self._weights), *areas, report)

    def errors(self, full: Figures, coarse: Figures) -> Errors:
        size = mean_square_root(full.displacement, self._weights)
        of_size = mean_square_root(coarse.displacement, self._weights) / size - 1
        shape = mean_square_root(coarse.displacement - full.displacement, self._weights) / size
        if full.force_n < LEAST_FORCE_N:
            return Errors(None, of_size, shape, None, None, coarse.report)
        force, area, near = (getattr(coarse, of) / getattr(full, of) - 1 for of in ("force_n", "area_m2", "near_m2"))
        return Errors(force, of_size, shape, area, near, coarse.report)


class _Measured:
    """Figures of cases in full space and in coarse ones, each run once."""

    def __init__(self, context: Context) -> None:
        self._context, self._bodies = context, objects(context.data)
        self._shapes: dict[Case, _Shapes] = {}
        self._figures: dict[tuple[Case, str, int], Figures] = {}

    def cases(self, loads: Sequence[Load], poisson: float = POISSON) -> list[Case]:
        return [Case(name, load, poisson) for name in self._bodies for load in loads]

    def has(self, name: str) -> bool:
        return name in self._bodies

    def figures(self, cases: Sequence[Case], space: str, vertices: int = VERTICES) -> list[Figures]:
        asked = [case for case in cases if (case, space, vertices) not in self._figures]
        made = run_scenes(self._context, [_run(self._bodies[case.name], case, space, vertices) for case in asked])
        for case, report in zip(asked, made):
            self._figures[case, space, vertices] = self._shapes_of(case).figures(report)
        return [self._figures[case, space, vertices] for case in cases]

    def rows(self, cases: Sequence[Case], spaces: Sequence[str], vertices: int = VERTICES) -> Found:
        full = self.figures(cases, "full")
        coarse = {space: self.figures(cases, space, vertices) for space in reversed(spaces)}
        return {case: Row(here, {space: self._shapes_of(case).errors(here, coarse[space][k]) for space in spaces})
                for k, (case, here) in enumerate(zip(cases, full))}

    def _shapes_of(self, case: Case) -> _Shapes:
        if case not in self._shapes:
            self._shapes[case] = _Shapes(self._bodies[case.name], case)
        return self._shapes[case]


def run(context: Context, parts: Sequence[str] = ()) -> list[Record]:
    page = Page.of_parts("Coarse spaces against full space", NAME, parts)
    page.text(f"""Objects of {POISSON:g} Poisson's ratio and stable neo-Hookean material, 0.1 m long, pressed by two soft pads or rigid plates
        that close in {CLOSE_S:g} s and hold for {HOLD_S:g} s (`tests/validate/condensed_objects.py`). *Force*: of the pads at the end, against that
        of the object in its own tetrahedra (*full*); empty where that is below {LEAST_FORCE_N:g} N, because the pads slip past the object. *Area*: of
        the object's surface that is nearer to the pads than d̂ = 1 mm, from where they press; *near*: than {NEAR:g} d̂. *Deflection*: of the surface
        after the rigid motion that fits best, root mean square by area; *shape*: of the difference of the two displacements. *Inverted*: most in
        one state.""")
    measured, records = _Measured(context), []
    for name in parts or PARTS:
        records += PARTS[name](page, measured)
    page.section("What was asked")
    page.records(RecordsTable("", "", {}), records)
    page.write_parts(context.figures, NAME, parts)
    return records


def _soft(page: Page, measured: _Measured) -> list[Record]:
    """The condensed space under soft pads: what the targets of few vertices are of."""
    page.section(f"Soft pads, at most {VERTICES} vertices")
    found = measured.rows(measured.cases(LOADS), ("condensed",))
    _show(page, found, ("condensed",))
    found = _judged(found)
    _say_where(page, found)
    records = []
    for figure in FIGURES:
        median, worst = (f"condensed.{figure}_{of}" for of in ("median", "worst"))
        value = _median(found, "condensed", figure)
        records += [reported(median, value) if figure in ("area", "near") else at_most(median, value, 0.05),
                    at_most(worst, max(_sizes(found, "condensed", figure)), 0.10)]
    return records


def _plain(page: Page, measured: _Measured) -> list[Record]:
    """Whether the condensed space is closer to full space than the plain one."""
    page.section(f"The plain space beside it, at most {VERTICES} vertices")
    found = measured.rows(measured.cases(LOADS), PAIR)
    _show(page, found, PAIR)
    found = _judged(found)
    records = []
    for figure in FIGURES:
        records += [reported(f"plain.{figure}_median", _median(found, "plain", figure)), reported(f"plain.{figure}_worst", max(_sizes(found, "plain", figure)))]
    for space in PAIR:
        iterations = [row.errors[space].report["newton_iterations"]["mean"] for row in found.values()]
        records.append(reported(f"{space}.newton_iterations", float(np.mean(iterations))))
    better = sum(abs(row.errors["condensed"].force or 0) < abs(row.errors["plain"].force or 0) for row in found.values())
    return [*records, equal("condensed.loads_where_it_is_closer_than_plain", better, len(found))]


def _pads(page: Page, measured: _Measured) -> list[Record]:
    """How much finer pads change the force in each space, and with it the error of the condensed one."""
    page.section("Meshes of the pads")
    page.text(f"""The cells of a pad's face have sides of {1000 * PAD_CELL_M:g} mm at most. On pads whose cells are cut into four along their faces
        (*finer*; *error*: of the condensed space's force against that of full space on the same pads):""")
    rows, records = [], []
    for name, load in CUT_ONCE_MORE:
        if not measured.has(name):
            continue
        made = {space: measured.figures([Case(name, load), Case(name, load, cut=2)], space) for space in CUT_SPACES}
        errors = [condensed.force_n / full.force_n - 1 for full, condensed in zip(*(made[space] for space in CUT_SPACES))]
        for space, (here, finer) in made.items():
            change = finer.force_n / here.force_n - 1
            areas = [f"{1e4 * of:.1f}" for of in (here.area_m2, finer.area_m2, here.near_m2, finer.near_m2)]
            rows.append([name, load.name, space, f"{here.force_n:.2f}", f"{finer.force_n:.2f}", f"{100 * change:+.1f}", *areas,
                         "" if space == "full" else f"{100 * errors[0]:+.1f}, {100 * errors[1]:+.1f}"])
            records.append(at_most(f"pads_cut_once_more.{name}, {load.name}, {space}.force_change", abs(change), PAD_CHANGE))
        records.append(reported(f"pads_cut_once_more.{name}, {load.name}.error_change", abs(errors[1] - errors[0])))
    page.table(["object", "load", "space", "force, N", "finer, N", "change, %", "area, cm²", "finer, cm²", "near, cm²", "finer, cm²", "error, finer, %"], rows)
    return records


def _calibrated(page: Page, measured: _Measured) -> list[Record]:
    page.section(f"The calibrated space, at most {VERTICES} vertices")
    return _only_shown(page, measured, measured.cases(FEW_LOADS), tuple(SPACES))


def _plates(page: Page, measured: _Measured) -> list[Record]:
    page.section(f"Rigid plates, at most {VERTICES} vertices")
    return _only_shown(page, measured, measured.cases([PLATES]))


def _incompressible(page: Page, measured: _Measured) -> list[Record]:
    page.section(f"Nearly incompressible, at most {VERTICES} vertices")
    return _only_shown(page, measured, measured.cases(FEW_LOADS, NEARLY_INCOMPRESSIBLE))


def _few(page: Page, measured: _Measured) -> list[Record]:
    page.section(f"At most {FEW} vertices")
    return _only_shown(page, measured, measured.cases(FEW_LOADS), PAIR, FEW)


def _only_shown(page: Page, measured: _Measured, cases: Sequence[Case], spaces: Sequence[str] = PAIR, vertices: int = VERTICES) -> list[Record]:
    found = measured.rows(cases, spaces, vertices)
    _show(page, found, spaces)
    words = cases[0].words if vertices == VERTICES else f"{vertices} vertices"
    return [reported(f"{space}.{words}.{figure}_median", _median(found, space, figure)) for space in spaces for figure in ("force", "deflection")]


def _many(page: Page, measured: _Measured) -> list[Record]:
    """The targets of many vertices."""
    found = measured.rows(measured.cases(MANY_LOADS), ("condensed",), MANY)
    page.section(f"Soft pads, at most {MANY} vertices")
    _show(page, found, ("condensed",))
    found = _judged(found)
    _say_where(page, found)
    records = []
    for figure in FIGURES:
        median = f"condensed.{MANY}.{figure}_median", _median(found, "condensed", figure)
        records += [at_most(*median, 0.02) if figure in ("force", "deflection") else reported(*median),
                    reported(f"condensed.{MANY}.{figure}_worst", max(_sizes(found, "condensed", figure)))]
    return records


PARTS: dict[str, Callable[[Page, _Measured], list[Record]]] = {
    "soft": _soft, "pads": _pads, "many": _many, "plain": _plain, "calibrated": _calibrated, "plates": _plates, "incompressible": _incompressible,
    "few": _few}


def _percent(share: float) -> str:
    return f"{100 * share:+.0f}"


def _pressed(errors: Errors) -> str:
    return ", ".join(_percent(share) for share in (errors.force, errors.area, errors.near) if share is not None)


def _moved(errors: Errors) -> str:
    return f"{_percent(errors.deflection)}, {100 * errors.shape:.0f}"


def _show(page: Page, found: Found, spaces: Sequence[str]) -> None:
    rows = []
    for case, row in found.items():
        here = [row.errors[space] for space in spaces]
        inverted = ", ".join(str(one.report["inverted_elements"]["most"]) for one in here)
        rows.append([case.name, case.words, f"{row.full.force_n:.2f}", f"{1e4 * row.full.near_m2:.1f}", *map(_pressed, here), *map(_moved, here),
                     inverted])
    page.table(["object", "load", "full, N", "near, full, cm²", *[f"force, area, near, {space}, %" for space in spaces],
                *[f"deflection, shape, {space}, %" for space in spaces], "inverted"], rows)


def _say_where(page: Page, judged: Found) -> None:
    """Medians of the condensed space by load and by object."""
    page.text("Of the condensed space, by load and by object: the median of the errors with their signs, and after the stroke that of their sizes.")
    groups = {f"all objects, {load.name}": [row for case, row in judged.items() if case.load == load] for load in LOADS}
    groups |= {f"{name}, all pads": [row for case, row in judged.items() if case.name == name] for name in dict.fromkeys(case.name for case in judged)}
    rows = []
    for words, of in groups.items():
        values = {figure: [getattr(row.errors["condensed"], figure) for row in of] for figure in (*FIGURES, "shape")}
        if of:
            rows.append([words, *(f"{_percent(float(np.median(all_of)))} / {100 * np.median(np.abs(all_of)):.0f}" for all_of in values.values())])
    page.table(["", *[f"{figure}, %" for figure in (*FIGURES, "shape")]], rows)


def _judged(found: Found) -> Found:
    """Those whose pads do not slip past the object."""
    return {case: row for case, row in found.items() if row.full.force_n >= LEAST_FORCE_N}


def _sizes(found: Found, space: str, figure: str) -> list[float]:
    values = [getattr(row.errors[space], figure) for row in found.values()]
    return [abs(value) for value in values if value is not None]


def _median(found: Found, space: str, figure: str) -> float:
    return float(np.median(_sizes(found, space, figure)))
