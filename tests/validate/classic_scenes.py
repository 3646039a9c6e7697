"""The degenerate and classic contact scenes, each with a duration and a motion that it must show.

Bodies called `floor`, `wall`, ... are static; lengths in metres. Docs: docs/results/guarantee.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np

import solids
from scene_text import STIFF, SceneText, held

SOFT = {"density_kg_m3": 1000.0, "youngs_modulus_pa": 2e4, "poissons_ratio": 0.4, "model": "LOG_BARRIER_NEO_HOOKEAN"}
G = 9.81
ALWAYS = (0.0, math.inf)


@dataclass(frozen=True)
class Outcome:
    """What a criterion sees: the report of `eipc run`, and its line a step as columns."""

    report: dict[str, Any]
    steps: dict[str, np.ndarray]

    def at(self, body: str) -> np.ndarray:
        return np.array(self.report["bodies"][body]["position_m"])

    def axis(self, body: str, axis: int) -> np.ndarray:
        """Where the body's own axis points at the end."""
        w, x, y, z = self.report["bodies"][body]["orientation_wxyz"]
        return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])[:, axis]

    @property
    def calm(self) -> bool:
        """Hardly any of the largest kinetic energy is left."""
        kinetic = self.steps["kinetic_j"]
        return bool(kinetic[-1] < 0.02 * kinetic.max() + 1e-12)


@dataclass(frozen=True)
class ClassicScene:
    """criterion: the motion in words, and met(outcome).

    still: from when to when (s) nothing but gravity does work on the bodies, so that energy may only fall: the whole of scenes without
    drives, where drives stand in others, None where they never do. blocked: a drive is commanded to go where it cannot, so that steps may
    end with the target not reached.
    """

    name: str
    build: Callable[[str], SceneText]
    duration_s: float
    criterion: str
    met: Callable[[Outcome], bool]
    still: Optional[tuple[float, float]] = ALWAYS
    blocked: bool = False


SCENES: list[ClassicScene] = []


def scene(duration_s: float, criterion: str, met: Callable[[Outcome], bool], still: Optional[tuple[float, float]] = ALWAYS, name: Optional[str] = None,
          blocked: bool = False, **arguments):
    """Registers a builder `f(text, **arguments)` under its own name or `name`."""
    def register(build: Callable[..., None]) -> Callable[..., None]:
        def make(label: str) -> SceneText:
            text = SceneText(label)
            build(text, **arguments)
            return text
        SCENES.append(ClassicScene(name or build.__name__, make, duration_s, criterion, met, still, blocked))
        return build
    return register


# --- degenerate pairs ---------------------------------------------------------------------------------------------------

SPIKE = solids.lathe([(0, 0), (0.006, 0.02), (0, 0.0201)], 8)  # tip down, at the origin
SPIKE_UP = solids.lathe([(0, -0.0201), (0.006, -0.02), (0, 0)], 8)
PIT = solids.lathe([(0, 0), (0.03, 0), (0.03, 0.03), (0.02, 0.03), (0, 0.005)], 12)  # a conical hole, wider than the spike
WEDGE = solids.prism([(0, 0), (0.008, 0.02), (-0.008, 0.02)], 0.03)  # edge down along y
WEDGE_UP = solids.prism([(0, 0), (-0.008, -0.02), (0.008, -0.02)], 0.03)
CRACK = solids.prism([(-0.03, 0), (0.03, 0), (0.03, 0.03), (0.02, 0.03), (0, 0.005), (-0.02, 0.03), (-0.03, 0.03)], 0.06)


def drop(text: SceneText, upper: solids.Mesh, lower: solids.Mesh, at, rpy=(0, 0, 0), floor=-0.0205, friction=0.3, lower_rpy=(0, 0, 0)):
    """`upper` falls on `lower`, 2 mm above it, and if it falls off, on a floor."""
    text.static("lower", lower, (0, 0, 0), lower_rpy)
    if floor is not None:
        text.static("floor", solids.sheet(0.15, 3), (0.013, 0.011, floor))
    text.moving("upper", "affine", upper, at, rpy, **STIFF)
    text.contact(friction, dhat=5e-4)


