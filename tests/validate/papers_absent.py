"""What of the five papers is not in the product, or has no number to be compared with: said so, with the reason."""

from __future__ import annotations

from page import Page
from paper_records import NO_EXPERIMENT, Claim, PaperRecord
from validation import Context

# Drawings, definitions, pictures of other figures' runs.
DRAWINGS = (
    ("Ascher et al. 2022, Fig. 1", "a swaying tree, a jelly brick", "pictures of another paper's runs, without parameters"),
    ("Ascher et al. 2022, Fig. 2", "a moving mesh", "a drawing"),
    ("Ascher et al. 2022, Fig. 7", "velocity constraints reject plausible steps", "an argument without an experiment; contact here constrains positions"),
    ("Ascher et al. 2022, Fig. 8", "the barrier b(x; δ)", "a drawing of a closed function, tested in tests/sim/contact"),
    ("Ascher et al. 2022, Fig. 9", "the smoothing s(x; ε)", "a drawing of a closed function, tested in tests/sim/energy"),
    ("Hauth 2003, Fig. 6", "staggered grids", "a drawing; the centred Verlet of the table has them"),
    ("Hauth 2003, Fig. 8", "which method to select", "a flow chart; docs/concepts/dynamics.md says which"),
    ("Hauth 2003, Table 1", "the general Runge-Kutta tableau", "a definition: sim/dynamics/scheme.h"),
    ("Larionov et al. 2023, Fig. 2", "components of the friction model", "a drawing of closed functions, tested in tests/sim/energy"),
    ("Larionov et al. 2023, Fig. 3", "volume change energy", "a drawing of closed functions, tested in tests/sim/energy/volume_test.cc"),
    ("Du et al. 2025, Fig. 1", "a teddy bear and a plate are held without penetration", "pictures; ./dev validate grasp and finray run the scenes and check every state"),
    ("Du et al. 2025, Fig. 2", "an embedding", "a drawing"),
    ("Du et al. 2025, Fig. 3", "grasping, lifting, holding", "pictures; the scene is models/scenes/bubble_teddy_full.textproto"),
)
MISSING = (
    ("Ascher et al. 2022, Section 3.5", "exponential and additive methods in scenes, contact and friction in their implicit part",
     "built and taken out again: modes grow where contact, joints or gas hold them (docs/decisions/0040-no-exponential-methods-in-scenes.md); they run on small systems"),
)


def run_absent(context: Context, page: Page) -> list[PaperRecord]:
    records = [Claim(source, published, basis, why).reported("absent." + source.replace(" ", "_"), None)
               for basis, words in (("", MISSING), (NO_EXPERIMENT, DRAWINGS)) for source, published, why in words]
    page.section("Not in the product, or not an experiment")
    page.table(["figure", "what it shows", "", "why there is no figure of ours"], [[r.source, r.published, r.verdict, r.why] for r in records])
    return records
