"""What the grasp demo keeps of a run, and its file: recording.npz.

Arrays of the file, T samples (the start and every step), B bodies, P ordered pairs of bodies that touched, F driven
frames; SI units, world frame, quaternions w x y z:
  time_s [T], step_wall_s [T] (solver time of the step, 0 at the start), newton_iterations [T], converged [T] bool,
  contacts_point_triangle [T], contacts_edge_edge [T], min_distance_m [T] (infinite: nothing within detection distance),
  body_names [B], position_m [T,B,3], orientation_wxyz [T,B,4],
  wrench_pairs [P,2] names (a, b), normal_force_n, friction_force_n, normal_moment_nm, friction_moment_nm [T,P,3]:
    force of b on a and its moment about a's centre of mass, zero while they do not touch,
  frame_names [F,2] (body, boundary set), frame_position_m [T,F,3], frame_orientation_wxyz [T,F,4]: achieved poses,
  surface_<body> [T,n,3] float32 positions, triangles_<body> [m,3] int32 for each body.
"""

from __future__ import annotations

from pathlib import Path
from typing import Mapping

import numpy as np

import eipc


class Recording:
    """Observations of a run as arrays. Needs poses, wrenches, counts, distance, boundary poses, surfaces, solver report."""

    def __init__(self, observations: list[eipc.Observation], topology: Mapping[str, eipc.BodyTopology]) -> None:
        self.topology = topology
        self.time_s = np.array([o.time_s for o in observations])
        self.bodies = list(observations[0].bodies)
        self.position_m = np.array([[o.bodies[b].pose.position for b in self.bodies] for o in observations])
        self.orientation = np.array([[o.bodies[b].pose.orientation for b in self.bodies] for o in observations])
        self.surfaces = {b: np.array([o.bodies[b].surface_positions for o in observations], dtype=np.float32)
                         for b in self.bodies if observations[0].bodies[b].surface_positions is not None}
        self.frames = list(observations[0].boundary_poses)
        self.frame_poses = [[o.boundary_poses[f].achieved for f in self.frames] for o in observations]
        self.pairs = sorted({pair for o in observations for pair in o.contact_wrenches})
        self.wrenches = {part: np.array([[getattr(o.contact_wrenches[p], part) if p in o.contact_wrenches else np.zeros(3)
                                          for p in self.pairs] for o in observations]).reshape(len(observations), -1, 3)
                         for part in ("normal_force", "friction_force", "normal_moment", "friction_moment")}
        self.point_triangle = np.array([o.contact_counts.point_triangle for o in observations])
        self.edge_edge = np.array([o.contact_counts.edge_edge for o in observations])
        self.min_distance_m = np.array([np.inf if o.min_distance_m is None else o.min_distance_m for o in observations])
        reports = [o.solver_report for o in observations[1:]]
        self.step_wall_s = np.array([0.0] + [r.wall_time_s for r in reports])
        self.newton_iterations = np.array([0] + [r.newton_iterations for r in reports])
        self.converged = np.array([True] + [r.converged for r in reports])

    def force_on(self, body: str, other: str | None = None, part: str | None = None) -> np.ndarray:
        """[T,3] N: contact force on a body, of one other body or of all, normal or friction part or both."""
        parts = [part] if part else ["normal_force", "friction_force"]
        chosen = [i for i, (a, b) in enumerate(self.pairs) if a == body and other in (None, b)]
        return sum((self.wrenches[p][:, chosen].sum(axis=1) for p in parts), np.zeros((len(self.time_s), 3)))

    def touching(self, body: str) -> list[str]:
        """Bodies that touched `body` at any time."""
        return [b for a, b in self.pairs if a == body]

    def sample_at(self, time_s: float) -> int:
        """Index of the sample nearest to a time."""
        return int(np.argmin(np.abs(self.time_s - time_s)))

    def save(self, path: Path) -> None:
        """Writes the file described above."""
        arrays = {
            "time_s": self.time_s, "step_wall_s": self.step_wall_s, "newton_iterations": self.newton_iterations,
            "converged": self.converged, "contacts_point_triangle": self.point_triangle,
            "contacts_edge_edge": self.edge_edge, "min_distance_m": self.min_distance_m,
            "body_names": np.array(self.bodies), "position_m": self.position_m, "orientation_wxyz": self.orientation,
            "wrench_pairs": np.array(self.pairs, dtype=str).reshape(-1, 2),
            "normal_force_n": self.wrenches["normal_force"], "friction_force_n": self.wrenches["friction_force"],
            "normal_moment_nm": self.wrenches["normal_moment"], "friction_moment_nm": self.wrenches["friction_moment"],
            "frame_names": np.array(self.frames, dtype=str).reshape(-1, 2),
            "frame_position_m": np.array([[p.position for p in row] for row in self.frame_poses]),
            "frame_orientation_wxyz": np.array([[p.orientation for p in row] for row in self.frame_poses]),
        }
        arrays.update({f"surface_{name}": surface for name, surface in self.surfaces.items()})
        arrays.update({f"triangles_{name}": body.triangles for name, body in self.topology.items()})
        np.savez_compressed(path, **arrays)