on_top_or_floor = ("comes to rest on the tip or on the floor, not in them",
                   lambda o: o.calm and -0.021 < o.at("upper")[2] < 0.03)


@scene(2.5, *on_top_or_floor)  # tip on tip: how long it stands is up to the last bits, more than a second at small steps
def spike_spike(text):
    drop(text, SPIKE, SPIKE_UP, (0, 0, 0.002))


@scene(1.5, *on_top_or_floor)
def spike_wedge(text):
    drop(text, SPIKE, WEDGE_UP, (0, 0, 0.002))


@scene(1.0, "slides off the slope into the pit and rests in it, leaning or upright",
       lambda o: o.calm and np.hypot(*o.at("upper")[:2]) < 0.01 and 0.012 < o.at("upper")[2] < 0.024)
def spike_hole(text):
    drop(text, SPIKE, PIT, (0.004, 0.001, 0.02), floor=None, friction=0.1)


@scene(2.5, *on_top_or_floor)  # edge on edge, it may stand for a second and a half
def wedge_wedge_parallel(text):
    drop(text, WEDGE, WEDGE_UP, (0, 0, 0.002))


# Level, it stands for up to a second and then falls to whichever side the last bits are for: tilted a little it falls along the lower edge,
# over which it turns, or, tilted both ways, tumbles over both.
@scene(1.5, *on_top_or_floor, name="wedge_wedge_crossed", tilt=(0, 1e-4))
@scene(1.5, *on_top_or_floor, name="wedge_tumbles", tilt=(6.46e-5, 7.63e-5))
def wedge_on_wedge(text, tilt):
    drop(text, WEDGE, WEDGE_UP, (0, 0, 0.002), (*tilt, math.pi / 2))


@scene(1.0, "slides into the crack, its edge within 3 mm of the bottom",
       lambda o: o.calm and abs(o.at("upper")[0]) < 5e-3 and 0.005 < o.at("upper")[2] < 0.005 + 0.0134 + 0.003)
def wedge_crack(text):
    drop(text, WEDGE, CRACK, (0.004, 0, 0.02), floor=None, friction=0.1)


CLIFF = solids.box(0.06, 0.06, 0.04)


@scene(1.0, "tips over the edge and lies on the floor", lambda o: o.calm and o.at("upper")[2] < -0.02, name="cliff_falls", out=0.034)
@scene(1.0, "stays on the edge, level, within 1 mm", lambda o: o.calm and abs(o.at("upper")[0] - 0.026) < 1e-3
       and o.axis("upper", 2)[2] > 0.999, name="cliff_stays", out=0.026)
def cliff(text, out):
    text.static("lower", CLIFF, (0, 0, -0.02))
    text.static("floor", solids.sheet(0.2, 4), (0.03, 0, -0.0401))
    text.moving("upper", "affine", solids.box(0.03, 0.03, 0.015), (out, 0, 0.0085), **STIFF)
    text.contact(0.4, dhat=5e-4)


CUBE = solids.box(0.02, 0.02, 0.02)


@scene(1.0, "the tower of five aligned cubes stands within 1 mm",
       lambda o: o.calm and all(np.hypot(*o.at(f"cube{k}")[:2]) < 1e-3 and abs(o.at(f"cube{k}")[2] - 0.01 - 0.02 * k) < 4e-3
                                for k in range(5)))
def cubes_face_to_face(text):
    text.static("floor", solids.box(0.02, 0.02, 0.02), (0, 0, -0.0105))
    for k in range(5):
        text.moving(f"cube{k}", "affine", CUBE, (0, 0, 0.01 + 0.0205 * k), **STIFF)
    text.contact(0.5)


