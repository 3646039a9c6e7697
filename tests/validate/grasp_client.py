"""Runs grasps through the server, for what only a client sees: forces over time, and where a body's surface lies."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from eipc_cli import REPOSITORY, GraspCase
from validation import Context

CLIENT = REPOSITORY / "client" / "python"
for _folder in (CLIENT, CLIENT / "examples"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
import eipc  # noqa: E402
from grasp_recording import Recording  # noqa: E402
from grasp_task import GraspTask, read_task  # noqa: E402

_OBSERVE = eipc.Observe(contact_wrenches=True, contact_counts=True, min_distance=True, state_digest=True)


@dataclass(frozen=True, eq=False)
class GraspSeries:
    """A grasp over time, driven by the scene's own trajectories, and the digest of its last state."""

    task: GraspTask
    recording: Recording
    state_digest: str


def grasp_series(context: Context, case: GraspCase) -> GraspSeries:
    """Steps a whole grasp on a server of its own."""
    with eipc.launch_server(context.server) as server, server.client(default_timeout=600.0) as client:
        scene = client.create_scene(case.scene, data=context.data)
        task = read_task(scene.message, scene.summary)
        with scene.create_session() as session:
            observations = [session.state(_OBSERVE)]
            with session.stream() as stream:
                requests = ({"dt": case.dt_s, "observe": _OBSERVE} for _ in range(round(task.duration_s / case.dt_s)))
                observations.extend(stream.run(requests))
    return GraspSeries(task, Recording(observations, {}), observations[-1].state_digest)


def held_body(context: Context, case: GraspCase) -> tuple[str, slice]:
    """The body that the scene holds, and its vertices in the surface of the whole scene."""
    with eipc.launch_server(context.server) as server, server.client() as client:
        message = eipc.load_scene(case.scene, data=context.data)
        summary = client.validate_scene(message)
    first, held = 0, message.schedule.holding.body
    for name, body in summary.bodies.items():
        if name == held:
            return held, slice(first, first + body.surface_vertices)
        first += body.surface_vertices
    raise ValueError(f"{case.scene.name}: no body named {held!r}")
