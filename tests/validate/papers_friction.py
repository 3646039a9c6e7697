"""Larionov et al. 2023: a block that slides and stops, a bowl lifted at the limit of friction."""

from __future__ import annotations

import math


import block_slide
import bowl_grasp
from friction_modes import IMPLICIT, LAGGED, LAGGED_5, LAGGED_UNTIL_CONVERGED
from page import Page
from paper_records import NOT_PUBLISHED, Claim, PaperRecord
from scene_runs import SceneRun, run_scene, run_scenes
from validation import Context

# The paper's largest step for the trapezoidal rule, and finer ones; below 1e-3 s a step resolves the swing of the block that the onset of friction excites.
SLIDE_STEPS = (0.1, 0.05, 0.02, 0.01)
FINE_STEPS = (1e-3, 5e-4)
SLIDES = {
    "implicit, BE": ("BACKWARD_EULER", IMPLICIT, SLIDE_STEPS),
    "implicit, TR": ("TRAPEZOIDAL", IMPLICIT, (*SLIDE_STEPS, *FINE_STEPS)),
    "implicit, TR-BDF2": ("TR_BDF2", IMPLICIT, SLIDE_STEPS),
    "lagged once, BE": ("BACKWARD_EULER", LAGGED, SLIDE_STEPS),
    "lagged five times, BE": ("BACKWARD_EULER", LAGGED_5, SLIDE_STEPS),
    "lagged once, TR": ("TRAPEZOIDAL", LAGGED, SLIDE_STEPS),
    "lagged five times, TR": ("TRAPEZOIDAL", LAGGED_5, SLIDE_STEPS),
    "lagged until converged, TR": ("TRAPEZOIDAL", LAGGED_UNTIL_CONVERGED, SLIDE_STEPS),
    "lagged once, unsplit TR": ("TRAPEZOIDAL_UNSPLIT_CONTACT", LAGGED, SLIDE_STEPS),
}
FINE_DURATION_S = 18.0
SWING = ("the sudden onset of friction sets the feet swinging (2,140 rad/s and faster); the trapezoidal rule turns that into an alternation from step to step that it does not damp, "
         "of 0.3 to 0.6 mm/s, and a block slower than its feet is not braked by the whole of mu N, of which only 0.4 % is to spare. Backward Euler and TR-BDF2 "
         "end the swing, steps of 1 ms resolve it. The paper's block, its contact and its damping are not published")
SLIDE = "Larionov et al. 2023, Fig. 4"
SMOOTHED = 2 * block_slide.SLIP / block_slide.SPEED  # share of the time and of the distance, for smoothed friction
SAME_AS_IMPLICIT = ("its times are those of implicit friction at the same steps: what is off is the swing that the trapezoidal rule does not end, and which finer steps resolve; normal forces "
                    "and sliding frame are those of the end of the step once iterations converge")


class Slides:
    """Errors of time and distance to the stop, relative, by method and step; infinite where the block does not stop while the paper looks."""

    def __init__(self, context: Context) -> None:
        rest = run_scene(context, SceneRun("block at rest", block_slide.scene(0.0508, slide=False), 0.01, 0.01))
        scene = block_slide.scene(rest["bodies"]["block"]["position_m"][2], slide=True)
        self.cases = [(name, h) for name, (_, _, steps) in SLIDES.items() for h in steps]
        runs = []
        for name, h in self.cases:
            kind, mode, _ = SLIDES[name]
            duration = FINE_DURATION_S if h in FINE_STEPS else block_slide.DURATION_S
            runs.append(SceneRun(f"slide {name} h={h:g}", scene, h, duration, (*mode, f"solver.integrator={kind}"), "stop", block_slide._stop))
        self.found = dict(zip(self.cases, (report["measured"] for report in run_scenes(context, runs))))

    def error(self, name: str, h: float, quantity: str) -> float:
        value, exact = self.found[name, h][quantity], {"time": block_slide.STOP_TIME, "way": block_slide.STOP_DISTANCE}[quantity]
        return math.inf if value is None else abs(value / exact - 1)