@scene(2.5, "the upper cube comes to rest on the edge or on the floor", lambda o: o.calm and -0.02 < o.at("upper")[2] < 0.03)
def cubes_edge_to_edge(text):
    text.static("lower", CUBE, (0, 0, -0.01 * math.sqrt(2)), (0, math.pi / 4, 0))
    text.static("floor", solids.sheet(0.15, 3), (0.013, 0.011, -0.03))
    text.moving("upper", "affine", CUBE, (0, 0, 0.01 * math.sqrt(2) + 0.002), (0, math.pi / 4, 0), **STIFF)
    text.contact(0.3, dhat=5e-4)


@scene(0.5, "slides 0.25 m over 20 rows of edges at constant speed, within 1 %, and stays level",
       lambda o: abs(o.at("block")[0] - 0.25 + 0.15) < 0.01 * 0.25 and o.axis("block", 2)[2] > 1 - 1e-6)
def internal_edges(text):
    text.static("floor", solids.sheet(0.25, 41))
    text.moving("block", "affine", solids.box(0.03, 0.02, 0.01), (-0.15, 0.003, 0.0056), velocity=(0.5, 0, 0), **STIFF)
    text.contact(0.0)
    text.line("start_in_equilibrium: true")


# --- classic scenes -----------------------------------------------------------------------------------------------------

@scene(2.0, "stands: no card moves by more than 2 mm",
       lambda o: all(abs(o.at(n)[2] - z) < 2e-3 for n, z in CARDS.items()))
def card_house(text):
    """Two pairs of leaning cards, one lying across, one pair on top."""
    text.static("floor", solids.sheet(0.2, 4))
    length, thickness, lean = 0.06, 1e-3, 0.35
    card = solids.box(thickness, 0.04, length)
    lying = solids.box(0.09, 0.04, thickness)
    gap = 2.5e-4

    def pair(label: str, x: float, base: float) -> float:
        foot = length / 2 * math.cos(lean) + thickness / 2 * math.sin(lean)
        reach = length / 2 * math.sin(lean) + thickness / 2 * math.cos(lean) + gap / 2
        for side in (-1, 1):
            place = (x + side * reach, 0, base + gap + foot)
            CARDS[f"{label}{'lr'[side > 0]}"] = place[2]
            text.moving(f"{label}{'lr'[side > 0]}", "affine", card, place, (0, -side * lean, 0), youngs_modulus_pa=1e8, density_kg_m3=700.0)
        return base + gap + 2 * foot

    top = max(pair("a", -0.022, 0.0), pair("b", 0.022, 0.0))
    place = (0, 0, top + gap + thickness / 2)
    CARDS["across"] = place[2]
    text.moving("across", "affine", lying, place, youngs_modulus_pa=1e8, density_kg_m3=700.0)
    pair("c", 0.0, place[2] + thickness / 2)
    text.contact(0.8, dhat=5e-4, eps_v=1e-4)


CARDS: dict[str, float] = {}
ARCH_BLOCKS, ARCH_RADIUS, ARCH_THICKNESS = 25, 0.1, 0.025


def arch(text, friction):
    """A semicircle of wedge-shaped stones between two abutments; joints closed to half of dhat."""
    dhat = 1e-6
    step = math.pi / ARCH_BLOCKS
    inner, outer = ARCH_RADIUS - ARCH_THICKNESS / 2, ARCH_RADIUS + ARCH_THICKNESS / 2
    trim = 0.25 * dhat / inner  # of each side of a stone
    for k in range(ARCH_BLOCKS):
        middle = (k + 0.5) * step
        corners = [(r * math.cos(a), r * math.sin(a)) for r, a in
                   ((inner, middle - step / 2 + trim), (outer, middle - step / 2 + trim),
                    (outer, middle + step / 2 - trim), (inner, middle + step / 2 - trim))]
        text.moving(f"stone{k:02}", "affine", solids.prism(corners, 0.03), youngs_modulus_pa=2e10, density_kg_m3=2400.0)
    for name, x in (("right", ARCH_RADIUS), ("left", -ARCH_RADIUS)):
        text.static(f"abutment_{name}", solids.box(2 * ARCH_THICKNESS, 0.06, 0.02), (x, 0, -0.01 - 0.25 * dhat))
    text.contact(friction, dhat=dhat, eps_v=1e-5)
    text.line("solver { max_newton_iterations: 400 substep_newton_iterations: 40 }")


