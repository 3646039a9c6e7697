"""A fake grasp for tests of the examples: fingers go where they are commanded, the held body follows their height.

No physics: forces are made up so that the summary's figures are known (friction carries 80 % of 105 % of the weight).
"""

import numpy as np

import eipc
from eipc import arrays
from eipc.v1 import geometry_pb2, observation_pb2, service_pb2
from fake_server import FakeServicer

MASS_KG = 0.5
WEIGHT_N = 9.81 * MASS_KG
FRICTION_SHARE, FORCE_OVER_WEIGHT = 0.8, 1.05
BOX_TRIANGLES = np.array([[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7],
                          [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]], dtype=np.int32)


def box(center, size):
    corners = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
    return np.asarray(center) + corners * np.asarray(size)


class Puppet(FakeServicer):
    """meshes: body name -> (vertices [n,3] in the world at the start, triangles). held: follows the fingers' height."""

    def __init__(self, meshes, held="teddy"):
        super().__init__()
        self.meshes, self.held = meshes, held
        self.time_s, self.start, self.now = 0.0, {}, {}

    def CreateScene(self, request, context):
        self.scene = request.scene
        self.start = {(b.name, s.name): eipc.Pose.from_message(s.frame) for b in self.scene.bodies for s in b.boundary_sets}
        self.now = dict(self.start)
        return self._info(False)

    def GetState(self, request, context):
        return self._observe(request.observe)

    def StepStream(self, requests, context):
        for request in requests:
            self.requests.append(request)
            self.steps += 1
            self.time_s += request.dt_s
            for target in request.targets:
                self.now[target.body, target.boundary_set] = eipc.Pose.from_message(target.pose)
            yield service_pb2.StepResponse(observation=self._observe(request.observe), session_step=self.steps)

    def GetScene(self, request, context):
        return self._info(request.include_topology)

    def _info(self, topology):
        info = service_pb2.SceneInfo(name="scenes/puppet", display_name="puppet", unknowns=12)
        for name, (vertices, triangles) in self.meshes.items():
            body = info.body_infos.add(name=name, mass_kg=MASS_KG if name == self.held else 0.01)
            if topology:
                body.surface_cells.CopyFrom(arrays.to_message(triangles, np.int32))
                body.surface_positions.CopyFrom(arrays.to_message(vertices))
        return info

    def _shift(self, name):
        for key in self.now:
            if key[0] == name:
                return self.now[key].position - self.start[key].position
        lift = min((self.now[k].position - self.start[k].position)[2] for k in self.now) if name == self.held else 0.0
        return np.array([0, 0, lift])

    def _observe(self, request):
        observation = observation_pb2.Observation(step=self.steps, time_s=self.time_s, min_distance_m=1e-3 / (1 + self.steps))
        for name, (vertices, _) in self.meshes.items():
            body = observation.bodies.add(name=name)
            positions = vertices + self._shift(name)
            body.pose.CopyFrom(eipc.Pose(positions.mean(axis=0)).to_message())
            body.surface_positions.CopyFrom(arrays.to_message(positions.astype(np.float32)))
            nodes = positions if name != "ground" else np.empty((0, 3))  # bodies that move are moved by their vertices
            body.cage_positions.CopyFrom(arrays.to_message(nodes.astype(np.float32)))
            body.linear_velocity_m_s.CopyFrom(geometry_pb2.Vec3())
            body.angular_velocity_rad_s.CopyFrom(geometry_pb2.Vec3())
        if self.time_s > 1.0:
            fingers = [name for name, _ in self.now]
            share = FORCE_OVER_WEIGHT * WEIGHT_N / len(fingers)
            for sign, finger in zip((1, -1), fingers):
                observation.contact_wrenches.add(
                    body=self.held, other=finger,
                    normal_force_n=geometry_pb2.Vec3(y=5 * sign, z=(1 - FRICTION_SHARE) * share),
                    friction_force_n=geometry_pb2.Vec3(z=FRICTION_SHARE * share))
        observation.contact_counts.point_triangle = self.steps
        observation.solver_report.CopyFrom(observation_pb2.SolverReport(
            outcome=observation_pb2.CONVERGED, newton_iterations=3, wall_time_s=0.001))
        for (name, boundary), pose in self.now.items():
            observation.boundary_poses.add(body=name, boundary_set=boundary, commanded=pose.to_message(),
                                           achieved=pose.to_message())
        return observation


def grasp_scene(fingers, held="teddy", duration_s=4.0):
    """Text of a scene whose fingers close by 3 cm, rise by 12 cm and wait. fingers: name -> (position, sign of y)."""
    lines = []
    for name, (position, sign) in fingers.items():
        x, y, z = position
        keys = [(0, y, z), (1.5, y + 0.03 * sign, z), (3.0, y + 0.03 * sign, z + 0.12)]
        frames = " ".join(f"keyframes {{ time_s: {t} pose {{ position_m {{ x: {x} y: {ky} z: {kz} }} }} }}" for t, ky, kz in keys)
        lines.append(f"""bodies {{ name: "{name}" full_space {{}} pose {{ position_m {{ x: {x} y: {y} z: {z} }} }}
            boundary_sets {{ name: "finger" frame {{ position_m {{ x: {x} y: {y} z: {z} }} }} trajectory {{ {frames} }} }} }}""")
    lines.append(f'bodies {{ name: "{held}" full_space {{}} }} bodies {{ name: "ground" static_body {{}} }}')
    holding = f'holding {{ body: "{held}" start_s: 3.5 end_s: {duration_s} }}'
    lines.append(f"schedule {{ duration_s: {duration_s} dt_s: 0.02 {holding} }}")
    return "\n".join(lines)
