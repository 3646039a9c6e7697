"""What the runs of shell_tire.py must show, its page and its pictures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import shell_tire
from page import RecordsTable
from validation import Context, Record, at_least, at_most, equal, reported, within

FINE_AROUND = 64
# Name of a case: its coefficient at rest, vertices around. `coulomb` has no fall of friction with the speed.
CASES = {"stribeck": (shell_tire.STATIC, shell_tire.AROUND), "coulomb": (shell_tire.SLIDING, shell_tire.AROUND), "stribeck_fine": (shell_tire.STATIC, FINE_AROUND)}
AIR_PA = 101325.0
PLATEAU_S = 0.2  # the end of the run, whose mean is the plateau
PICTURE, CURVES = "shells_tire.png", "shells_tire_moment.png"

PAGE = RecordsTable(
    "Shells", f"""Larionov et al. 2023, V-C2 and Fig. 11: a tire, a closed shell whose rim is driven, is filled with gas, pressed on the ground by its axle and turned until it slips. A scene's shell
    has one material: the whole tire is a shell of the sidewalls' sheet, and what the tread has beyond it a second one that is attached to it vertex by vertex, so that energies and masses add up to those of the tread.
    Criteria were written before anything was measured. *Published*: {shell_tire.PRESSURE / 1e3:g} kPa over the air's pressure; tread E t = {shell_tire.TREAD_YOUNGS / 1e3:g} kN/m, {shell_tire.TREAD_MASS:g} kg/m² (which looks
    tenfold too high, and is kept), D = 3 k = {shell_tire.TREAD_BENDING:g} N m; sidewalls {shell_tire.SIDE_YOUNGS / 1e3:g} kN/m, {shell_tire.SIDE_MASS:g} kg/m², {shell_tire.SIDE_BENDING:g} N m; ν = {shell_tire.POISSON}; friction
    {shell_tire.SLIDING} of sliding and {shell_tire.STATIC} at rest; h = {1e3 * shell_tire.STEP:g} ms; 46,000 vertices. *Ours*, because the paper has none: the shape (radius {shell_tire.OUTLINE[-1][0]} m, width
    {2 * max(w for _, w in shell_tire.OUTLINE)} m, rim {shell_tire.OUTLINE[0][0]} m), {len(shell_tire.tire().vertices):,} vertices and {len(shell_tire.belt(shell_tire.tire())[0]):,} of the belt, plane stress, contact thickness {1e3 * shell_tire.CONTACT_THICKNESS:g} mm, damping, Stribeck velocity
    {shell_tire.STRIBECK} m/s, axle {shell_tire.PRESSED_M} m over the ground, the rim's speed (to {shell_tire.TURN_RAD_S:g} rad/s in {shell_tire.SPIN_UP_S:g} s), and a filling of {shell_tire.FILLING_PA / 1e3:g} kPa in the shape without stress,
    so that the tire inflates to the published pressure. Load and Stribeck velocity were chosen by trial runs: with the axle at 0.445 m (5 kN) no lobes came up before the tire slipped, and with 0.1 m/s slip that began at one
    end of the patch ran through it at a traction of 0.6 of the load. *Lobes*: on the ring of vertices in the middle of a sidewall, maxima of what it bulges at each angle about the axle beyond the pressed tire that is not yet turned, which stand out from
    the lowest points beside them by at least the contact thickness. *Moment*: of the ground's forces about the axle; the *plateau* is the mean of the last {PLATEAU_S:g} s. *Slip*: mean speed along the ground of the tread's vertices
    that touch it. `stribeck` has the published coefficients, `coulomb` {shell_tire.SLIDING} for both; `stribeck_fine`
    is `stribeck` with {FINE_AROUND} vertices around instead of {shell_tire.AROUND} ({len(shell_tire.tire(FINE_AROUND).vertices):,} in all), and is what the picture shows.
    What is not met: at the peak the sidewall has one deep fold from the rim to the end of the patch and no ripples beside it, with the finer mesh as well; more come up when the tread slides, and vanish. The load swings while it slides, and the moment
    of `coulomb` with it, so that its mean is below its largest value; traction over load has no fall. p R / E t is the strain of a cylinder that does not grow; this one grows, and is pressed. Before the peak the finer tire presses for a moment with just under half of its load.""",
    {"intersections": "intersections", "distance_over_separation": "least distance over separation", "steps_not_converged": "steps not converged", "newton_iterations": "Newton iterations a step",
     "lobes": "lobes of a sidewall at the peak", "plateau_over_peak": "plateau over peak of the moment", "sliding_friction": "traction over load, plateau"},
    case="case", pictures=((PICTURE, "Pressed, at the peak of the moment, and sliding; the tread is darker"), (CURVES, "Moment of the ground about the axle, lobes of a sidewall, slip of the tread")))


def judge_tire(context: Context) -> list[Record]:
    """Draws the page's pictures as well."""
    records, runs = tire_records(context)
    draw(context, runs)
    return records


