"""Every figure and table of the five papers: what was published, what this product does, whether they agree, and why not."""

from __future__ import annotations

from typing import Callable, Sequence

from page import Page
from paper_records import SCALE, PaperRecord
from papers_absent import run_absent
from papers_ball import run_ball
from papers_damping import run_damping_curves
from papers_exponential import run_beam, run_exponential, run_spectrum
from papers_finray import run_finray
from papers_friction import run_bowl, run_slide
from papers_garment import run_garment
from papers_grasp import run_contacts, run_grasp_order
from papers_hop import run_hop, run_minimization
from papers_index import Summary
from papers_krylov import run_preconditioners
from papers_methods import run_methods
from papers_schemes import run_schemes, run_undamped
from papers_threads import run_threads
from papers_tire import run_tire
from papers_variational import run_pendulum, run_rod
from papers_volume import run_squish, run_tennis
from validation import Context

NAME = "papers"
DESCRIPTION = "One record for each figure and table row of the five papers: published, ours, criterion"

# `./dev validate papers.NAME` runs one of them.
PARTS: dict[str, Callable[[Context, Page], list[PaperRecord]]] = {
    "pendulum": run_pendulum,
    "rod": run_rod,
    "hop": run_hop,
    "minimization": run_minimization,
    "damping": run_damping_curves,
    "exponential": run_exponential,
    "spectrum": run_spectrum,
    "beam": run_beam,
    "methods": run_methods,
    "preconditioners": run_preconditioners,
    "slide": run_slide,
    "bowl": run_bowl,
    "ball": run_ball,
    "volume": run_squish,
    "tennis": run_tennis,
    "garment": run_garment,
    "tire": run_tire,
    "grasp": run_grasp_order,
    "contacts": run_contacts,
    "threads": run_threads,
    "finray": run_finray,
    "schemes": run_schemes,
    "undamped": run_undamped,
    "absent": run_absent,
    "summary": lambda context, page: [],
}

SCALED = ("rod", "ball")  # whose length EIPC_PAPERS_SCALE shortens


def run(context: Context, parts: Sequence[str] = ()) -> list[PaperRecord]:
    """All parts, or those named. Each writes its page, papers_PART.md, and keeps its records; papers.md is written again from all kept
    records, which is all that the part `summary` does."""
    summary, records = Summary(context.figures), []
    for name in parts or PARTS:
        if name == "summary":
            continue
        context.say(name)
        page = Page.of_parts("The papers", NAME, [name], "" if SCALE == 1 or name not in SCALED else f"EIPC_PAPERS_SCALE={SCALE:g}")
        of = PARTS[name](context, page)
        page.section("Records")
        page.table(["record", "source", "published", "ours", "criterion", "basis", "met", "why"],
                   [[r.name, r.source, r.published, r.value, r.target, r.basis, None if r.target == "reported" else r.passed, r.why or None] for r in of])
        page.write_parts(context.figures, NAME, [name])
        summary.keep(name, of)
        records += of
    summary.write()
    return records or summary.records()
