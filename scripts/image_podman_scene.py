#!/usr/bin/python3
"""What scripts/image_podman_check.sh asks of a server in a container: image_podman_scene.py ADDRESS FILE

Draws a picture of a cube that falls, by a camera of the server, and writes the scene, with a goal, to FILE for the client's image.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from google.protobuf import text_format

import eipc
from eipc.camera import Camera

CORNERS = np.array([[x, y, z] for z in (0, 0.1) for y in (0, 0.1) for x in (0, 0.1)])
TETRAHEDRA = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]])
SCENE = """
bodies { name: "cube" material { density_kg_m3: 1000 youngs_modulus_pa: 1e5 poissons_ratio: 0.3 } }
schedule { dt_s: 0.01 duration_s: 0.05 }
goals {
  name: "fallen"
  body: "cube"
  position { region { min_m { x: -1 y: -1 z: -1 } max_m { x: 1 y: 1 z: 0.045 } } }
}
"""
SIDE = Camera.look_at([0.6, 0.5, 0.5], [0.05, 0.05, 0.05], width=120, height=90, fov_y_rad=0.8)


def main(address: str, file: str) -> None:
    scene = eipc.load_scene(SCENE)
    scene.bodies[0].full_space.mesh.CopyFrom(eipc.mesh_from_arrays(CORNERS, TETRAHEDRA))
    Path(file).write_text(text_format.MessageToString(scene), encoding="utf-8")
    with eipc.connect(address, timeout=30) as client:
        print("   answers:", client.server_info().build)
        with client.create_scene(scene).create_session() as session:
            seen = session.step(0.01, observe=eipc.Observe(cameras={"side": eipc.CameraSense(SIDE)}))
    pixels = int(seen.cameras["side"].shows("cube").sum())
    if pixels < 100:
        sys.exit(f"a picture of the server shows {pixels} pixels of the cube")
    print(f"   draws: {pixels} pixels of a cube")


if __name__ == "__main__":
    main(*sys.argv[1:])