def tire_records(context: Context) -> tuple[list[Record], dict[str, Any]]:
    """With the runs, by case."""
    found = context.each([lambda case=case: shell_tire.run_tire(context, *case) for case in CASES.values()], [f"tire {name}" for name in CASES])
    runs = dict(zip(CASES, found))
    records = [record for name, run in runs.items() for record in _sound(f"tire.{name}", run)]
    records += _inflated(runs["stribeck"]) + _wrinkled("tire.stribeck", runs["stribeck"]) + _wrinkled("tire.stribeck_fine", runs["stribeck_fine"]) + _without_fall("tire.coulomb", runs["coulomb"])
    return records, runs


def measures(run: dict[str, Any]) -> dict[str, Any]:
    """Figures of one run that several records need."""
    series = {name: np.asarray(values, float) for name, values in run["series"].items() if name != "lobes"}
    moment, pressed, peak = np.abs(series["moment_nm"]), run["at"]["pressed"], run["at"]["peak"]
    last = series["time_s"] > series["time_s"][-1] - PLATEAU_S
    half = pressed + int(np.argmax(moment[pressed:] >= 0.5 * moment[peak]))
    return {"series": series, "pressed": pressed, "peak_moment": moment[peak], "plateau_over_peak": moment[last].mean() / moment[peak],
            "sliding_friction": np.abs(series["traction_n"][last]).mean() / series["normal_n"][last].mean(),
            "peak_friction": float(np.abs(series["traction_n"])[peak] / series["normal_n"][peak]),
            "slip_on_the_way": series["slip_m_s"][pressed:half + 1].mean(), "slip_at_the_end": series["slip_m_s"][last].mean(),
            "lobes": min(run["series"]["lobes"][peak]), "most_lobes": max(min(sides) for sides in run["series"]["lobes"]),
            "least_load": series["normal_n"][pressed:].min() / series["normal_n"][pressed]}


def _sound(name: str, run: dict[str, Any]) -> list[Record]:
    """Issue: no state intersects or is nearer than its separation by the exact audit, 99 % of the steps converge."""
    series = run["series"]
    least = [value for value in series["distance_over_separation"] if value is not None]
    return [equal(f"{name}.intersections", sum(series["intersections"]), 0), at_least(f"{name}.distance_over_separation", min(least, default=math.inf), 1.0),
            at_most(f"{name}.steps_not_converged", 1 - float(np.mean(series["converged"])), 0.01), reported(f"{name}.newton_iterations", float(np.mean(series["iterations"])))]