def _judge_slide(slides: Slides, name: str, h: float) -> list[PaperRecord]:
    key = f"slide.{name.replace(', ', '_').replace(' ', '_')}.h={h:g}"
    time, way = slides.error(name, h, "time"), slides.error(name, h, "way")
    if name == "implicit, BE":
        # First order in a uniform deceleration: v0 h / 2 of the distance, one step of the time.
        claim = Claim(SLIDE, "stops after 15.38 s and 0.769 m: an accurate approximation at all but the largest step", "h/T of the time, h v0 / 2 of the distance, and twice eps_v / v0 for smoothing")
        return [claim.at_most(f"{key}.time_error", time, h / block_slide.STOP_TIME + SMOOTHED),
                claim.at_most(f"{key}.way_error", way, 0.5 * h * block_slide.SPEED / block_slide.STOP_DISTANCE + SMOOTHED)]
    if name == "implicit, TR-BDF2":
        claim = Claim(SLIDE, NOT_PUBLISHED, "an L-stable method ends the swing: h/T of the time and twice eps_v / v0 (before: five times)")
        return [claim.at_most(f"{key}.time_error", time, h / block_slide.STOP_TIME + SMOOTHED)]
    if name == "implicit, TR" and h in FINE_STEPS:
        claim = Claim(SLIDE, NOT_PUBLISHED, "the swing is resolved: h/T of the time and twice eps_v / v0")
        return [claim.at_most(f"{key}.time_error", time, h / block_slide.STOP_TIME + SMOOTHED)]
    if name == "implicit, TR":
        lagged = {q: slides.error("lagged once, BE", h, q) for q in ("time", "way")}
        records = []
        for quantity, ours, words in (("way", way, "TR gives a better distance than lagged BE at h = 0.1 s and lower"),
                                      ("time", time, "TR gives a time closer to the true one than lagged BE")):
            claim = Claim(SLIDE, words, "the error of lagged BE at the same step", "" if ours <= lagged[quantity] else SWING)
            records.append(claim.at_most(f"{key}.{quantity}_error", ours, lagged[quantity]))
        claim = Claim(SLIDE, "TR's time is not as accurate as BE's", "the error of implicit BE at the same step, a step at least: times are those of steps")
        return [*records, claim.at_least(f"{key}.time_error_over_BE", time / max(slides.error("implicit, BE", h, "time"), h / block_slide.STOP_TIME), 1.0)]
    return []


def _judge_lagged(slides: Slides) -> list[PaperRecord]:
    records = []
    for h in SLIDE_STEPS:
        claim = Claim(SLIDE, "lagged friction does not reach the true stop at large steps", "worse than implicit at the same step")
        records.append(claim.at_least(f"slide.lagged_once_BE.h={h:g}.way_error_over_implicit",
                                      slides.error("lagged once, BE", h, "way") / max(slides.error("implicit, BE", h, "way"), 1e-4), 1.0))
    five = [slides.error("lagged five times, BE", h, "time") for h in SLIDE_STEPS]
    worse = all(f > slides.error("implicit, BE", h, "time") for f, h in zip(five, SLIDE_STEPS))
    claim = Claim(SLIDE, "lagged BE does not converge to the true time under fixed-point iterations", "a time that is worse than implicit's at every step",
                  "" if worse else "ours does: an iteration takes normal forces and sliding frame of the one before, at the end of the same step")
    records.append(claim.equal("slide.lagged_five_times_BE.worse_than_implicit", worse, True))
    for name in ("lagged once, TR", "lagged five times, TR", "lagged until converged, TR"):
        records += _judge_lagged_tr(slides, name)
    stopped = sum(slides.found["lagged once, unsplit TR", h]["time"] is not None for h in SLIDE_STEPS)
    claim = Claim(SLIDE, "with TR as the IPC code has it the box does not stop within 50 s at any step", "steps at which it stops", "" if stopped == 0 else
                  "ours applies contact and lagged friction at the end of the step alone and stops it where lagged backward Euler does; what makes the IPC code's friction fail is not in the paper")
    return [*records, claim.at_most("slide.lagged_once_unsplit_TR.stops", stopped, 0)]


