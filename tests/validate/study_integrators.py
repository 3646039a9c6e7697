"""Every integrator against closed forms and against itself: damping, order, work, momentum."""

from __future__ import annotations

from damping_curves import run_damping
from integrator_orders import run_momentum, run_orders
from page import Page
from validation import Context, Record

NAME = "integrators"
DESCRIPTION = "Damping curves, orders in h with and without contact, work and precision, momentum"


def run(context: Context) -> list[Record]:
    page = Page("Integrators", "./dev validate integrators")
    records = []
    for part in (run_damping, run_orders, run_momentum):
        records += part(context, page)
    page.write(context.figures / "integrators.md")
    return records
