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
# Where the target of a record comes from, by the end of its name; shell_tire_judged.py has them in full.
BASIS = {
    "intersections": "no state intersects, by the exact audit",
    "distance_over_separation": "sheets stay apart by their thickness",
    "steps_not_converged": "99 % of the steps, as of every sheet",
    "pressure_over_published": "the published pressure, within 5 %",
    "gas_law": "p V of a gas that keeps its temperature",
    "least_pressure_of_the_turn_over_pressed": "it stays inflated while it turns",
    "hoop_strain_of_the_tread": "p R / E t of a cylinder",
    "stribeck.lobes": "wrinkles: at least three lobes of a sidewall",
    "stribeck_fine.lobes": "wrinkles: at least three lobes of a sidewall",
    "stribeck.plateau_over_peak": "a fall from 1.5 to 0.5, of which 30 % are asked of the moment",
    "stribeck_fine.plateau_over_peak": "a fall from 1.5 to 0.5, of which 30 % are asked of the moment",
    "coulomb.plateau_over_peak": "equal coefficients leave no fall: less than half of what is asked of the others",
    "sliding_friction": "the coefficient of sliding, within 10 %",
    "peak_friction": "more than the mean of both coefficients, at most the one at rest",
    "slip_before_half_of_the_peak": "stuck: slower than the velocity that the law's fall is given by",
    "slip_of_the_plateau": "dragged: faster than that velocity",
    "least_load_over_pressed": "in contact: half of the load of the pressed tire",
}
# Why it is not met.
WHY = {
    "tire.stribeck.lobes": "at the peak there is one deep fold from the rim to the end of the patch, at 48 and at 64 vertices around; more come up when the tread slides, and vanish; the paper has 46,000 vertices, and neither load nor shape",
    "tire.stribeck_fine.lobes": "at the peak there is one deep fold from the rim to the end of the patch, at 48 and at 64 vertices around; more come up when the tread slides, and vanish; the paper has 46,000 vertices, and neither load nor shape",
    "tire.stribeck_fine.least_load_over_pressed": "in one step before the peak; the load is ours",
    "tire.coulomb.plateau_over_peak": "the load swings while the tread slides, and the moment with it; traction over load has no fall",
    "tire.hoop_strain_of_the_tread": "p R / E t is that of a cylinder that does not grow",
}


def _basis(name: str) -> str:
    return next((basis for end, basis in BASIS.items() if name.endswith(f".{end}")), "")


def run_tire(context: Context, page: Page) -> list[PaperRecord]:
    records = [PaperRecord(r.name, r.value, r.unit, r.target, r.passed, SOURCE, SAID.get(r.name, NOT_PUBLISHED), _basis(r.name), "" if r.passed else WHY.get(r.name, ""))
               for r in tire_records(context)[0]]
    page.section("Larionov et al. 2023: a tire wrinkles (Fig. 11)")
    page.text("The runs, their parameters and pictures are on [a page of their own](shells_tire.md).")
    return records
