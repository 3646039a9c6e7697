"""What implicit friction costs next to one lag iteration, in instructions of the low-resolution grasp."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from page import Page
from validation import Context, Record, at_most, reported

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import count_instructions  # noqa: E402

AIM = 1.3  # what it may cost to be the default of grasps, as it was set before the first measurement


def run_friction_cost(context: Context, page: Page) -> list[Record]:
    page.section("Cost")
    if shutil.which("valgrind") is None:
        page.text("Not measured: valgrind is not installed (`./dev setup profiling`).")
        return [reported("cost.instructions", "valgrind is not installed")]
    counts = {}
    for mode in ("LAGGED", "IMPLICIT"):
        settings = [f"contact.friction_mode={mode}"]
        scene = count_instructions.SCENE
        counts[mode] = context.kept.get([scene], ["instructions", mode],
                                        lambda: count_instructions.count(context.cli.binary, settings))
        context.say(f"cost {mode}: {counts[mode]:,} instructions")
    ratio = counts["IMPLICIT"] / counts["LAGGED"]
    command = f"eipc run models/scenes/{count_instructions.SCENE.name} --dt {count_instructions.STEP_S} --threads 1"
    page.text(f"""Instructions of `{command}` (valgrind): {counts['LAGGED'] / 1e9:.2f} G with one lag iteration,
        {counts['IMPLICIT'] / 1e9:.2f} G implicit, {ratio:.2f} times as many. It is the default of `eipc grasp`, for which it may cost up to {AIM}
        ([decision 42](../decisions/0042-implicit-friction-for-grasps.md)).""")
    return [reported("cost.lagged", counts["LAGGED"], "instructions"),
            reported("cost.implicit", counts["IMPLICIT"], "instructions"),
            at_most("cost.implicit_over_lagged", ratio, AIM)]
