"""A grasp that takes milliseconds: a soft cube of eight vertices between two rigid plates, as a task of eipc.envs."""

import numpy as np

import eipc
from eipc.envs import EipcEnv
from eipc.envs.grasp_task import GraspTask
from eipc.envs.gripper import Gripper
from eipc.envs.task import Timing
from eipc.v1 import geometry_pb2, scene_pb2
from puppet_server import BOX_TRIANGLES, box

CUBE_TETS = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]], dtype=np.int32)


def scene():
    message = scene_pb2.Scene(display_name="small grasp")
    cube = message.bodies.add(name="cube")
    cube.full_space.mesh.CopyFrom(eipc.mesh_from_arrays(box([0, 0, 0], [0.05, 0.05, 0.05]), CUBE_TETS))
    cube.pose.position_m.CopyFrom(geometry_pb2.Vec3(z=0.026))
    cube.material.CopyFrom(scene_pb2.Material(density_kg_m3=500, youngs_modulus_pa=2e4, poissons_ratio=0.3))
    ground = message.bodies.add(name="ground")
    ground.static_body.surface.CopyFrom(eipc.mesh_from_arrays(box([0, 0, -0.05], [0.5, 0.5, 0.1]), BOX_TRIANGLES))
    for name, side in (("left", -1), ("right", 1)):
        plate = message.bodies.add(name=name)
        plate.kinematic.surface.CopyFrom(eipc.mesh_from_arrays(box([0, 0, 0], [0.04, 0.01, 0.03]), BOX_TRIANGLES))
        plate.pose.position_m.CopyFrom(geometry_pb2.Vec3(y=0.045 * side, z=0.03))
    message.contact.friction_coefficient = 1
    return message


def small_task(client, max_episode_steps=30, hold_steps=3, settle_substeps=4, message=None):
    message = message or scene()
    poses = [eipc.Pose([0, 0.045 * side, 0.03]) for side in (-1, 1)]
    gripper = Gripper.of([("left", ""), ("right", "")], poses, low=[0, -0.03, -0.03, 0], high=[0.02, 0.03, 0.03, 0.1],
                         speed=[0.1, 0.1, 0.1, 0.25])
    timing = Timing(0.02, 2, settle_substeps, max_episode_steps, hold_steps)
    return GraspTask(message, "cube", gripper, timing, client.validate_scene(message).bodies, goal_m=0.02, spread=(0.005, 0.005, 0.005))


def grasping(observations, step):
    """Actions that close, and lift from the sixth on; by worlds of "state" observations."""
    actions = np.zeros((len(observations), 4))
    actions[:, 0], actions[:, 3] = 1, 0.5 if step >= 6 else 0
    return actions


def environment(**options):
    """As a scene of `evaluate`: small_grasp:environment."""
    return EipcEnv(small_task, **options)