ARCH_TOP = (ARCH_RADIUS - ARCH_THICKNESS / 2 + ARCH_RADIUS + ARCH_THICKNESS / 2) / 2

scene(20.0, "stands for 20 s: the keystone sinks by less than 0.5 mm", lambda o: ARCH_TOP - o.at("stone12")[2] < 5e-4,
      name="arch_with_friction", friction=0.5)(arch)
scene(1.0, "falls: the keystone sinks by more than 10 mm", lambda o: ARCH_TOP - o.at("stone12")[2] > 0.01,
      name="arch_without_friction", friction=0.0)(arch)

PITCH, THREAD, THREAD_SEGMENTS = 0.02, 0.004, 20  # rows of PITCH / THREAD_SEGMENTS: ridges run along grid diagonals


@scene(0.5, "at 0.5 m/s^2 screws itself down under its weight by more than half a pitch, turning by 2 pi a pitch within 10 %",
       lambda o: PITCH / 2 < -o.at("bolt")[2] + BOLT["start"] and abs(bolt_slip(o)) < 0.1)
def bolt_in_nut(text):
    text.gravity = (0, 0, -0.5)
    rod = solids.threaded_rod(solids.thread_radius(0.005, THREAD, PITCH), -0.015, 0.015, THREAD_SEGMENTS, 30)
    nut = solids.threaded_nut(solids.thread_radius(0.005, THREAD, PITCH, 5e-4), 0.014, -0.005, 0.005, THREAD_SEGMENTS, 10)
    text.static("nut", nut)
    text.moving("bolt", "affine", rod, **STIFF)
    text.contact(0.0, dhat=2e-4)


BOLT = {"start": 0.0}


def bolt_slip(outcome: Outcome) -> float:
    """Turns by which the bolt is off its thread, of those that it went down."""
    axis = outcome.axis("bolt", 0)
    down = (BOLT["start"] - outcome.at("bolt")[2]) / PITCH
    turns = -math.atan2(axis[1], axis[0]) / (2 * math.pi)
    return (turns - down - round(turns - down)) / max(down, 1e-9)


@scene(2.3, "both ends reach one whole turn in opposite senses; nothing inverts",
       lambda o: o.steps["target_error_m"][-1] == 0 and o.report["audit"]["inversions"] == 0, still=(2.0, 2.3))
def mat_twisted(text):
    turns = [(0.2 * k, (0, 0, 0), (0.2 * k * math.pi, 0, 0)) for k in range(11)]  # one turn of each end in 2 s, and 0.3 s of rest
    turns.append((2.3, *turns[-1][1:]))
    back = [(t, p, (-r[0], 0, 0)) for t, p, r in turns]
    extra = held("left", (-1, -1, -1), (-0.0399, 1, 1), turns) + " " + held("right", (0.0399, -1, -1), (1, 1, 1), back)
    text.moving("mat", "full_space", solids.tet_grid(0.08, 0.04, 0.004, (20, 10, 1)), extra=extra, **SOFT)
    text.contact(0.0)


@scene(1.0, "the walls close to 40 % and open again; nothing is outside, nothing inverts",
       lambda o: np.abs([o.at(f"soft{k}")[:2] for k in range(3)]).max() < 0.06 and o.report["audit"]["inversions"] == 0
       and o.steps["target_error_m"][-1] == 0, still=(0.5, 0.6))
