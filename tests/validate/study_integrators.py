"""Every integrator against closed forms and against itself: damping, order, work, momentum, a ball in a box."""

from __future__ import annotations

from ball_in_box import run_ball_in_box
from damping_curves import run_damping
from integrator_orders import run_momentum, run_orders
from page import Page
from validation import Context, Record

NAME = "integrators"
DESCRIPTION = "Damping curves, orders in h with and without contact, work and precision, momentum, a ball in a box"


def run(context: Context) -> list[Record]:
    page = Page("Integrators", "./dev validate integrators")
    records = []
    for part in (run_damping, run_orders, run_momentum, run_ball_in_box):
        records += part(context, page)
    page.write(context.figures / "integrators.md")
    return records
