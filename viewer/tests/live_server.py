"""A server with the viewer for the browser tests: `live_server.py STATE_FOLDER [WORLDS [TOKEN [slides | teddy]]]`.
With TOKEN, where that is not empty, it asks for tokens, and TOKEN is that of an operator. With `slides` the plates of the scene are on guides,
along which drives push them with at most 6 N. With `teddy` the scene is that of the demo.

Prints a line of JSON when it is ready: the address of the page and of a session of a small scene. Then it does what lines on its
standard input say, and prints what came of each: `step N` steps every world, `restart` ends the server and starts it again at the same
address, `state` prints the session's step and digest. It ends with its input.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "client" / "python"), str(ROOT / "client" / "python" / "tests")]

import eipc  # noqa: E402
import numpy as np  # noqa: E402
from eipc.v1 import geometry_pb2, scene_pb2  # noqa: E402
from small_grasp import scene  # noqa: E402


def launch(state, token, listen="127.0.0.1:0", viewer="127.0.0.1:0"):
    arguments = [f"--listen={listen}", f"--viewer={viewer}", f"--state-dir={state}", "--log-level=off"]
    if token:
        access = Path(state).with_name("access")
        access.write_text(f"token {hashlib.sha256(token.encode()).hexdigest()} tests operator\n", encoding="utf-8")
        arguments.append(f"--access-file={access}")
    binary = os.environ.get("EIPC_SERVER") or ROOT / "build" / "release" / "bin" / "eipc-server"
    return eipc.launch(binary, arguments)


TEDDY = ROOT / "models" / "scenes" / "bubble_teddy_low_sound.textproto"


def on_guides(message):
    for body, side in ((body, np.sign(body.pose.position_m.y)) for body in message.bodies if body.HasField("kinematic")):
        surface = body.kinematic.surface
        body.affine.surface.CopyFrom(surface)
        body.material.CopyFrom(scene_pb2.Material(density_kg_m3=1000, youngs_modulus_pa=1e7))
        body.slider.CopyFrom(scene_pb2.Slider(axis=geometry_pb2.Vec3(y=-side), max_force_n=6, damping_n_s_m=60, max_speed_m_s=0.1, mass_kg=0.05))
    return message


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    state, worlds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    token = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else None
    made = {"slides": lambda: on_guides(scene()), "teddy": lambda: TEDDY}[sys.argv[4]]() if len(sys.argv) > 4 else scene()
    server = launch(state, token)
    client = server.client(token=token)
    session = client.create_scene(made).create_session(worlds=worlds, record=True)
    viewer = server.viewer_url
    say(url=viewer, session=session.name)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "step":
            for _ in range(int(words[1])):
                for world in range(worlds):
                    session.step(0.01, world=world)
            say(step=session.state().step)
        elif words[0] == "state":
            seen = session.state(eipc.Observe(state_digest=True))
            say(step=seen.step, digest=seen.state_digest)
        elif words[0] == "restart":
            client.close()
            server.stop()
            server = launch(state, token, server.address, viewer.split("/")[2])
            client = server.client(token=token)
            session = client.session(session.name)
            say(restarted=True)
    server.stop()


if __name__ == "__main__":
    main()
