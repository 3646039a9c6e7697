"""Runs of the grasp of soft pads, let go at the end, and the force that a pad presses with over time: on finer meshes and at other steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eipc_cli import REPOSITORY, SCENES
from grasp_client import eipc, scene_pb2
from refined_meshes import boundary, mean_edge, read_tets, refined
from validation import Context

GENERATED = REPOSITORY / "models" / "generated"
BEAR, PADS = "teddy", ("bubble_left", "bubble_right")
OPEN_FROM_S, OPEN_BY_M, OPEN_FOR_S = 4.0, 0.04, 0.75  # the fingers go back as far as they closed
DURATION_S = 4.6
COMMON_S = 0.04  # forces are compared at multiples of it; every step divides it
# End of each phase: the fingers close, rise, hold still, open.
PHASES = {"squeeze": (0.0, 1.5), "lift": (1.5, 3.0), "hold": (3.0, 4.0), "release": (4.0, DURATION_S)}
# When the force of a phase is taken, mean: at the end of the closing, over the whole lift, over the scene's holding window, and over the opening
# by 13 mm on each side.
WINDOWS = {"squeeze": (1.46, 1.5), "lift": (1.5, 3.0), "hold": (3.5, 4.0), "release": (4.0, 4.26)}


@dataclass(frozen=True)
class GraspRun:
    """bubble_teddy_MODEL_sound with refined meshes. bear, pads: how often their tetrahedra are cut into eight, or the surface of a bear in a cage
    into four. space: of a bear in a cage. own_tets: its cage stands for its own tetrahedra, not for a lattice.
    pad_surfaces: the surfaces of the pads alone are cut, their tetrahedra stay."""

    name: str
    model: str = "full"
    bear: int = 0
    pads: int = 0
    dt_s: float = 0.02
    space: str = ""
    own_tets: bool = False
    pad_surfaces: int = 0


def scene_of(run: GraspRun) -> scene_pb2.Scene:
    scene = eipc.load_scene(SCENES / f"bubble_teddy_{run.model}_sound.textproto")
    for body in scene.bodies:
        if body.name in PADS:
            _let_go(body)
            _change_pad(body, run)
        elif body.name == BEAR:
            _change_bear(body, run)
    scene.schedule.duration_s = DURATION_S
    scene.solver.audit_every_n_steps = 1
    return scene


def _mesh(mesh: tuple[np.ndarray, np.ndarray]) -> scene_pb2.Mesh:
    return eipc.mesh_from_arrays(*mesh)


def _change_pad(body: scene_pb2.Body, run: GraspRun) -> None:
    tets = read_tets(GENERATED / "bubble.vtk")
    if run.pads:
        body.full_space.mesh.CopyFrom(_mesh(refined(tets, run.pads)))
    elif run.pad_surfaces:  # a cage that is the pad's own mesh
        body.embedded.cage_mesh.CopyFrom(_mesh(tets))
        body.embedded.surface.CopyFrom(_mesh(boundary(refined(tets, run.pad_surfaces))))
        body.embedded.coarse_space = scene_pb2.EmbeddedBody.PLAIN


def _change_bear(body: scene_pb2.Body, run: GraspRun) -> None:
    tets = refined(read_tets(GENERATED / "teddy_full.vtk"), run.bear)
    if run.model == "full":
        if run.bear:
            body.full_space.mesh.CopyFrom(_mesh(tets))
        return
    if run.own_tets:
        body.embedded.surface.CopyFrom(_mesh(tets))
    elif run.bear:
        body.embedded.surface.CopyFrom(_mesh(boundary(tets)))
    if run.space:
        body.embedded.coarse_space = scene_pb2.EmbeddedBody.CoarseSpace.Value(run.space)


def _let_go(body: scene_pb2.Body) -> None:
    keyframes = body.boundary_sets[0].trajectory.keyframes
    last = keyframes[-1]
    if last.time_s != OPEN_FROM_S:
        raise ValueError(f"{body.name}: the fingers' trajectory ends at {last.time_s:g} s")
    opened = keyframes.add()
    opened.CopyFrom(last)
    opened.time_s = OPEN_FROM_S + OPEN_FOR_S
    opened.pose.position_m.y += OPEN_BY_M if last.pose.position_m.y > 0 else -OPEN_BY_M


def edges_of(run: GraspRun) -> tuple[float, float]:
    """Mean edge of the surfaces of bear and pads, m."""
    return tuple(mean_edge(read_tets(GENERATED / f"{name}.vtk")) / 2**times
                 for name, times in (("teddy_full", run.bear), ("bubble", run.pads + run.pad_surfaces)))


def grasp_force(context: Context, run: GraspRun) -> dict[str, Any]:
    """time_s, force_n (normal force of a pad along y, mean of both), and what vouches for the run; kept between calls."""
    message = scene_of(run)
    path = context.scratch / "force_scenes" / f"{run.name}-{run.dt_s:g}.pb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(message.SerializeToString(deterministic=True))
    return context.kept.get([path], ["grasp_force", run.dt_s], lambda: _make(context, message, run.dt_s))


def _make(context: Context, message: scene_pb2.Scene, dt_s: float) -> dict[str, Any]:
    observe = eipc.Observe(contact_wrenches=True, min_distance=True, state_digest=True)
    with eipc.launch_server(context.server) as server, server.client(default_timeout=3600.0) as client:
        scene = client.create_scene(message)
        bodies = scene.summary.bodies
        with scene.create_session() as session, session.stream() as stream:
            steps = round(DURATION_S / dt_s)
            seen = list(stream.run({"dt": dt_s, "observe": observe} for _ in range(steps)))
        weight = float(9.81 * bodies[BEAR].mass_kg)
        triangles = {name: body.surface_triangles for name, body in bodies.items()}
    audits, reports = [one.solver_report.audit for one in seen], [one.solver_report for one in seen]
    return {"time_s": [one.time_s for one in seen], "force_n": [_pad_force(one) for one in seen], "weight_n": weight, "surface_triangles": triangles,
            "states_audited": sum(audit is not None for audit in audits), "intersections": sum(audit.intersections for audit in audits if audit),
            "inverted": sum(audit.inversions for audit in audits if audit), "most_inverted": max(audit.inversions for audit in audits if audit),
            "not_converged": sum(not report.converged for report in reports),
            "min_distance_m": min((one.min_distance_m for one in seen if one.min_distance_m is not None), default=None),
            "wall_s": sum(report.wall_time_s for report in reports), "newton_iterations": float(np.mean([report.newton_iterations for report in reports])),
            "state_digest": seen[-1].state_digest}


def _pad_force(observation: Any) -> float:
    """Normal force of a pad on the bear along y, N: the mean of both sides."""
    pairs = [observation.contact_wrenches.get((BEAR, pad)) for pad in PADS]
    return float(np.mean([0.0 if pair is None else abs(pair.normal_force[1]) for pair in pairs]))


@dataclass(frozen=True, eq=False)
class ForceCurve:
    """At multiples of COMMON_S."""

    time_s: np.ndarray
    force_n: np.ndarray

    def phase(self, name: str) -> float:
        """The force of a phase: its mean over the window of that phase, N."""
        low, high = WINDOWS[name]
        return float(self.force_n[(self.time_s > low + 1e-9) & (self.time_s < high + 1e-9)].mean())

    def largest_error(self, other: "ForceCurve", name: str) -> float:
        """The largest difference at any time of a phase, over the peak of `other`."""
        low, high = PHASES[name]
        within = (self.time_s > low + 1e-9) & (self.time_s < high + 1e-9)
        return float(np.abs(self.force_n - other.force_n)[within].max() / other.force_n.max())


def curve_of(result: dict[str, Any]) -> ForceCurve:
    """Raises ValueError where the run has no force at some multiple of COMMON_S."""
    times, forces = np.array(result["time_s"]), np.array(result["force_n"])
    common = COMMON_S * np.arange(1, round(DURATION_S / COMMON_S) + 1)
    index = np.clip(np.searchsorted(times, common - 1e-7), 0, len(times) - 1)
    if np.abs(times[index] - common).max() > 1e-6:
        raise ValueError("the step does not divide the times at which forces are compared")
    return ForceCurve(common, forces[index])
