"""The learning stack: policies that learn, what recording costs and survives, bits of environments under faults, pages followed.

`./dev validate learning.NAME` runs one part. EIPC_LEARNING_SCALE (default 1: the counts of the release; 0.05 for a trial) sets how much of
each part but `policies` and `documents` is done, EIPC_LEARNING_GENERATIONS how long policies learn, EIPC_LEARNING_PAGES which pages are followed.
"""

from __future__ import annotations

import os
from typing import Callable, Sequence

from learning_documents import documents
from learning_faults import digests, isolation, killed_server
from learning_policies import policies
from learning_recorder import killed_recorder, recorder
from page import Page
from validation import Context, Record

NAME = "learning"
DESCRIPTION = "grasps learned from scratch and from demonstrations, cost of recording, kill -9 of recorders and servers, bits of 100 episodes, pages followed"

SETTINGS = ("EIPC_LEARNING_SCALE", "EIPC_LEARNING_GENERATIONS", "EIPC_LEARNING_PAGES")
PARTS: dict[str, Callable[[Context, Page], list[Record]]] = {
    "recorder": recorder,
    "killed_recorder": killed_recorder,
    "digests": digests,
    "isolation": isolation,
    "killed_server": killed_server,
    "policies": policies,
    "documents": documents,
}


def run(context: Context, parts: Sequence[str] = ()) -> list[Record]:
    """All parts, or those named; all of them write the page learning.md, a part writes learning_NAME.md."""
    settings = [f"{name}={os.environ[name]}" for name in SETTINGS if os.environ.get(name)]
    page = Page.of_parts("The learning stack", NAME, parts, " ".join(settings))
    records: list[Record] = []
    for name in parts or PARTS:
        context.say(name)
        seen = PARTS[name](context, page)
        page.table(["record", "target", "measured", "met"], [[r.name, r.target, _measured(r), r.passed] for r in seen])
        records += seen
    page.write_parts(context.figures, NAME, parts)
    return records


def _measured(record: Record) -> str:
    value = f"{record.value:.4g}" if isinstance(record.value, float) else str(record.value)
    return f"{value} {record.unit}".strip()
