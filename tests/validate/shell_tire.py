"""Larionov et al. 2023, V-C2 and Fig. 11: an inflated tire of two shells' stiffness is pressed on the ground and turned by its rim until it wrinkles and slips."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

import numpy as np

import sheets
import solids
from scene_text import SceneText, trajectory
from validation import Context

# Published: pressure over that of the air, Pa; E t (N/m), areal density (kg/m^2) and bending of the outer part, which is the tread, and of the inner
# one, the sidewalls; Poisson's ratio; friction; step. The paper's bending constant k is a third of D = 3 k (shell_body.h).
PRESSURE = 68.9e3
TREAD_YOUNGS, TREAD_MASS, TREAD_BENDING = 400e3, 200.0, 3 * 0.56
SIDE_YOUNGS, SIDE_MASS, SIDE_BENDING = 200e3, 50.0, 3 * 0.01
POISSON, SLIDING, STATIC, STEP = 0.49, 0.5, 1.5, 0.00125
# Ours, because the paper has none: the shape, (radius, half of the width) of one half from rim to tread, which is rounded; metres.
OUTLINE = ((0.203, 0.200), (0.24, 0.222), (0.33, 0.242), (0.41, 0.236), (0.452, 0.214), (0.460, 0.17), (0.462, 0.08), (0.463, 0.0))
TREAD_RADIUS, AROUND, RIM_ROWS = 0.44, 48, 8
CONTACT_THICKNESS, DHAT, EPS_V, STRIBECK = 0.004, 0.002, 0.02, 1.0  # m, m/s
# What fills it, over the air's pressure at the shape without stress: it inflates to the published pressure.
FILLING_PA = 82e3
DAMPING = "rayleigh_alpha_per_s: 3 rayleigh_beta_s: 0.002"
START_M, PRESSED_M = 0.515, 0.38  # heights of the axle
INFLATED_S, PRESSED_S, TURN_S, SPIN_UP_S, END_S = 0.08, 0.24, 0.36, 0.4, 1.0  # of the turning: its start, how long it speeds up, the end of the run
TURN_RAD_S = 6.0
TIE_N_M = 1e9  # of the joint that holds the belt, all its vertices together
BODIES = ("tire", "belt")
SECTIONS = 360  # of a sidewall, by angle


@dataclass(frozen=True, eq=False)
class Tire:
    """vertices [n,3] about the y axis, triangles [m,3] outwards, rim: vertices that are driven, tread: triangles, sides: one ring of vertices in each sidewall, middle height."""

    vertices: np.ndarray
    triangles: np.ndarray
    rim: np.ndarray
    tread: np.ndarray
    sides: tuple[np.ndarray, np.ndarray]


def _rounded(points: Sequence[tuple[float, float]]) -> np.ndarray:
    """Chaikin's corner cutting, both ends kept."""
    line = np.asarray(points, float)
    for _ in range(4):
        inner = np.stack([0.75 * line[:-1] + 0.25 * line[1:], 0.25 * line[:-1] + 0.75 * line[1:]], axis=1).reshape(-1, 2)
        line = np.concatenate([line[:1], inner, line[-1:]])
    return line


def _outline(around: int) -> np.ndarray:
    """(radius, y) of the rings from one bead over the tread to the other: as far apart as makes triangles nearly equilateral."""
    half = _rounded(OUTLINE)
    line = np.concatenate([half * (1, -1), half[-2::-1]])
    length = np.linalg.norm(np.diff(line, axis=0), axis=1)
    weight = length / (0.5 * (line[1:, 0] + line[:-1, 0])) * around / (math.sqrt(3) * math.pi)
    at = np.concatenate([[0.0], np.cumsum(weight)])
    rows = 2 * round(at[-1] / 2)
    places = np.linspace(0, at[-1], rows + 1)
    return np.stack([np.interp(places, at, line[:, k]) for k in range(2)], axis=1)