def trash_compactor(text):
    text.static("floor", solids.sheet(0.1, 4), (0, 0, 0))
    wall, half, closed_half = solids.box(0.01, 0.12, 0.1), 0.05, 0.022
    for side in (-1, 1):
        x0, x1 = side * (half + 0.005), side * (closed_half + 0.005)
        text.kinematic("wall" + "lr"[side > 0], wall, [(t, (x, 0, 0.051), (0, 0, 0)) for t, x in ((0, x0), (0.5, x1), (0.6, x1), (1.0, x0))])
        text.static("side" + "lr"[side > 0], solids.box(0.12, 0.01, 0.1), (0, side * 0.032, 0.0511))
    for k, (x, z) in enumerate(((-0.024, 0.014), (0.024, 0.014), (0.0, 0.041))):
        text.moving(f"soft{k}", "full_space", solids.tet_grid(0.024, 0.024, 0.024, (2, 2, 2)), (x, 0.001 * k, z), (0, 0, 0.3 * k), **SOFT)
    text.contact(0.2)
    for a in ("l", "r"):
        for b in ("l", "r"):
            text.line(f'contact_pairs {{ body_a: "wall{a}" body_b: "side{b}" enabled: false }}')


@scene(1.2, "all hundred lie in the bin", lambda o: all(np.abs(o.at(f"part{k}")[:2]).max() < 0.06 and 0 < o.at(f"part{k}")[2] < 0.12
                                                       for k in range(100)))
