"""Every figure and table row of the five papers, and the page docs/results/papers.md: what became of each.

Parts of the study are run one at a time. The records of each last run are kept beside the page (papers.json), which is written from them:
nothing in it is typed in, and a part that is not run keeps its rows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Sequence

from page import Page, number
from paper_records import ABSENT, NO_EXPERIMENT, NOT_PUBLISHED, PaperRecord

FILE, NOT_RUN = "papers.json", "not run"
ASCHER, KHAREVYCH, HAUTH, LARIONOV, DU = "Ascher et al. 2022", "Kharevych et al. 2006", "Hauth 2003", "Larionov et al. 2023", "Du et al. 2025"

# Paper, figure, what it shows, the part of the study that judges it.
FIGURES = (
    (ASCHER, "Fig. 1", "a tree that sways, a constrained brick", "absent"),
    (ASCHER, "Fig. 2", "a moving mesh", "absent"),
    (ASCHER, "Fig. 3", "damping curves", "damping"),
    (ASCHER, "Section 3.2", "backward Euler damps twice as much as BDF2", "damping"),
    (ASCHER, "eqs. 16 to 24", "ERE, SIERE, BEERE", "exponential"),
    (ASCHER, "eqs. 22, 26", "SBDF2ERE and STR-SBDF2ERE", "exponential"),
    (ASCHER, "Section 3.5", "exponential and additive methods in scenes", "absent"),
    (ASCHER, "Fig. 4", "cost over stiffness", "spectrum"),
    (ASCHER, "Fig. 5", "the first 1,000 eigenvalues", "spectrum"),
    (ASCHER, "Fig. 6", "potential energy of a beam", "beam"),
    (ASCHER, "Fig. 7", "velocity constraints reject plausible steps", "absent"),
    (ASCHER, "Fig. 8", "the barrier", "absent"),
    (ASCHER, "Fig. 9", "the smoothing of friction", "absent"),
    (KHAREVYCH, "Fig. 1", "a pendulum", "pendulum"),
    (KHAREVYCH, "Fig. 2", "a rod over two million steps", "rod"),
    (KHAREVYCH, "Fig. 3", "the same, damped", "rod"),
    (KHAREVYCH, "Fig. 4", "a hopping bunny", "hop"),
    (KHAREVYCH, "Section 5.4", "cost of minimization over root finding", "minimization"),
    (HAUTH, "Fig. 1", "solutions of example 1", "methods"),
    (HAUTH, "Fig. 2", "solution of example 3", "methods"),
    (HAUTH, "Example 2", "solution of example 2", "methods"),
    (HAUTH, "Fig. 3", "work over precision, explicit", "methods"),
    (HAUTH, "Fig. 4", "stability regions", "methods"),
    (HAUTH, "Fig. 5", "work over precision, implicit", "methods"),
    (HAUTH, "Fig. 6", "staggered grids", "absent"),
    (HAUTH, "Fig. 7", "work over precision, wave equation", "methods"),
    (HAUTH, "Fig. 8", "selecting a method", "absent"),
    (HAUTH, "Section 4.1", "preconditioners of conjugate gradients", "preconditioners"),
    (HAUTH, "Table 1", "general Runge-Kutta tableau", "absent"),
    (HAUTH, "Table 2", "tableaux of midpoint and RK4", "methods"),
    (HAUTH, "Table 3", "BDF coefficients", "methods"),
    (LARIONOV, "Fig. 1", "a bowl lifted by pads", "bowl"),
    (LARIONOV, "Fig. 2", "components of the friction model", "absent"),
    (LARIONOV, "Fig. 3", "energy of a volume's change", "absent"),
    (LARIONOV, "Fig. 4", "a block that slides and stops", "slide"),
    (LARIONOV, "Fig. 5", "height of the bowl", "bowl"),
    (LARIONOV, "Fig. 6", "a ball in a soft box", "ball"),
    (LARIONOV, "Fig. 7", "a tube of cloth bends", "garment"),
    (LARIONOV, "Fig. 8", "a ball squished", "volume"),
    (LARIONOV, "Fig. 9", "a tennis ball at 44.7 m/s", "tennis"),
    (LARIONOV, "Fig. 10", "a tennis ball dropped", "tennis"),
    (LARIONOV, "Fig. 11", "a tire wrinkles", "tire"),
    (LARIONOV, "Table I", "the tube of cloth", "garment"),
    (LARIONOV, "Table II(a)", "squish, kv = 1 / atm", "volume"),
    (LARIONOV, "Table II(b)", "squish, kv = 0.01 / atm", "volume"),
    (LARIONOV, "Table II(c)", "squish, solvers", "volume"),
    (LARIONOV, "Table II(d)", "squish, stiff and empty", "volume"),
    (DU, "Fig. 1", "the grasp and the rack", "absent"),
    (DU, "Fig. 2", "an embedding", "absent"),
    (DU, "Fig. 3", "phases of the grasp", "absent"),
    (DU, "Fig. 4", "contact forces over time", "contacts"),
    (DU, "Fig. 5", "number of contacts over time", "contacts"),
    (DU, "Fig. 6", "error over the step", "grasp"),
    (DU, "Fig. 7", "time over the step", "grasp"),
    (DU, "Fig. 8", "error over cost", "grasp"),
    (DU, "Section IV-A", "gain by threads", "threads"),
    (DU, "Fig. 9", "the FinRay gripper", "finray"),
    (DU, "Fig. 10", "the gripper holds a plate", "finray"),
    (DU, "Fig. 11", "a plate set into a rack", "finray"),
)


def figures_of(source: str) -> list[tuple[str, str]]:
    """(paper, figure) of each that a record's source names: "Paper, Figs. 1, 5" or "Paper, Fig. 7, Table I" or "Paper, Fig. 9 to 11"."""
    paper, _, named = source.partition(", ")
    if named in (figure for of, figure, _, _ in FIGURES if of == paper):
        return [(paper, named)]
    labels = []
    for kind, numbers in re.findall(r"(Fig|Table|Example|Section)s?\.? ([^A-Z]*(?:[IVX]+(?:\([a-d]\))?)?)", named):
        span = re.fullmatch(r"(\d+) to (\d+)", numbers.strip(" ,"))
        each = range(int(span[1]), int(span[2]) + 1) if span else re.findall(r"[\dIVX.]*[\dIVX](?:\([a-d]\))?", numbers)
        labels += [f"{kind}{'.' * (kind == 'Fig')} {n}" for n in each]
    return [(paper, label) for label in labels]


