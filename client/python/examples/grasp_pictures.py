"""Rendered pictures of a recorded grasp at its three phases."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from eipc import viz  # noqa: E402
from eipc.v1 import scene_pb2  # noqa: E402
from grasp_recording import Recording  # noqa: E402
from grasp_task import GraspTask  # noqa: E402

_HELD, _PAD, _FINGER, _OTHER = (0.80, 0.62, 0.42), (0.44, 0.62, 0.79), (0.36, 0.38, 0.41), (0.70, 0.71, 0.70)
# Vertices that stay this close to where they were in their frame move rigidly with it.
_RIGID_M = 2e-5
# Static bodies at least this wide are drawn as the ground plane.
_GROUND_EXTENT_M = 0.5
# From the held body to the eye and to the sun, for a body that faces +x; turned half round for one that faces -x.
_VIEW = np.array([0.92, 0.46, 0.34])
_SUN = np.array([0.6, -0.5, 0.95])
_FIELD_OF_VIEW_DEG = 24.0
_TITLES = {"squeeze": "squeezed", "lift": "lifting", "hold": "held"}


def phase_times(task: GraspTask) -> dict[str, float]:
    """Times of the pictures: the end of the squeeze, the middle of the lift, the end."""
    return {"squeeze": task.squeeze_end_s, "lift": 0.5 * (task.squeeze_end_s + task.lift_end_s), "hold": task.duration_s}


def _is_ground(body: scene_pb2.Body, recording: Recording) -> bool:
    extent = float(np.ptp(recording.surfaces[body.name][0], axis=0).max())
    return body.WhichOneof("kind") == "static_body" and extent > _GROUND_EXTENT_M


def _driven(body: str, recording: Recording) -> np.ndarray:
    """Which triangles of a body move rigidly with one of its frames (where the finger holds the pad), [m] bool."""
    surface, triangles = recording.surfaces[body], recording.topology[body].triangles
    driven = np.zeros(surface.shape[1], dtype=bool)
    for index, (owner, _) in enumerate(recording.frames):
        if owner == body:
            start, *later = (recording.frame_poses[i][index].inverse().apply(surface[i])
                             for i in (0, len(surface) // 3, len(surface) // 2, len(surface) - 1))
            driven |= np.max([np.abs(local - start).max(axis=1) for local in later], axis=0) < _RIGID_M
    return driven[triangles].all(axis=1)


def scene_items(scene: scene_pb2.Scene, recording: Recording, task: GraspTask, sample: int) -> list[viz.Item]:
    """What to draw of one sample: all bodies but the ground; driven parts of the pads in the fingers' colour."""
    items = []
    for body in scene.bodies:
        if body.name not in recording.surfaces or _is_ground(body, recording):
            continue
        vertices, triangles = recording.surfaces[body.name][sample], recording.topology[body.name].triangles
        color = _HELD if body.name == task.held else _PAD if body.boundary_sets else _OTHER
        driven = _driven(body.name, recording)
        for chosen, shade in ((~driven, color), (driven, _FINGER)):
            if chosen.any():
                items.append(viz.Item(vertices, triangles[chosen], shade, wire=0.14))
    return items


def _front(surface: np.ndarray) -> float:
    """+1 or -1: where along x a sitting bear's legs point, so that it is seen from the front. surface: [n,3]."""
    center = 0.5 * (surface.min(0) + surface.max(0))
    low = surface[surface[:, 2] < center[2] - 0.25 * np.ptp(surface[:, 2])]
    high = surface[surface[:, 2] > center[2]]
    return 1.0 if low[:, 0].mean() >= high[:, 0].mean() else -1.0


def render_phases(out: Path, scene: scene_pb2.Scene, recording: Recording, task: GraspTask,
                  say: Callable[[str], None]) -> list[Path]:
    """Writes grasp_<phase>.png for the three phases and grasp.png with all of them side by side."""
    samples = {phase: recording.sample_at(time) for phase, time in phase_times(task).items()}
    drawn = {phase: scene_items(scene, recording, task, sample) for phase, sample in samples.items()}
    points = np.concatenate([item.vertices for items in drawn.values() for item in items])
    center = 0.5 * (points.min(0) + points.max(0))
    radius = float(np.linalg.norm(points - center, axis=1).max())
    distance = 1.05 * radius / np.tan(np.radians(0.5 * _FIELD_OF_VIEW_DEG))
    turn = np.array([1.0, 1.0, 1.0]) if _front(recording.surfaces[task.held][0]) > 0 else np.array([-1.0, -1.0, 1.0])
    camera = viz.Camera(center + distance * turn * _VIEW / np.linalg.norm(_VIEW), center, _FIELD_OF_VIEW_DEG)
    lighting = viz.Lighting(sun=tuple(turn * _SUN))
    floors = [recording.surfaces[body.name][0][:, 2].max() for body in scene.bodies
              if body.name in recording.surfaces and _is_ground(body, recording)]
    ground = viz.Ground(float(floors[0]), center=(center[0], center[1])) if floors else None
    pictures, paths = {}, []
    for phase, items in drawn.items():
        say(f"rendering the {phase} picture")
        pictures[phase] = viz.render(items, camera, 840, 840, ground, lighting)
        paths.append(out / f"grasp_{phase}.png")
        viz.write_png(paths[-1], pictures[phase])
    figure, panels = plt.subplots(1, 3, figsize=(15, 5.3), constrained_layout=True)
    for axes, (phase, picture) in zip(panels, pictures.items()):
        axes.imshow(picture)
        axes.set_axis_off()
        axes.set_title(f"{_TITLES[phase]}, t = {recording.time_s[samples[phase]]:.2f} s", fontsize=12, color="#333333")
    figure.savefig(out / "grasp.png", dpi=110)
    plt.close(figure)
    return [*paths, out / "grasp.png"]
