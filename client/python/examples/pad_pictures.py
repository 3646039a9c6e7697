"""The picture of docs/howto/robots.md: soft pads on the fingers of a gripper close on a cube and lift it.

Usage: pad_pictures.py OUTPUT_FOLDER SCENE, the scene that the page makes (out/robot/pads.textproto).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "client" / "python"))

import eipc  # noqa: E402
from eipc import viz  # noqa: E402

COLORS = {"palm": (0.35, 0.38, 0.42), "left_finger": (0.55, 0.60, 0.66), "right_finger": (0.55, 0.60, 0.66), "left_pad": (0.13, 0.45, 0.70),
          "right_pad": (0.13, 0.45, 0.70), "cube": (0.85, 0.45, 0.25), "pedestal": (0.60, 0.55, 0.50)}
SIZE = 400
H = 0.01  # s


def main() -> None:
    folder, path = Path(sys.argv[1]), Path(sys.argv[2])
    gripper = eipc.robot.Robot.of_scene(path)
    camera = viz.Camera(eye=(0.30, -0.12, 0.20), target=(0.0, 0.0, 0.115), vertical_fov_deg=40)
    panels = []
    with eipc.launch() as server, server.client() as client:
        scene = client.create_scene(path)
        triangles = {name: body.triangles for name, body in scene.topology().items()}

        def show(seen: eipc.Observation) -> None:
            items = [viz.Item(body.surface_positions, triangles[name], color=COLORS[name], wire=0.1 if "pad" in name else 0.0)
                     for name, body in seen.bodies.items() if name in COLORS and body.surface_positions is not None]
            panels.append(viz.render(items, camera, SIZE, SIZE, viz.Ground(0.0), viz.Lighting(sun=(0.8, -0.3, 0.8))))

        observe = eipc.Observe(surface_positions=True)
        closed = gripper.coordinates({"left": -0.006})
        lifted = gripper.coordinates({"lift": 0.05}, closed)
        with scene.create_session() as session:
            show(session.state(observe))
            show(session.step(H, substeps=50, observe=observe, **gripper.path([0, 0.5], [gripper.start, closed])))
            show(session.step(H, substeps=100, observe=observe, **gripper.path([0, 0.8], [closed, lifted])))
    folder.mkdir(parents=True, exist_ok=True)
    viz.write_png(folder / "robot_pads.png", np.concatenate(panels, axis=1))


if __name__ == "__main__":
    main()