def _judge_lagged_tr(slides: Slides, name: str) -> list[PaperRecord]:
    """How many fixed-point iterations the paper's lagged TR takes is not published: each number is judged by all that it says of it."""
    key = f"slide.{name.replace(', ', '_').replace(' ', '_')}"
    flies = [h for h in SLIDE_STEPS if slides.found[name, h]["rise"] > block_slide.FLIES_M]
    left = f"; at h = {', '.join(f'{h:g}' for h in flies)} s it leaves the slope" if flies else ""
    times, ways = ([slides.error(name, h, quantity) for h in SLIDE_STEPS] for quantity in ("time", "way"))
    ipc = [slides.error("lagged once, BE", h, "way") for h in SLIDE_STEPS]
    better, stops = all(w < i for w, i in zip(ways, ipc)), all(math.isfinite(t) for t in times)
    finest = SLIDE_STEPS[-1]
    unreliable = times[-1] > max(finest / block_slide.STOP_TIME + SMOOTHED, slides.error("implicit, TR", finest, "time"))
    stalls = "" if stops else f"with this many iterations the block does not stop at every step{left}"
    agrees = stalls or ("" if unreliable else SAME_AS_IMPLICIT)
    return [Claim(SLIDE, "lagged TR, integrated as in Eq. 25, stops reliably", "it stops at every step within 50 s (added later)", stalls).equal(f"{key}.stops", stops, True),
            Claim(SLIDE, "lagged TR, integrated as in Eq. 25, has a more accurate distance than IPC", "the error of lagged BE, taken once, at the same steps (added later)",
                  "" if better else stalls or "not at every step").equal(f"{key}.distance_better_than_lagged_BE", better, True),
            Claim(SLIDE, "lagged TR gives no reliable time, even under refinement",
                  f"at h = {finest:g} s beyond h/T and twice eps_v / v0, and farther off than implicit friction (before: at some step beyond h/T and that)", agrees)
            .equal(f"{key}.time_unreliable", unreliable, True)]


def run_slide(context: Context, page: Page) -> list[PaperRecord]:
    """Figure 4."""
    slides = Slides(context)
    records = [record for name, h in slides.cases for record in _judge_slide(slides, name, h)] + _judge_lagged(slides)
    refined = Claim(SLIDE, NOT_PUBLISHED, "TR converges: once h resolves the swing its error falls below that of h = 0.01 s")
    records.append(refined.at_most("slide.TR.refined_over_0.01", slides.error("implicit, TR", FINE_STEPS[-1], "time") / slides.error("implicit, TR", 0.01, "time"), 0.5))
    page.section("Larionov et al. 2023: block slide (Fig. 4)")
    page.text(f"""The scene of `./dev validate friction`. {block_slide.STOPPED} A dash: not within {block_slide.DURATION_S:g} s (steps below 0.01 s: {FINE_DURATION_S:g} s), or
        not run. A block at rest creeps by less than ε_v = {1e3 * block_slide.SLIP:g} mm/s: the smoothed law asks for it. Where it rises by centimetres it has left the slope, on which friction
        that is lagged once has thrown it: its forces are those of the step before, and the trapezoidal rule does not damp what that excites.""")
    steps = (*SLIDE_STEPS, *FINE_STEPS)
    for quantity, heading, unit in (("time", f"time to stop (s; exact {block_slide.STOP_TIME:.2f})", 1), ("way", f"distance (m; exact {block_slide.STOP_DISTANCE:.4f})", 1),
                                    ("creep", "speed along the slope in the last tenth of the run (mm/s)", 1e3), ("rise", "most of its height over the start's (mm)", 1e3)):
        values = {key: of[quantity] for key, of in slides.found.items()}
        page.table([heading, *(f"h = {h:g}" for h in steps)],
                   [[name, *(None if values.get((name, h)) is None else unit * values[name, h] for h in steps)] for name in SLIDES])
    return records


