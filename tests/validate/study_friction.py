"""Friction at the end of the step against friction lagged: a sliding block, a bowl, stick–slip, and what it costs."""

from __future__ import annotations

from block_slide import run_block_slide
from bowl_grasp import run_bowl_grasp
from friction_cost import run_friction_cost
from page import Page
from stick_slip import run_stick_slip
from validation import Context, Record

NAME = "friction"
DESCRIPTION = "Block slide, bowl grasp at 1.03 times Coulomb's minimum, stick-slip (Larionov et al. 2023, V-A)"


def run(context: Context) -> list[Record]:
    page = Page("Friction", "./dev validate friction")
    records = []
    for part in (run_block_slide, run_bowl_grasp, run_stick_slip, run_friction_cost):
        records += part(context, page)
    page.write(context.figures / "friction.md")
    return records
