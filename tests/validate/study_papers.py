"""Every figure and table of the five papers: what was published, what this product does, whether they agree, and why not."""

from __future__ import annotations

from typing import Callable, Sequence

from page import Page
from paper_records import ABSENT, NOT_PUBLISHED, PAPERS, PaperRecord
from papers_absent import run_absent
from papers_damping import run_damping_curves
from papers_exponential import run_beam, run_exponential, run_spectrum
from papers_friction import run_ball, run_bodies_with_volume, run_bowl, run_slide
from papers_grasp import run_contacts, run_grasp_order, run_schemes
from papers_methods import run_methods
from papers_variational import run_pendulum, run_rod
from validation import Context

NAME = "papers"
DESCRIPTION = "One record for each figure and table row of the five papers: published, ours, criterion"

# `./dev validate papers.NAME` runs one of them.
PARTS: dict[str, Callable[[Context, Page], list[PaperRecord]]] = {
    "pendulum": run_pendulum,
    "rod": run_rod,
    "damping": run_damping_curves,
    "exponential": run_exponential,
    "spectrum": run_spectrum,
    "beam": run_beam,
    "methods": run_methods,
    "slide": run_slide,
    "bowl": run_bowl,
    "ball": run_ball,
    "volume": run_bodies_with_volume,
    "grasp": run_grasp_order,
    "contacts": run_contacts,
    "schemes": run_schemes,
    "absent": run_absent,
}


def summary(page: Page, records: Sequence[PaperRecord]) -> None:
    """A line for each figure of a paper."""
    page.section("Summary")
    page.text("""*reproduced*: what the paper says was found, by a criterion that was fixed beforehand. *not published*: the paper gives neither the number nor
        what it needs, and ours agrees with theory. *different*: it does not come out as published, or what it needs is not in the product; the reason stands beside it. *absent*: what it needs is not in the product, or it is
        no experiment.""")
    rows = []
    for paper in PAPERS:
        for source in sorted({r.source for r in records if r.source.startswith(f"{paper}, ")}, key=lambda s: (len(s), s)):
            of = [r for r in records if r.source == source]
            order = ("different", "reproduced", ABSENT, NOT_PUBLISHED)
            verdict = next(v for v in order if any(r.verdict == v for r in of))
            why = "; ".join(dict.fromkeys(r.why or f"{r.name} is {r.value}, asked {r.target}" for r in of if r.verdict in ("different", ABSENT)))
            rows.append([paper, source[len(paper) + 2:], verdict, len(of), sum(not r.passed for r in of), why])
    page.table(["paper", "figure", "verdict", "records", "not met", "why"], rows)


def run(context: Context, parts: Sequence[str] = ()) -> list[PaperRecord]:
    """All parts, or those named; all of them write the page papers.md, a part writes papers_NAME.md."""
    page = Page.of_parts("The papers", NAME, parts)
    records: list[PaperRecord] = []
    for name in parts or PARTS:
        context.say(name)
        records += PARTS[name](context, page)
    summary(page, records)
    page.section("Records")
    page.table(["record", "source", "published", "ours", "criterion", "basis", "met"],
               [[r.name, r.source, r.published, r.value, r.target, r.basis, r.passed] for r in records])
    page.write_parts(context.figures, NAME, parts)
    return records
