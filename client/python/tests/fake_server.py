"""A gRPC server with recorded answers, so that the client's own logic is tested without the simulation."""

import contextlib
import queue
import threading
from concurrent import futures

import grpc
import numpy as np

from eipc import arrays
from eipc.v1 import geometry_pb2, observation_pb2, scene_pb2, service_pb2, service_pb2_grpc
from google.protobuf import empty_pb2

POSITIONS = np.arange(12, dtype=np.float64).reshape(4, 3)
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)


def recorded_observation(step: int, dt: float) -> observation_pb2.Observation:
    """The answer of every step: fixed numbers, so that a test can name them."""
    vec = geometry_pb2.Vec3
    observation = observation_pb2.Observation(step=step, time_s=step * dt, min_distance_m=2e-4, state_digest="0123456789abcdef")
    body = observation.bodies.add(name="teddy", linear_velocity_m_s=vec(z=0.08))
    body.pose.position_m.CopyFrom(vec(x=1, y=2, z=3))
    body.pose.quaternion.CopyFrom(geometry_pb2.Quaternion(w=0.5, x=0.5, y=0.5, z=0.5))
    body.surface_positions.CopyFrom(arrays.to_message(POSITIONS))
    observation.contact_wrenches.add(body="teddy", other="left", normal_force_n=vec(y=5), friction_force_n=vec(z=4),
                                     normal_moment_nm=vec(x=0.1), friction_moment_nm=vec(x=0.2))
    observation.contact_wrenches.add(body="teddy", other="right", normal_force_n=vec(y=-5), friction_force_n=vec(z=3))
    observation.contact_wrenches.add(body="left", other="teddy", normal_force_n=vec(y=-5), friction_force_n=vec(z=-4))
    observation.contact_counts.CopyFrom(observation_pb2.ContactCounts(
        point_triangle=3, edge_edge=4,
        pairs=[observation_pb2.PairCount(body_a="left", body_b="teddy", point_triangle=3, edge_edge=4)]))
    observation.energies.CopyFrom(observation_pb2.Energies(kinetic_j=1, elastic_j=2, gravity_j=3, barrier_j=4))
    observation.solver_report.CopyFrom(observation_pb2.SolverReport(
        outcome=observation_pb2.CONVERGED, newton_iterations=5, wall_time_s=0.004, stage_seconds={"ccd": 0.001},
        linear_solver=scene_pb2.SolverSettings.PCG_IC0, krylov_iterations=40, direct_solves=1, kept_matrices=2))
    observation.boundary_poses.add(body="left", boundary_set="finger")
    return observation


class FakeServicer(service_pb2_grpc.SimulationServiceServicer):
    """Counts steps and keeps the requests it got. A step with a negative dt fails; one with dt 99 never answers."""

    def __init__(self) -> None:
        self.requests: list = []
        self.stream_events: "queue.SimpleQueue[str]" = queue.SimpleQueue()
        self.steps = 0

    def CreateScene(self, request, context):
        self.requests.append(request)
        if not request.scene.bodies:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT,
                          "INVALID_SCENE: 2 problems\nbodies: must not be empty\ncontact.dhat_m: must be > 0, got -1")
        return self._info(False)

    def GetScene(self, request, context):
        if request.name != "scenes/1":
            context.abort(grpc.StatusCode.NOT_FOUND, f"SCENE_NOT_FOUND: no scene {request.name}")
        return self._info(request.include_topology)

    def ListScenes(self, request, context):
        page = int(request.page_token or 0)
        return service_pb2.ListScenesResponse(scenes=[service_pb2.SceneInfo(name=f"scenes/{page}")],
                                              next_page_token=str(page + 1) if page < 2 else "")

    def DeleteScene(self, request, context):
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "SCENE_IN_USE: 1 session uses scenes/1")

    def CreateSession(self, request, context):
        self.requests.append(request)
        return service_pb2.SessionInfo(name="sessions/7", scene=request.scene)

    def DeleteSession(self, request, context):
        self.requests.append(request)
        return empty_pb2.Empty()

    def Reset(self, request, context):
        self.steps = 0
        return recorded_observation(0, 0)

    def GetState(self, request, context):
        return recorded_observation(self.steps, 0)

    def Step(self, request, context):
        self.requests.append(request)
        if request.dt_s == 99:
            context_done = futures.Future()
            context.add_callback(lambda: context_done.set_result(None))
            context_done.result(timeout=30)
        if request.dt_s < 0:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_DT: dt_s: must be > 0")
        if request.HasField("expected_step") and request.expected_step != self.steps:
            context.abort(grpc.StatusCode.ABORTED, f"STEP_MISMATCH: session is at step {self.steps}")
        self.steps += request.substeps or 1
        return service_pb2.StepResponse(observation=recorded_observation(self.steps, request.dt_s))

    def StepStream(self, requests, context):
        for request in requests:
            self.requests.append(request)
            if request.dt_s == 99:
                context.abort(grpc.StatusCode.INTERNAL, "BROKEN: stream ends here")
            if request.dt_s == 98:
                continue  # an answer that never comes
            if request.dt_s == 97:
                self._confirm_late(context)
                continue
            if request.dt_s < 0:
                yield service_pb2.StepResponse(status_code=grpc.StatusCode.INVALID_ARGUMENT.value[0],
                                               status_message="INVALID_DT: dt_s: must be > 0", session_step=self.steps)
                continue
            self.steps += 1
            yield service_pb2.StepResponse(observation=recorded_observation(self.steps, request.dt_s),
                                           session_step=self.steps)

    def _confirm_late(self, context):
        """Sends the headers of the answer later than a client cancels that does not wait for them."""
        cancelled = threading.Event()

        def on_end():
            self.stream_events.put("cancelled")
            cancelled.set()

        context.add_callback(on_end)
        cancelled.wait(0.1)
        self.stream_events.put("confirmed")
        context.send_initial_metadata(())

    @staticmethod
    def _info(include_topology: bool) -> service_pb2.SceneInfo:
        body = service_pb2.BodyInfo(name="teddy", kind="embedded", mass_kg=0.5, boundary_sets=["finger"],
                                    center_of_mass_m=geometry_pb2.Vec3(z=0.1), surface_vertices=4, surface_triangles=2)
        if include_topology:
            body.surface_cells.CopyFrom(arrays.to_message(TRIANGLES))
            body.surface_positions.CopyFrom(arrays.to_message(POSITIONS))
        return service_pb2.SceneInfo(name="scenes/1", display_name="fake", unknowns=12, body_infos=[body])


@contextlib.contextmanager
def serve(servicer: FakeServicer):
    """Runs the servicer on a free port; yields its address."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    service_pb2_grpc.add_SimulationServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(grace=None).wait()
