"""A strip that is drawn over a bar: tensions of its ends by the force and the moment that it exerts on the bar."""

from __future__ import annotations

import math

import numpy as np

import sheets
import solids
from scene_text import SceneText, held
from shell_statics import gap_of, shell_fields
from validation import Context, Record, at_most, reported, within

RADIUS, WIDTH, SIDE, EDGE = 0.02, 0.008, 0.06, 0.002  # m: bar; strip, what hangs on each side, its cells
THICKNESS, DHAT, STIFFNESS = 2e-4, 4e-4, 1e7
SLACK = 25.0  # N/m: tension of the side that is drawn, by width
SPEED, SECONDS = 0.05, 0.8
FRICTION, STEPS_S = (0.2, 0.3, 0.5), (0.02, 0.005)


def middle_radius(mu: float) -> float:
    """To the middle of the strip, at the mean tension."""
    return RADIUS + THICKNESS / 2 + gap_of(SLACK * (1 + math.exp(mu * math.pi)) / 2 / RADIUS, STIFFNESS, DHAT)


def capstan(mu: float) -> SceneText:
    """One side is pulled down by a constant force, the other one is driven down: the strip slides over half a turn of the bar."""
    out = middle_radius(mu)
    total = 2 * SIDE + math.pi * out
    vertices, triangles = sheets.right_grid(total, WIDTH, round(total / EDGE), 4)
    along = vertices[:, 0]
    angle = np.clip((along - SIDE) / out, 0, math.pi)
    down = np.maximum(SIDE - along, 0) + np.maximum(along - SIDE - math.pi * out, 0)
    placed = np.stack([-out * np.cos(angle), vertices[:, 1], out * np.sin(angle) - down], axis=1)
    text = SceneText("capstan")
    text.gravity = (0, 0, 0)
    text.static("bar", solids.cylinder(RADIUS, 0.1, 96), (0, 0, 0), (math.pi / 2, 0, 0))
    keys = [(0.0, (0, 0, 0), (0, 0, 0)), (SECONDS, (0, 0, -SPEED * SECONDS), (0, 0, 0))]
    text.shell("strip", (placed, triangles), rest=(vertices, triangles), material="rayleigh_beta_s: 0.002",
               fields=shell_fields(THICKNESS, 0.2, 5000.0, 1e-8, "flat_rest_angles: true"),
               extra=held("drawn", (0, -1, -1), (1, 1, 1e-9 - SIDE), keys))
    slack = np.nonzero(along < 1e-9)[0]
    far = 1e4
    for k, v in enumerate(slack):
        share = 0.5 if k in (0, len(slack) - 1) else 1.0
        x, y, z = placed[v].tolist()
        text.line(f'joints {{ name: "slack{k}" body_a: "strip" spring {{ point_m {{ x: {x!r} y: {y!r} z: {z!r} }} point_b_m {{ x: {x!r} y: {y!r} z: {-far!r} }} '
                  f'spring_n_m: {share * SLACK * WIDTH / (len(slack) - 1) / far!r} rest_length_m: 0 }} }}')
    text.contact(mu, dhat=DHAT, eps_v=1e-4, more=f"friction_mode: IMPLICIT area_stiffness_n_m3: {STIFFNESS!r} self_contact: false")
    text.line("solver { newton_tolerance_m_s: 1e-5 max_newton_iterations: 200 }")
    return text


def tensions(context: Context, mu: float, step: float) -> dict[str, float]:
    """Mean over the last quarter of the force F on the bar and of its moment M about the bar's axis, N and Nm; share of the steps that did not converge."""
    path = capstan(mu).write(context.scratch / "scenes" / f"capstan {mu:g} {step:g}")

    def make() -> dict[str, float]:
        from grasp_client import eipc  # needs the Python client's messages
        observe = eipc.Observe(contact_wrenches=True, poses=True, solver_report=True)
        with eipc.launch_server(context.server) as server, server.client(default_timeout=600.0) as client:
            with client.create_scene(path).create_session() as session, session.stream() as stream:
                seen = list(stream.run({"dt": step, "observe": observe} for _ in range(round(SECONDS / step))))
        wrenches = [one.contact_wrench_on("bar", about=(0, 0, 0)) for one in seen[-len(seen) // 4:]]
        return {"force": float(np.mean([np.linalg.norm(force) for force, _ in wrenches])), "moment": float(np.mean([abs(moment[1]) for _, moment in wrenches])),
                "not_converged": float(np.mean([one.solver_report.outcome is not eipc.Outcome.CONVERGED for one in seen]))}

    return context.kept.get(sorted(path.parent.iterdir()), [step, SECONDS, "force and moment"], make)


def judge_capstan(context: Context) -> list[Record]:
    """Ratio of the tensions (F + M / R) / (F - M / R) against e^(mu pi).

    Friction acts at the closest points of both, so that on the bar its lever is the bar's radius; to the middle of the strip, where both are the same in
    theory, the lever is longer by the gap and half the thickness, and that ratio is reported.
    """
    records = []
    for mu in FRICTION:
        for step in STEPS_S:
            found = tensions(context, mu, step)
            ratio, expected = _ratio(found, RADIUS), math.exp(mu * math.pi)
            name = f"capstan.mu={mu:g}.h={step:g}"
            records += [reported(f"{name}.value", ratio), within(f"{name}.over_theory", ratio / expected, 0.97, 1.03),
                        reported(f"{name}.lever_to_the_middle.over_theory", _ratio(found, middle_radius(mu)) / expected),
                        within(f"{name}.by_the_force_that_was_set.over_theory", (found["force"] / (SLACK * WIDTH) - 1) / expected, 0.97, 1.03),
                        at_most(f"{name}.steps_not_converged", found["not_converged"], 0.01)]
    return records


def _ratio(found: dict[str, float], lever_m: float) -> float:
    pull = found["moment"] / lever_m
    return (found["force"] + pull) / (found["force"] - pull)
