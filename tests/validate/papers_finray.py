"""Du et al. 2025, IV-B: a FinRay gripper takes a plate and sets it into a dish rack (Figs. 9 to 11)."""

from __future__ import annotations

from page import Page
from paper_records import Claim, PaperRecord
from study_finray import PRESS_M, place, press_curves, stiffness_error
from validation import Context

SCENES, STEP_S = ("finray_plate", "finray_plate_2"), 0.02
GRIPPER, HELD, RACK = (f"Du et al. 2025, Fig. {n}" for n in (9, 10, 11))


def run_finray(context: Context, page: Page) -> list[PaperRecord]:
    """The paper's trajectories and meshes are not published; its claims are about any."""
    reports = context.each([lambda name=name: place(context, name, STEP_S) for name in SCENES], SCENES)
    pressed = Claim(GRIPPER, "a deformable gripper", f"pressed by a rod by {min(PRESS_M)} to {max(PRESS_M)} m: force within 5 % of a finer mesh of the same finger (added later)")
    records, rows = [pressed.at_most("finger.stiffness_error", stiffness_error(press_curves(context)), 0.05)], []
    for name, report in zip(SCENES, reports):
        goals, audit, holding = report["goals"], report["audit"], report["holding"]
        reached = sum(goal["reached"] for goal in goals.values())
        force = holding["mean_vertical_force_n"] / holding["weight_n"]
        records += [Claim(GRIPPER, "a deformable gripper", "3 mm: fingers bend").at_least(f"{name}.deflection", report["deflection"], 0.003, "m"),
                    Claim(HELD, "the plate is grasped and held", "contact forces carry it while it is lifted and carried, within 2 %").near(f"{name}.force_over_weight", force, 1.0, 0.02),
                    Claim(HELD, "both trajectories are replayed stably", "as of every grasp").at_least(f"{name}.converged", 1 - report["steps_not_converged"] / report["steps"], 0.99),
                    Claim(RACK, "the plate is set into a slot of the rack", "in its slot, standing, at rest").equal(f"{name}.goals_reached", reached, len(goals)),
                    Claim(RACK, "no penetrations", "exact audit of every state").equal(f"{name}.intersections", audit["intersections"], 0),
                    Claim(RACK, "no penetrations", "every state is audited").at_least(f"{name}.states_audited", audit["states_checked"], report["steps"])]
        rows.append([name, report["deflection"], force, f"{reached} of {len(goals)}", audit["states_checked"], audit["intersections"], report["pinch"], report["missed"]])
    page.section("Du et al. 2025: a plate set into a dish rack (Figs. 9 to 11)")
    page.text(f"""Two trajectories of our own, which differ in how the plate is turned and set down, not in how it is taken; generated meshes, E = 10 MPa of plate and rack as in the paper, h = {STEP_S} s, every state audited. More, with steps of 5 ms and fingers pressed by a
        rod, is [in the study of this scene](finray.md).""")
    page.table(["trajectory", "deflection of a finger (m)", "force over weight", "goals", "states audited", "intersections", "pinch (N)", "steps with a blocked drive"], rows)
    return records
