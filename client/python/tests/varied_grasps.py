"""The small grasp with other objects: scenes of evaluations, varied_grasps:NAME."""

import numpy as np

import eipc
from eipc.envs import EipcEnv
from puppet_server import box
from small_grasp import CUBE_TETS, small_task, scene

PRISM_SIDES = 6


def hexagonal_prism():
    """A hexagonal prism along x, two of whose sides face the plates: vertices and tetrahedra about its middle."""
    angles = np.pi / 6 + np.arange(PRISM_SIDES) * np.pi / 3
    ring = 0.025 * np.stack([np.zeros(PRISM_SIDES), np.cos(angles) / np.cos(np.pi / 6), np.sin(angles)], axis=1)
    vertices = np.concatenate([ring - [0.025, 0, 0], ring + [0.025, 0, 0], [[-0.025, 0, 0], [0.025, 0, 0], [0, 0, 0]]])
    left, right, middle = 2 * PRISM_SIDES, 2 * PRISM_SIDES + 1, 2 * PRISM_SIDES + 2
    surface = []
    for a in range(PRISM_SIDES):
        b = (a + 1) % PRISM_SIDES
        surface += [[a, b, PRISM_SIDES + a], [b, PRISM_SIDES + b, PRISM_SIDES + a], [left, b, a], [right, PRISM_SIDES + a, PRISM_SIDES + b]]
    return vertices, oriented(vertices, [[*face, middle] for face in surface])


def oriented(vertices, tets):
    """With positive volumes."""
    tets = np.array(tets, dtype=np.int32)
    a, b, c, d = (vertices[tets[:, k]] for k in range(4))
    negative = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) < 0
    tets[negative] = tets[negative][:, [1, 0, 2, 3]]
    return tets


def narrow_cube():
    """A cube whose top is narrower along x."""
    vertices = box([0, 0, 0], [0.05, 0.05, 0.05])
    vertices[vertices[:, 2] > 0, 0] *= 0.5
    return vertices, CUBE_TETS


OBJECTS = {"cube": lambda: (box([0, 0, 0], [0.05, 0.05, 0.05]), CUBE_TETS), "brick": lambda: (box([0, 0, 0], [0.07, 0.05, 0.05]), CUBE_TETS),
           "wedge": narrow_cube, "prism": hexagonal_prism}
SCENES = [f"varied_grasps:{name}" for name in OBJECTS]


def scene_of(name):
    message = scene()
    message.display_name = f"small grasp of a {name}"
    message.bodies[0].full_space.mesh.CopyFrom(eipc.mesh_from_arrays(*OBJECTS[name]()))
    return message


def _environment(name):
    def make(**options):
        return EipcEnv(lambda client, **limits: small_task(client, message=scene_of(name), **limits), **options)

    return make


cube, brick, wedge, prism = map(_environment, OBJECTS)