def run_bowl(context: Context, page: Page) -> list[PaperRecord]:
    """Figures 1 and 5, from the runs of `./dev validate friction`."""
    figures, inner = "Larionov et al. 2023, Figs. 1, 5", Page("Bowl", "")
    found = {r.name: float(r.value) for r in bowl_grasp.run_bowl_grasp(context, inner) if r.name.endswith(("creep", "minimum"))}
    records = []
    # In a step the load of the shaken bowl grows by at most this share: lagged friction holds while that is below what the grip has to spare, MARGIN when it is
    # set. What the grip of a bowl that sticks has at the end is measured.
    growth = {h: 0.3 * 2 * math.pi * bowl_grasp.SHAKE_HZ * h for h in bowl_grasp.STEPS_S}
    spare = {h: found[f"bowl.implicit.h={h:g}.grip_over_minimum"] - 1 for h in bowl_grasp.STEPS_S}
    for h in (0.005, 0.0025, 0.00125):
        sticks = Claim(figures, "implicit friction sticks at every step", "twice the creep of the smoothed law")
        records.append(sticks.at_most(f"bowl.implicit.h={h:g}.lost_over_creep", found[f"bowl.implicit.h={h:g}.lost_over_creep"], 2.0))
        why = (f"ours takes the normal force of one step before, in which the load grows by {100 * growth[h]:.1f} % at most; the grip of a bowl that sticks has {100 * spare[h]:.1f} % to spare at the end: the {100 * (bowl_grasp.MARGIN - 1):.0f} % "
               "that it starts with and what creep adds. The paper's sizes, pad force and motion are not published")
        slips = Claim(figures, "lagged friction slips (frames 35, 40, 100)", "more than twice the creep of the smoothed law", why)
        records.append(slips.at_least(f"bowl.lagged.h={h:g}.lost_over_creep", found[f"bowl.lagged.h={h:g}.lost_over_creep"], 2.0))
        converged = Claim(figures, NOT_PUBLISHED, "once iterations converge, lagged friction is that of the end of the step, as implicit friction: it cannot slip where that sticks (added later)")
        records.append(converged.at_most(f"bowl.converged_lag.h={h:g}.lost_over_creep", found[f"bowl.converged lag.h={h:g}.lost_over_creep"], 2.0))
    for h in bowl_grasp.STEPS_S:
        grows, slid = growth[h] > bowl_grasp.MARGIN - 1, found[f"bowl.lagged.h={h:g}.lost_over_creep"] > 2
        why = "" if slid == grows else f"creep adds to the grip: a bowl that sticks has {100 * spare[h]:.1f} % to spare at the end"
        predicted = Claim(figures, NOT_PUBLISHED, f"slips where the load grows by more in a step, {100 * growth[h]:.1f} %, than the grip has to spare when it is set, {100 * (bowl_grasp.MARGIN - 1):.0f} % (before: what it has at the end)", why)
        records.append(predicted.equal(f"bowl.lagged.h={h:g}.slips", slid, grows))
    page.section("Larionov et al. 2023: bowl grasp (Figs. 1, 5)")
    page.text("The runs of `./dev validate friction`, which has the scene; how far the bowl sinks against the pads over what the smoothed law creeps.")
    page.table(["run", "lost over creep", "grip over minimum at the end"],
               [[f"{m}, h = {h:g} s", found[f"bowl.{m}.h={h:g}.lost_over_creep"], found[f"bowl.{m}.h={h:g}.grip_over_minimum"]] for m in bowl_grasp.METHODS for h in bowl_grasp.STEPS_S])
    page.figure("bowl.png", "Height of the bowl over that of the pads")
    return records