def tire(around: int = AROUND) -> Tire:
    outer = _outline(around)
    radius, width = OUTLINE[0]
    rim = np.stack([np.full(RIM_ROWS - 1, radius), np.linspace(width, -width, RIM_ROWS + 1)[1:-1]], axis=1)
    rings = np.concatenate([outer, rim])
    count = len(rings)
    if count % 2:
        raise ValueError("every other ring is shifted by half an edge, so their number has to be even")
    angles = 2 * math.pi * (np.arange(around)[None] + 0.5 * (np.arange(count)[:, None] % 2)) / around
    vertices = np.stack([rings[:, :1] * np.cos(angles), np.broadcast_to(rings[:, 1:], angles.shape), -rings[:, :1] * np.sin(angles)], axis=2).reshape(-1, 3)
    triangles = []
    for k in range(count):
        for i in range(around):
            j = (i + 1) % around
            a, b, c, d = around * k + i, around * k + j, around * ((k + 1) % count) + i, around * ((k + 1) % count) + j
            triangles += [(a, b, c), (b, d, c)] if k % 2 == 0 else [(a, b, d), (a, d, c)]
    triangles = np.array(triangles)
    ring_of = np.repeat(np.arange(count), around)
    held = np.flatnonzero((ring_of == 0) | (ring_of >= len(outer) - 1))
    tread = np.flatnonzero((rings[ring_of[triangles], 0] > TREAD_RADIUS).all(axis=1))
    middle = 0.5 * (radius + TREAD_RADIUS)
    low, high = (int(np.argmin(np.abs(outer[:, 0] - middle) + (outer[:, 1] * side < 0))) for side in (-1, 1))
    return Tire(vertices, triangles, held, tread, (np.flatnonzero(ring_of == low), np.flatnonzero(ring_of == high)))


def turned(time: float) -> float:
    """Angle of the rim, rad: it speeds up evenly, then turns at TURN_RAD_S."""
    t = max(0.0, time - TURN_S)
    return 0.5 * TURN_RAD_S * t * t / SPIN_UP_S if t < SPIN_UP_S else TURN_RAD_S * (t - 0.5 * SPIN_UP_S)


def axle_height(time: float) -> float:
    s = min(1.0, max(0.0, (time - INFLATED_S) / (PRESSED_S - INFLATED_S)))
    return START_M + (PRESSED_M - START_M) * s**3 * (10 - 15 * s + 6 * s * s)


def belt(mesh: Tire) -> sheets.Mesh:
    """The tread alone, its vertices numbered anew."""
    used, triangles = np.unique(mesh.triangles[mesh.tread], return_inverse=True)
    return mesh.vertices[used], triangles.reshape(-1, 3)


def _fields(mass: float, youngs: float, bending: float) -> str:
    return (f"thickness_m: {CONTACT_THICKNESS!r} mass_per_area_kg_m2: {mass!r} membrane_youngs_n_m: {youngs!r} bending_stiffness_nm: {bending!r}")


def tire_scene(static_friction: float, around: int = AROUND) -> SceneText:
    """The whole tire is a closed shell of the sidewalls' sheet. What the tread has beyond that, a belt, is attached to it vertex by vertex: energies add up, so both together are the tread."""
    mesh = tire(around)
    text = SceneText("tire")
    times = np.linspace(0, END_S, round(END_S / 0.01) + 1).tolist()
    keys = [(t, (0.0, 0.0, axle_height(t)), (0.0, turned(t), 0.0)) for t in times]
    rim = f'boundary_sets {{ name: "rim" {" ".join(f"vertices: {v}" for v in mesh.rim)} {trajectory(keys)} }}'
    filling = f"enclosed_volumes {{ region: WHOLE law: IDEAL_GAS overpressure_pa: {FILLING_PA!r} }}"
    material = f"poissons_ratio: {POISSON!r} {DAMPING}"
    text.shell("tire", (mesh.vertices, mesh.triangles), (0, 0, START_M), fields=_fields(SIDE_MASS, SIDE_YOUNGS, SIDE_BENDING), material=material, extra=f"{rim} {filling}")
    tread = belt(mesh)
    text.shell("belt", tread, (0, 0, START_M), fields=_fields(TREAD_MASS - SIDE_MASS, TREAD_YOUNGS - SIDE_YOUNGS, TREAD_BENDING - SIDE_BENDING), material=material)
    text.line(f'joints {{ name: "tread" body_a: "belt" body_b: "tire" stiffness_n_m: {TIE_N_M!r} attachment {{ box {{ min_m {{ x: -9 y: -9 z: -9 }} max_m {{ x: 9 y: 9 z: 9 }} }} }} }}')
    text.static("ground", solids.sheet(1.5, 2), (0.013, 0.007, 0))
    text.contact(SLIDING, dhat=DHAT, eps_v=EPS_V, more=f"static_friction_coefficient: {static_friction!r} stribeck_velocity_m_s: {STRIBECK!r} friction_mode: IMPLICIT")
    text.line("solver { newton_tolerance_m_s: 2e-3 max_newton_iterations: 200 audit_every_n_steps: 1 }")
    return text


