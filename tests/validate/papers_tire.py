"""Larionov et al. 2023: a dragster's tire wrinkles (Fig. 11), by the runs of `./dev validate shells.tire`."""

from __future__ import annotations

from page import Page
from paper_records import NOT_PUBLISHED, PaperRecord
from shell_tire_judged import tire_records
from validation import Context

SOURCE = "Larionov et al. 2023, Fig. 11"
# Record of shells.tire: what the paper says of it.
SAID = {
    "tire.stribeck.lobes": "the soft tire wrinkles as the wheel starts to turn",
    "tire.stribeck.plateau_over_peak": "stick and slip with distinct coefficients at rest and of sliding, 1.5 and 0.5",
    "tire.stribeck.slip_before_half_of_the_peak": "the outer side is initially stuck to the ground",
    "tire.stribeck.slip_of_the_plateau": "and then dragged",
    "tire.stribeck.least_load_over_pressed": "while it keeps in contact",
    "tire.pressure_over_published": "0.68 atm over the air's pressure",
}
# Why it is not met.
WHY = {
    "tire.stribeck.lobes": "at the peak there is one deep fold from the rim to the end of the patch, at 48 and at 64 vertices around; more come up when the tread slides, and vanish; the paper has 46,000 vertices, and neither load nor shape",
    "tire.stribeck_fine.lobes": "at the peak there is one deep fold from the rim to the end of the patch, at 48 and at 64 vertices around; more come up when the tread slides, and vanish; the paper has 46,000 vertices, and neither load nor shape",
    "tire.stribeck_fine.least_load_over_pressed": "in one step before the peak; the load is ours",
    "tire.coulomb.plateau_over_peak": "the load swings while the tread slides, and the moment with it; traction over load has no fall",
    "tire.hoop_strain_of_the_tread": "p R / E t is that of a cylinder that does not grow",
}


def run_tire(context: Context, page: Page) -> list[PaperRecord]:
    records = [PaperRecord(r.name, r.value, r.unit, r.target, r.passed, SOURCE, SAID.get(r.name, NOT_PUBLISHED), "docs/results/shells_tire.md", "" if r.passed else WHY.get(r.name, ""))
               for r in tire_records(context)[0]]
    page.section("Larionov et al. 2023: a tire wrinkles (Fig. 11)")
    page.text("The runs, their parameters and pictures are on [a page of their own](shells_tire.md).")
    return records