def _verdict(records: Sequence[PaperRecord]) -> str:
    """One word for all records of a figure: what is there in part only, or agrees in part only, is different."""
    verdicts = {r.verdict for r in records}
    if "different" in verdicts or {ABSENT} < verdicts - {NO_EXPERIMENT}:
        return "different"
    return next((v for v in ("reproduced", NOT_PUBLISHED, ABSENT, NO_EXPERIMENT) if v in verdicts), NOT_RUN)


def _why(records: Sequence[PaperRecord]) -> str:
    """Reasons of what is different or absent; what was asked where a record gives none."""
    return "; ".join(dict.fromkeys(r.why or f"{r.name} is {number(r.value)}, asked {r.target}" for r in records if r.verdict in ("different", ABSENT, NO_EXPERIMENT)))


class Summary:
    """papers.md and papers.json in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _kept(self) -> dict[str, list[dict[str, Any]]]:
        path = self._folder / FILE
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def keep(self, part: str, records: Sequence[PaperRecord]) -> None:
        """Replaces what is known of a part. Raises ValueError where a record's source is no figure of FIGURES."""
        known = {(paper, figure) for paper, figure, _, _ in FIGURES}
        strange = {r.source for r in records if not set(figures_of(r.source)) <= known}
        if strange:
            raise ValueError(f"papers_index.py has no {', '.join(sorted(strange))}")
        kept = {**self._kept(), part: [record.to_json() for record in records]}
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / FILE).write_text(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")

    def records(self) -> list[PaperRecord]:
        """Of all parts that were ever run."""
        return [PaperRecord.from_json(record) for part in self._kept().values() for record in part]

    def rows(self) -> list[list[Any]]:
        """Paper, figure, what it shows, verdict, records met, published, why, part."""
        by_figure: dict[tuple[str, str], list[PaperRecord]] = {}
        for record in self.records():
            for figure in figures_of(record.source):
                by_figure.setdefault(figure, []).append(record)
        rows = []
        for paper, figure, shows, part in FIGURES:
            of = by_figure.get((paper, figure), [])
            judged = [r for r in of if r.target != "reported"]
            met = f"{sum(r.passed for r in judged)} of {len(judged)}" if judged else None
            published = "; ".join(dict.fromkeys(str(r.published) for r in of))
            verdict = _verdict(of)
            page = f"papers_{part}.md"
            link = f"[{part}]({page})" if of and (self._folder / page).is_file() else part
            rows.append([paper, figure, shows, verdict, met, published or None, _why(of) or None, link])
        return rows

    def write(self) -> None:
        """The page, from what is kept."""
        rows = self.rows()
        page = Page("The papers", "./dev validate papers.summary")
        page.text("""Every figure and table row of the five papers. The records behind a row are on the page of its part, which `./dev validate
            papers.PART` writes; this page is written again from the kept records of all parts (papers.json).""")
        page.text("""*reproduced*: what the paper says was found, by criteria that were fixed beforehand (a record that was added later says so). *different*: at least one record does not come out
            as published, or part of what it needs is absent; the reason stands beside it. *not published*: the paper gives neither the number nor what it needs, and ours agrees with theory.
            *absent*: what it needs is not in the product or its scenes. *no experiment*: a drawing, a definition or a picture. *not run*: it has no records.""")
        verdicts = ("reproduced", "different", NOT_PUBLISHED, ABSENT, NO_EXPERIMENT, NOT_RUN)
        of_figures = {f"papers_{part}.md" for _, _, _, part in FIGURES}
        others = sorted(path.name for path in self._folder.glob("papers_*.md") if path.name not in of_figures)
        if others:
            page.text("Beside the figures: " + ", ".join(f"[{name[len('papers_'):-len('.md')]}]({name})" for name in others) + ".")
        papers = dict.fromkeys(row[0] for row in rows)
        page.table(["paper", *verdicts], [[paper, *(sum(r[0] == paper and r[3] == v for r in rows) for v in verdicts)] for paper in papers])
        for paper in papers:
            page.section(paper)
            page.table(["figure", "shows", "verdict", "records met", "published", "why", "part"], [row[1:] for row in rows if row[0] == paper])
        page.section("Figures")
        page.text("What is remade as a picture; each stands on the page of its part with what it shows.")
        for part in dict.fromkeys(part for _, _, _, part in FIGURES):
            path = self._folder / f"papers_{part}.md"
            for words, picture in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", path.read_text(encoding="utf-8")) if path.is_file() else ():
                page.figure(picture, f"{part.capitalize()}: {words}")
        page.write(self._folder / "papers.md")