def run_tire(context: Context, static_friction: float, around: int = AROUND, step: float = STEP) -> dict[str, Any]:
    """By step: time, forces of the ground and their moment about the axle, slip, what fills it, how it was solved; shapes and sidewalls at some times."""
    path = tire_scene(static_friction, around).write(context.scratch / "scenes" / f"tire {static_friction:g} {around} {step:g}")

    def make() -> dict[str, Any]:
        from grasp_client import eipc  # needs the Python client's messages
        observe = eipc.Observe(contact_wrenches=True, poses=True, solver_report=True, volumes=True, surface_positions=True)
        watch = _Watch(tire(around), step)
        with eipc.launch_server(context.server) as server, server.client(default_timeout=600.0) as client:
            with client.create_scene(path).create_session() as session, session.stream() as stream:
                for one in stream.run({"dt": step, "observe": observe} for _ in range(round(END_S / step))):
                    watch.see(one)
        return watch.found()

    inputs: list[Path] = sorted(path.parent.iterdir())
    return context.kept.get(inputs, [step, END_S, "tire"], make)


class _Watch:
    """Gathers what a run shows."""

    def __init__(self, mesh: Tire, step: float) -> None:
        self._mesh, self._step = mesh, step
        self._tread = np.unique(mesh.triangles[mesh.tread])
        self._series: dict[str, list[Any]] = {name: [] for name in ("time_s", "normal_n", "traction_n", "moment_nm", "slip_m_s", "volume_m3", "overpressure_pa", "converged",
                                                                    "iterations", "intersections", "distance_over_separation")}
        self._shapes: list[np.ndarray] = []
        self._before: Any = None

    def see(self, one: Any) -> None:
        time = (len(self._series["time_s"]) + 1) * self._step
        x = np.asarray(one.bodies["tire"].surface_positions)
        report, filling = one.solver_report, one.bodies["tire"].volumes[0]
        force, about = one.contact_wrench_on(*BODIES, about=(0, 0, axle_height(time)))
        normal = sum(float(wrench.normal_force[2]) for wrench in one.contact_wrenches.values() if wrench.body in BODIES and wrench.other == "ground")
        touching = self._tread[x[self._tread, 2] < CONTACT_THICKNESS / 2 + DHAT]
        slip = 0.0 if self._before is None or not len(touching) else float(np.abs(x[touching, 0] - self._before[touching, 0]).mean() / self._step)
        self._before = x
        row = {"time_s": time, "normal_n": normal, "traction_n": float(force[0]), "moment_nm": float(about[1]), "slip_m_s": slip, "volume_m3": filling.volume_m3, "overpressure_pa": filling.overpressure_pa,
               "converged": bool(report.converged), "iterations": report.newton_iterations, "intersections": report.audit.intersections,
               "distance_over_separation": report.audit.least_relative_distance}
        for name, value in row.items():
            self._series[name].append(value)
        self._shapes.append(x.astype(np.float32))

    def found(self) -> dict[str, Any]:
        times = np.asarray(self._series["time_s"])
        at = {"pressed": int(np.argmin(np.abs(times - TURN_S))), "peak": int(np.argmax(np.abs(self._series["moment_nm"]))), "end": len(times) - 1}
        sides = [[sidewall(x[ring] - (0, 0, axle_height(time))) for ring in self._mesh.sides] for time, x in zip(times, self._shapes)]
        pressed = sides[at["pressed"]]
        self._series["lobes"] = [[lobes(side - before, CONTACT_THICKNESS) for side, before in zip(now, pressed)] for now in sides]
        return {"series": self._series, "at": at, "sides": {name: np.round(sides[k], 6).tolist() for name, k in at.items()},
                "shapes": {name: self._shapes[k].round(5).tolist() for name, k in at.items()}}


def sidewall(ring: np.ndarray) -> np.ndarray:
    """How far a ring [n,3] about the y axis bulges, m, at SECTIONS equal angles about the axle."""
    angle = np.arctan2(ring[:, 0], -ring[:, 2])
    order = np.argsort(angle)
    at = -math.pi + 2 * math.pi * np.arange(SECTIONS) / SECTIONS
    return np.interp(at, angle[order], np.abs(ring[order, 1]), period=2 * math.pi)


def lobes(profile: np.ndarray, least: float) -> int:
    """Maxima of a periodic profile that stand out by at least `least` from the lowest points between them and a higher one on either side."""
    profile = np.asarray(profile, float)
    count, n = 0, len(profile)
    for i in np.flatnonzero((profile > np.roll(profile, 1)) & (profile >= np.roll(profile, -1))):
        keys = []
        for way in (1, -1):
            around = np.roll(profile, -i)[1:] if way == 1 else np.roll(profile, -i)[:0:-1]
            higher = np.flatnonzero(around > profile[i])
            keys.append(around[:higher[0] + 1 if len(higher) else n].min())
        count += profile[i] - max(keys) >= least
    return int(count)