def hundred_in_a_bin(text):
    text.static("floor", solids.sheet(0.08, 4))
    for k, (x, y) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
        size = (0.01, 0.13, 0.14) if x else (0.11, 0.01, 0.14)
        text.static(f"wall{k}", solids.box(*size), (0.06 * x, 0.06 * y, 0.0705))
    tetrahedron = (np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.007, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]))
    shapes = [solids.box(0.013, 0.013, 0.013), tetrahedron, solids.lathe([(0, -0.008), (0.007, 0), (0, 0.008)], 6),
              solids.box(0.018, 0.01, 0.006)]
    rng = np.random.default_rng(7)
    for k in range(100):
        layer, cell = divmod(k, 16)
        place = (0.024 * (cell % 4 - 1.5), 0.024 * (cell // 4 - 1.5), 0.014 + 0.024 * layer)
        text.moving(f"part{k}", "affine", shapes[k % 4], place, tuple(rng.uniform(-3, 3, 3)), youngs_modulus_pa=1e7, density_kg_m3=1000.0)
    text.contact(0.3)
    text.line("solver { max_newton_iterations: 400 }")  # a few steps of the pile-up need more than the default


NEEDLE = solids.lathe([(0, -0.02), (0.0012, -0.012), (0.0012, 0.02), (0, 0.0201)], 6)

THICK = solids.lathe([(0, -0.02), (0.003, -0.012), (0.003, 0.02), (0, 0.0201)], 6)


def sieve(text, needle):
    """A needle at 20 m/s over a hole in a plate of 9 x 9 cells of 4 mm, every second one open on both sides.

    A step of 0.02 s is ten times the needle's length: what minimizes its energy may lie behind the plate, and a path there around its
    rim. Steps that are hard to solve are cut.
    """
    solid = np.ones((9, 9), bool)
    solid[1::2, 1::2] = False
    text.static("sieve", solids.voxels(solid, 4e-3, 2e-3))
    text.moving("needle", "affine", needle, (4e-3, 4.1e-3, 0.03), velocity=(0, 0, -20), youngs_modulus_pa=1e9, density_kg_m3=7800.0)
    text.contact(0.5, dhat=2e-4)
    text.line("solver { substep_newton_iterations: 20 }")


scene(0.1, "passes through the hole: 1 m below the sieve at least", lambda o: o.at("needle")[2] < -1, name="needle_through_sieve", needle=NEEDLE)(sieve)
scene(0.2, "thicker than the hole, it is stopped: its shaft stays above the sieve", lambda o: o.at("needle")[2] > 0.0,
      name="needle_on_sieve", needle=THICK)(sieve)


# --- where solvers stall ------------------------------------------------------------------------------------------------

@scene(0.5, "the light plate carries a block a million times its mass; both stand still",
       lambda o: o.calm and o.at("light")[2] > 5e-4 and o.at("heavy")[2] > 0.012)
def mass_ratio_1e6(text):
    text.static("floor", solids.sheet(0.1, 4))
    text.moving("light", "affine", solids.box(0.02, 0.02, 0.002), (0.001, 0, 0.0018), youngs_modulus_pa=1e9, density_kg_m3=1.0)
    text.moving("heavy", "affine", solids.box(0.02, 0.02, 0.02), (0, 0, 0.0136), youngs_modulus_pa=1e9, density_kg_m3=1e5)
    text.contact(0.5)


@scene(0.5, "the hard cube sinks into the soft block and stays on it", lambda o: 0.012 < o.at("hard")[2] < 0.036)
def stiff_on_soft(text):
    text.static("floor", solids.sheet(0.1, 4))
    text.moving("soft", "full_space", solids.tet_grid(0.04, 0.04, 0.02, (4, 4, 2)), (0, 0, 0.011), density_kg_m3=1000.0,
                youngs_modulus_pa=1e3, poissons_ratio=0.3, model="LOG_BARRIER_NEO_HOOKEAN")
    text.moving("hard", "full_space", solids.tet_grid(0.01, 0.01, 0.01, (1, 1, 1)), (0, 0, 0.027), density_kg_m3=3000.0,
                youngs_modulus_pa=1e9, poissons_ratio=0.3, model="LOG_BARRIER_NEO_HOOKEAN")
    text.contact(0.3)


@scene(0.1, "the ball at 50 m/s is stopped by the wall", lambda o: o.at("ball")[0] < 0.0)
def impact_at_50_m_s(text):
    text.static("wall", solids.box(0.02, 0.2, 0.2), (0.01, 0, 0))
    text.moving("ball", "full_space", solids.tet_grid(0.03, 0.03, 0.03, (4, 4, 4)), (-0.1, 0, 0), (0.3, 0.5, 0.2), velocity=(50, 0, 0),
                density_kg_m3=1000.0, youngs_modulus_pa=1e6, poissons_ratio=0.4, model="LOG_BARRIER_NEO_HOOKEAN")
    text.contact(0.2)


@scene(0.5, "the plates squeeze the sheet to under 60 % and let it go", lambda o: o.steps["target_error_m"][-1] == 0, still=(0.25, 0.3))
def squeezed_sheet(text):
    plate = solids.box(0.05, 0.05, 0.01)
    text.static("lower", plate, (0.001, 0, -0.0065))
    text.kinematic("upper", plate, [(t, (0, 0, z), (0, 0, 0)) for t, z in ((0, 0.0065), (0.25, 0.0052), (0.3, 0.0052), (0.5, 0.0065))])
    text.moving("sheet", "full_space", solids.tet_grid(0.04, 0.04, 0.001, (10, 10, 1)), (0, 0, 0), density_kg_m3=1000.0,
                youngs_modulus_pa=1e5, poissons_ratio=0.4, model="LOG_BARRIER_NEO_HOOKEAN")
    text.contact(0.3, dhat=2e-4)


@scene(0.4, "the crushing plate says how far it is behind its target, and is free again when it goes back",
       lambda o: o.steps["target_error_m"].max() > 1e-3 and o.steps["target_error_m"][-1] == 0, still=None, blocked=True)
def crushed_block(text):
    plate = solids.box(0.05, 0.05, 0.01)
    text.static("lower", plate, (0, 0, -0.0155))
    text.kinematic("upper", plate, [(t, (0, 0, z), (0, 0, 0)) for t, z in ((0, 0.0155), (0.1, -0.008), (0.2, -0.008), (0.4, 0.0155))])
    text.moving("block", "affine", solids.box(0.02, 0.02, 0.02), (0, 0, 0), **STIFF)
    text.contact(0.3)


@scene(1.2, "stops from 5 m/s where Coulomb says, 2.55 m along less v h / 2, within 1 %",
       lambda o: abs(o.at("block")[0] + 2.5 - 25 / G + 2.5 * o.report["dt_s"]) < 0.0255)
def fast_slider(text):
    text.static("floor", solids.sheet(3.0, 1))
    text.moving("block", "affine", solids.box(0.03, 0.02, 0.01), (-2.5, 0.003, 0.0056), velocity=(5, 0, 0), **STIFF)
    text.contact(0.5)
    text.line("start_in_equilibrium: true")
