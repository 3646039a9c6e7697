#!/usr/bin/python3
"""The grasp in thirty lines: two soft bubbles squeeze, lift and hold a soft teddy bear.

Run from the repository root:  python3 client/python/examples/bubble_teddy.py build/release/bin/eipc-server
"""

import sys

import eipc

DT = 0.02  # s
server_binary = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/eipc-server"

with eipc.launch_server(server_binary) as server, server.client() as client:
    scene = client.create_scene("models/scenes/bubble_teddy_low_sound.textproto")
    teddy = scene.bodies["teddy"]
    print(f"{scene.summary.unknowns} unknowns; the teddy weighs {9.81 * teddy.mass_kg:.2f} N")

    # The scene says where the fingers go; here the client commands it, as a robot controller would.
    fingers = {(body.name, boundary.name): eipc.Trajectory.from_message(boundary.trajectory)
               for body in scene.message.bodies for boundary in body.boundary_sets}
    observe = eipc.Observe(contact_wrenches=True, contact_counts=True, min_distance=True)

    with scene.create_session() as session, session.stream() as stream:
        for step in range(1, 201):
            targets = {finger: path.at(step * DT) for finger, path in fingers.items()}
            now = stream.step(DT, targets=targets, observe=observe)
            if step % 25 == 0:
                print(f"t = {now.time_s:.1f} s: teddy at {now.bodies['teddy'].pose.position[2]:.3f} m, contact carries "
                      f"{now.contact_force_on('teddy')[2]:.2f} N, {now.contact_counts.total} contacts, "
                      f"gap {1e6 * now.min_distance_m:.0f} um")