def _inflated(run: dict[str, Any]) -> list[Record]:
    """The published pressure, by our filling, before the turning; gas of one temperature keeps its pressure times its volume; the hoop of the tread stretches by p R / E t at most."""
    found = measures(run)
    series, pressed = found["series"], found["pressed"]
    product = (series["overpressure_pa"] + AIR_PA) * series["volume_m3"]
    mesh = shell_tire.tire()
    tread = np.unique(mesh.triangles[mesh.tread])
    middle = tread[np.abs(mesh.vertices[tread, 1]) < 0.03]
    shape = np.asarray(run["shapes"]["pressed"])[middle] - (0, 0, shell_tire.PRESSED_M)
    hoop = np.hypot(shape[:, 0], shape[:, 2]) / np.hypot(mesh.vertices[middle, 0], mesh.vertices[middle, 2]) - 1
    return [within("tire.pressure_over_published", series["overpressure_pa"][pressed] / shell_tire.PRESSURE, 0.95, 1.05),
            at_most("tire.gas_law", float(np.ptp(product) / product.mean()), 1e-6),
            at_least("tire.least_pressure_of_the_turn_over_pressed", series["overpressure_pa"][pressed:].min() / series["overpressure_pa"][pressed], 0.95),
            at_most("tire.hoop_strain_of_the_tread", float(np.quantile(hoop, 0.9)), shell_tire.PRESSURE * shell_tire.OUTLINE[-1][0] / shell_tire.TREAD_YOUNGS)]


def _wrinkled(name: str, run: dict[str, Any]) -> list[Record]:
    """At least three lobes, a fall of the moment by 30 % or more; stuck at first, then dragged, in contact all the time (the paper's text); sliding friction by its law."""
    found = measures(run)
    series, pressed = found["series"], found["pressed"]
    return [at_least(f"{name}.lobes", found["lobes"], 3), reported(f"{name}.most_lobes", found["most_lobes"]), at_most(f"{name}.plateau_over_peak", found["plateau_over_peak"], 0.7),
            within(f"{name}.sliding_friction", found["sliding_friction"], 0.9 * shell_tire.SLIDING, 1.1 * shell_tire.SLIDING),
            within(f"{name}.peak_friction", found["peak_friction"], 0.5 * (shell_tire.SLIDING + shell_tire.STATIC), 1.01 * shell_tire.STATIC),
            at_most(f"{name}.slip_before_half_of_the_peak", found["slip_on_the_way"], shell_tire.STRIBECK, "m/s"), at_least(f"{name}.slip_of_the_plateau", found["slip_at_the_end"], shell_tire.STRIBECK, "m/s"),
            at_least(f"{name}.least_load_over_pressed", found["least_load"], 0.5), reported(f"{name}.load", series["normal_n"][pressed], "N"),
            reported(f"{name}.peak_moment", found["peak_moment"], "Nm")]


def _without_fall(name: str, run: dict[str, Any]) -> list[Record]:
    """Equal coefficients leave no fall: less than half of what is asked of the other case."""
    found = measures(run)
    return [at_least(f"{name}.plateau_over_peak", found["plateau_over_peak"], 0.85), within(f"{name}.sliding_friction", found["sliding_friction"], 0.9 * shell_tire.SLIDING, 1.1 * shell_tire.SLIDING),
            reported(f"{name}.lobes", found["lobes"]), reported(f"{name}.peak_moment", found["peak_moment"], "Nm")]


def draw(context: Context, runs: dict[str, Any]) -> None:
    """The pictures of the page."""
    import grasp_client  # noqa: F401: puts the client on the path
    from eipc.viz.camera import Camera
    from eipc.viz.png import write_png
    from eipc.viz.render import Ground, Item, render
    from study_plots import plot_tire

    mesh = shell_tire.tire(FINE_AROUND)
    colors = np.full((len(mesh.vertices), 3), (0.55, 0.57, 0.62))
    colors[np.unique(mesh.triangles[mesh.tread])] = (0.20, 0.20, 0.22)
    colors[mesh.rim] = (0.72, 0.74, 0.78)
    camera = Camera((0.55, 1.6, 0.35), (0.03, 0.0, 0.40), vertical_fov_deg=36)
    panels = [render([Item(np.asarray(runs["stribeck_fine"]["shapes"][at]), mesh.triangles, colors, wire=0.25, gloss=0.3)], camera, 420, 400, Ground(0.0, grid_m=0.2, fade_m=4.0))
              for at in ("pressed", "peak", "end")]
    context.figures.mkdir(parents=True, exist_ok=True)
    write_png(context.figures / PICTURE, np.concatenate(panels, axis=1))
    plot_tire(context.figures / CURVES, {name: run["series"] for name, run in runs.items()})
