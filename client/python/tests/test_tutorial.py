"""The blocks of pages that are to be followed, saved and run in order as the page says."""

import json
import os
import re
import sys

import numpy as np
import pytest

from conftest import REPOSITORY
from eipc.viz.page import PAGE
from glb_reader import Glb
from test_viewer_page import unpack

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import page_blocks  # noqa: E402


def follow(page, server_binary, eipc_binary, tmp_path, reduced=(), on_path=False):
    """What its blocks print. reduced: (words, fewer words) in commands that take long as the page has them, which ./dev validate runs.
    on_path: the page expects the programs there."""
    page_blocks.prepare(REPOSITORY, server_binary.resolve().parent, tmp_path)
    variables = {"PATH": f"{tmp_path / 'build' / 'release' / 'bin'}:{os.environ['PATH']}"} if on_path else {}
    done = page_blocks.run_page(REPOSITORY, f"docs/{page}", tmp_path, reduced, variables=variables)
    assert done.status == 0, done.printed + done.errors
    return done.printed


def assert_drawn(folder, *names):
    for name in names:
        assert (folder / name).stat().st_size > 5000, name


def test_every_block_of_the_first_grasp_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("tutorial/first_grasp.md", server_binary, eipc_binary, tmp_path)
    made = tmp_path / "out" / "first_grasp"
    settled = json.loads((made / "settle.json").read_text())
    assert settled["audit"]["intersections"] == 0 and settled["steps_not_converged"] == 0
    lines = [line for line in printed.splitlines() if "mug at" in line]
    heights = [float(re.search(r"mug at ([\d.]+) m", line).group(1)) for line in lines]
    assert len(lines) == 6 and all("CONVERGED" in line for line in lines)
    assert heights[-1] - heights[0] > 0.045  # of the 0.05 m that the fingers rise
    assert (made / "grasp.png").stat().st_size > 10000


def test_every_block_of_the_episodes_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/episodes.md", server_binary, eipc_binary, tmp_path)
    kept = sorted(path.name for path in (tmp_path / "out" / "episodes" / "lifts").glob("episode_*.npz"))
    assert kept == [f"episode_00000{k}.npz" for k in range(3)]
    assert len(re.findall(r"^seed \d: 60 steps, bear rises by -?[\d.]+ mm", printed, re.MULTILINE)) == 3
    assert printed.count("60 steps, every digest found again") == 4  # by the log of one, and of all
    assert printed.count("60 steps, every state the same") == 3 and printed.count("the same") >= 6
    assert printed.count("success\n") == 2 and len(list((tmp_path / "out" / "episodes" / "grasps").glob("episode_*.npz"))) == 2
    shown = Glb((tmp_path / "out" / "episodes" / "first.glb").read_bytes()).surfaces(0)
    assert set(shown) == {"teddy", "bubble_left", "bubble_right", "ground"}


def test_every_block_of_the_viewer_runs(server_binary, eipc_binary, tmp_path):
    if not PAGE.exists():
        pytest.skip("the viewer's page was not built (./dev viewer)")
    follow("howto/viewer.md", server_binary, eipc_binary, tmp_path)
    header, arrays = unpack((tmp_path / "out" / "viewer" / "squeeze.html").read_bytes())
    assert header["title"] == "squeeze the bear" and arrays["step_wall_s"].shape == (31,)
    assert {body["map"] for body in header["bodies"]} == {"embedded", "nodes", "still"} and "edges_0" in arrays
    _, felt = unpack((tmp_path / "out" / "viewer" / "colours.html").read_bytes())
    assert set(arrays) - {"step_wall_s"} < set(felt)  # the same, and what surfaces felt


def test_every_block_of_the_datasets_runs(server_binary, eipc_binary, tmp_path):
    pytest.importorskip("h5py")
    printed = follow("howto/datasets.md", server_binary, eipc_binary, tmp_path)
    assert (tmp_path / "out" / "datasets" / "squeezes_lerobot" / "meta" / "info.json").is_file()
    assert (tmp_path / "out" / "datasets" / "shown" / "episode_000001.mcap").stat().st_size > 10000
    assert "60 samples, ['bubble_left_contact_force', 'bubble_left_finger_frame_orientation_wxyz'] (30, 14) train: [b'demo_0']" in printed


def test_every_block_of_learning_runs(server_binary, eipc_binary, tmp_path):
    reduced = [("--episodes 24 --worlds 8 --max-steps 60 --out demos", "--episodes 2 --worlds 2 --max-steps 60 --out demos"),
               ("--from demos --worlds 16 --episodes 48 --max-steps 60", "--from demos --worlds 2 --episodes 2 --epochs 5 --max-steps 4"),
               ("--worlds 32 --generations 12 --episodes 96 --max-steps 50", "--worlds 4 --generations 1 --episodes 4 --max-steps 4"),
               ("--episodes 20 --max-steps 60 --out judged", "--episodes 1 --max-steps 2 --out judged")]
    printed = follow("tutorial/learn_a_grasp.md", server_binary, eipc_binary, tmp_path, reduced)
    assert "observations (2, 26)" in printed and printed.count("steps, success") == 2
    assert "cloned " in printed and "generation 1: mean return" in printed
    assert "eipc.learn.policies:Saved: 1 of 1 episodes" in printed
    assert (tmp_path / "out" / "learning" / "start.png").stat().st_size > 1000


def test_every_block_of_the_own_environment_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/write_an_environment.md", server_binary, eipc_binary, tmp_path)
    assert re.search(r"pushed within \d+ actions: \[ *True +True\]", printed), printed
    assert "checked: {" in printed


def test_every_block_of_the_remote_policies_runs(server_binary, eipc_binary, tmp_path):
    pytest.importorskip("websockets")
    pytest.importorskip("msgpack")
    printed = follow("howto/remote_policies.md", server_binary, eipc_binary, tmp_path)
    assert "seed 0: 10 steps, no success" in printed


def test_every_block_of_the_environments_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/environments.md", server_binary, eipc_binary, tmp_path)
    assert "(4, 26) rise" in printed
    success = re.search(r"success \[(.*)\] rise \[([\d.]+)", printed)
    assert "True" in success.group(1) and float(success.group(2)) > 0.04
    assert "{'steps': 8, 'episodes': 4, 'terminations': 0, 'truncations': 4}" in printed


def test_every_block_of_the_evaluation_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/evaluation.md", server_binary, eipc_binary, tmp_path)
    assert "eipc.farm.policies:Still: 2 of 2 episodes" in printed and "scripted_policy:Scripted: 2 of 2 episodes" in printed
    assert "100.0 % succeed" in printed and "0.0 % succeed" in printed
    assert "1 of 1 episodes have the same states" in printed and '"only_second": 2' in printed


def test_every_block_of_the_drives_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/drives.md", server_binary, eipc_binary, tmp_path)
    run = json.loads((tmp_path / "out" / "drives" / "grip.json").read_text())
    assert run["audit"]["intersections"] == 0 and run["steps_not_converged"] == 0
    assert abs(run["drives"]["right"]["effort_n"] - 5) < 0.1 and run["drives"]["left"]["mode"] == "POSITION"
    line = re.compile(r"(\w+): block at ([\d.-]+) m, left ([\d.-]+) N, right ([\d.-]+) N, right at ([\d.-]+) m(, blocked)?")
    seen = {what: (float(z), float(left), float(right), bool(blocked)) for what, z, left, right, _, blocked in line.findall(printed)}
    assert list(seen) == ["gripped", "lifted", "held", "pressed", "opened"]
    for what in ("gripped", "lifted", "held"):
        assert abs(seen[what][1] - 5) < 0.1 and abs(seen[what][2] - 5) < 0.1  # 2 % of the set force
    assert seen["held"][0] - seen["gripped"][0] > 0.049  # of the 0.05 m that the guides rise
    assert abs(seen["pressed"][2] - 20) < 1e-6 and seen["pressed"][3]  # the limit
    assert seen["opened"][0] < 0.03

    held, turned, fell = re.findall(r"(?:held|turned|fell): at ([\d.-]+) rad, torque ([\d.-]+) N m(, saturated)?", printed)
    weight = 0.3 * 9.81  # N m, of 1 kg
    assert abs(float(held[0]) - weight / 500) < 0.02 * weight / 500 and abs(float(held[1]) + weight) < 0.01 * weight
    assert abs(float(turned[0]) + 0.5) < 0.01 and not turned[2]
    assert float(fell[0]) > float(turned[0]) + 0.2 and abs(float(fell[1])) <= 2  # down, where the damper holds it back
    check_speeds_and_paths(printed)
    assert_drawn(tmp_path / "out" / "drives", "grip.png", "motor.png", "turn.png", "tool.png", "sponge.png")
    above, pressed, wiped = re.findall(r"(?:above|pressed|wiped): tool at \[([^\]]+)\] m, force \[([^\]]+)\] N", printed)
    forces = [np.array([float(x) for x in force.split()]) for _, force in (above, pressed, wiped)]
    assert abs(forces[0][2] - 0.064 * 9.81) < 0.01  # its weight
    assert -4.2 < forces[1][2] < -3.7  # 200 N/m times some 20 mm
    assert abs(float(wiped[0].split()[0]) - 0.1) < 0.002
    sponge = re.findall(r"(pressed|too far|lifted): handle at (\S+) m, drive (\S+) N(, saturated)?, grip (\S+) N, table (\S+) N", printed)
    drive, grip, table = ({what: float(row[k]) for what, *row in sponge} for k in (1, 3, 4))
    weight, handle = 9.81 * 300 * 0.04**3, 9.81 * 500 * 0.02**3  # N
    assert [bool(row[3]) for row in sponge] == [False, True, False]
    assert -10.1 < drive["too far"] < -9.9 and drive["too far"] < drive["pressed"] < -1
    for what in ("pressed", "too far", "lifted"):  # at rest the forces on each body add up to nothing
        assert abs(table[what] + grip[what] - weight) < 0.02 and abs(drive[what] - grip[what] - handle) < 0.02
    assert table["lifted"] == 0 and abs(float(sponge[2][1]) - 0.08) < 0.001


def check_speeds_and_paths(printed):
    (turns, torque, angle), = re.findall(r"speed: turns at (\S+) rad/s with (\S+) N m at (\S+) rad", printed)
    assert abs(float(turns) + 0.5 - abs(float(torque)) / 20) < 2e-4  # the damper's
    assert abs(float(torque) + 0.3 * 9.81 * np.cos(float(angle))) < 0.01  # the weight's
    quarters = {"LINEAR": 1 / 4, "CUBIC": 5 / 32, "MINIMUM_JERK": 53 / 512}
    for kind, begin, end in (("CUBIC", -0.4, 0), ("MINIMUM_JERK", 0, -0.4)):
        (early, late), = re.findall(rf"{kind}: after a quarter at (\S+) rad, at the end at (\S+) rad", printed)
        expected = begin + (end - begin) * quarters[kind]
        assert abs(float(early) - expected) < 0.01 and abs(float(late) - end) < 0.01  # it sags by 6 mrad
    turned = re.findall(r"(\w+): after a quarter (\S+) m aside, turned by (\S+) rad; block at the end at \[([^\]]+)\]", printed)
    assert [kind for kind, *_ in turned] == list(quarters)
    for kind, aside, angle, block in turned:
        assert abs(float(aside) - 0.2 * quarters[kind]) < 1e-5 and abs(float(angle) - np.pi / 2 * quarters[kind]) < 1e-5
        assert abs(float(block.split()[0]) - 0.2) < 0.002


def test_every_block_of_the_joints_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/joints.md", server_binary, eipc_binary, tmp_path)
    run = json.loads((tmp_path / "out" / "joints" / "arm.json").read_text())
    assert run["audit"]["intersections"] == 0 and run["steps_not_converged"] == 0
    force = {name: np.array([float(x) for x in numbers.split()])
             for name, numbers in re.findall(r"(\w+): at .*?force \[([^\]]+)\] N", printed)}
    pad, tool = 1000 * 0.04**3 * 9.81, 2000 * 0.06**3 * 9.81
    assert abs(force["glue"][2] - pad) < 0.02 * pad and abs(force["wrist"][2] - pad - tool) < 0.02 * (pad + tool)
    at = {name: (float(position), float(effort)) for name, position, effort in re.findall(r"(\w+): at (\S+), effort (\S+),", printed)}
    weight = 1000 * 0.04**3 * 9.81  # of each but the heavier load, whose is twice that
    carried = {"hook": 2, "string": 1, "left": 1, "right": 2, "ceiling": 2, "seam": 1}
    for name, times in carried.items():
        np.testing.assert_allclose(force[name], [0, 0, times * weight], atol=2e-4, err_msg=name)
    assert abs(at["string"][0] - 0.04 - weight / 20) < 1e-4 and abs(at["string"][1] + weight) < 2e-4
    assert abs(at["left"][0] - weight / 40) < 1e-4 and at["right"][0] == -at["left"][0]
    assert_drawn(tmp_path / "out" / "joints", "arm.png", "kinds.png")


def test_every_block_of_the_robots_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/robots.md", server_binary, eipc_binary, tmp_path)
    places = {what: [float(x) for x in numbers.split()]
              for what, numbers in re.findall(r"(gripped|lifted|moved): cube at \[([^\]]+)\] m", printed)}
    assert places["lifted"][2] - places["gripped"][2] > 0.05 and places["moved"][1] > 0.08
    grips = [float(grip) for grip in re.findall(r"grip ([\d.]+) N", printed)]
    assert len(grips) == 3 and all(0.5 < grip <= 20 for grip in grips)  # the limit of the description
    palm = {int(step): (state, np.array([float(x) for x in numbers.split()]))
            for step, state, numbers in re.findall(r"step (\d+): palm (follows|is free), moved by \[([^\]]+)\] mm", printed)}
    assert [state for state, _ in palm.values()] == ["follows", "follows", "is free", "is free"]
    for step, aside in ((50, 40), (150, -40), (250, 40), (299, 40)):  # mm; where it was released, and it stays there
        np.testing.assert_allclose(palm[step][1], [0, aside, 0], atol=2)
    soft = re.findall(r"(?:closed|raised|kept): cube at \[([^\]]+)\] m, pads pressed with (\S+) N and (\S+) N, fingers carry (\S+) N", printed)
    assert len(soft) == 3 and float(soft[2][0].split()[2]) - float(soft[0][0].split()[2]) > 0.045
    assert_drawn(tmp_path / "out" / "robot", "pick.png", "clutch.png")
    assert float(soft[2][1]) > 0.2 and abs(float(soft[2][1]) / float(soft[2][2]) - 1) < 0.02
    weight = 9.81 * (300 * 0.03**3 + 2 * 1000 * 0.02 * 0.008 * 0.03)  # N, of the cube and the pads
    assert abs(float(soft[2][3]) / weight - 1) < 0.02


def test_every_block_of_touch_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/touch.md", server_binary, eipc_binary, tmp_path)
    felt = re.findall(r"bubble_(\w+): ([\d.]+) N, markers move by up to ([\d.]+) mm in and ([\d.]+) mm along the pad, "
                      r"depth falls by up to ([\d.]+) mm", printed)
    assert [side for side, *_ in felt] == ["left", "right"]
    for _, force, pushed, _, depth in felt:
        assert float(force) > 1 and 1 < float(pushed) < 36
        assert abs(float(depth) - float(pushed)) < 1.5  # the camera looks along the axis that the markers are pushed along
    slid = re.findall(r"(\w+): (\w+), (\S+) m/s, (\S+) mm in (\S+) s of contact; Coulomb's law says (\S+) mm", printed)
    (_, held, creep, _, _, none), (_, lost, speed, distance, _, coulomb) = slid
    assert (held, lost) == ("sticks", "slips") and float(none) == 0
    assert 0 < float(creep) < 1e-4 + 1e-9 and float(speed) > 0.5
    assert abs(float(distance) / float(coulomb) - 1) < 0.03
    from_cpp = re.findall(r"(\w+): (\w+), (\S+) m/s, (\S+) mm in (\S+) s of contact; presses with (\S+) N, up to (\d+) Pa", printed)
    assert [tuple(line[:5]) for line in from_cpp] == [tuple(line[:5]) for line in slid]
    weight = 0.06 * 0.06 * 0.02 * 1000 * 9.218  # N, across the slope
    area = 0.06 * 0.06 + 2 * 0.06 * 0.02  # m^2: of the lower corners, the lower side and half of the four beside it
    assert all(abs(float(force) / weight - 1) < 0.05 and 1 < int(pressure) * area / weight < 2 for *_, force, pressure in from_cpp)
    (shown, felt), = re.findall(r"70 wrenches, 20 ms apart; the device shows up to ([\d.]+) N of up to ([\d.]+) N", printed)
    assert float(felt) > 1 and 0 < float(shown) <= min(3, 0.5 * float(felt)) + 0.005
    filled = re.findall(r"bubble_\w+: (\S+) ml at (\S+) Pa, then (\S+) ml at (\S+) Pa, pressed with (\S+) N", printed)
    assert len(filled) == 2
    for volume, at_rest, squeezed, pressure, force in np.array(filled, dtype=float):
        assert at_rest == 200 and squeezed < volume and force > 1
        # Boyle's law, as far as tenths of a millilitre tell
        low, high = ((101325 + 200) * (volume + a) / (squeezed - a) - 101325 for a in (-0.05, 0.05))
        assert low - 1 <= pressure <= high + 1 and pressure > 300
    pressed = re.findall(r"(\w+): (\d+) of (\d+) vertices, up to (\d+) kPa, sum off by (\S+); peak stress (\d+) kPa", printed)
    assert [name for name, *_ in pressed] == ["teddy", "bubble_left", "bubble_right"]
    for _, touched, of, pressure, error, peak in pressed:
        assert 0 < int(touched) < int(of) and int(pressure) > 0 and float(error) < 1e-6 and int(peak) > 0
    (above, of, most, now), = re.findall(r"bear: (\d+) of (\d+) elements have been above 10 kPa, the most (\S+) kPa; now (\S+) kPa at most", printed)
    assert 0 < int(above) < int(of) and 0 < float(now) < 10 < float(most)
    assert_drawn(tmp_path / "out" / "touch", "press.png", "slip.png", "stress.png", "markers.png", "gas.png", "haptic.png")
    hand, bear = (np.array([float(x) for x in numbers.split()]) for numbers in re.findall(r"\[([^\]]+)\] N", printed))
    assert abs(hand[1]) < 2  # the fingers press against each other, across the bear
    assert bear[2] > -hand[2] - 1e-9  # the ground carries what the hand does not
    assert (tmp_path / "out" / "touch" / "depth.png").stat().st_size > 1000


def test_every_block_of_the_cameras_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/cameras.md", server_binary, eipc_binary, tmp_path)
    pixels, near = re.search(r"shows in (\d+) of \d+ pixels, ([\d.]+) m away", printed).groups()
    assert int(pixels) > 2000 and 0.4 < float(near) < 0.53
    assert (tmp_path / "out" / "cameras" / "views.png").stat().st_size > 10000
    seen = re.findall(r"s: the bear in (\d+) pixels, ([\d.]+) m away; in (\d+) of the hand's, which is at \[([^\]]+)\]", printed)
    assert len(seen) == 3 and all(int(side) > 1000 and 0.3 < float(far) < 0.6 and int(hand) > 100 for side, far, hand, _ in seen)
    assert len({place for *_, place in seen}) == 3, "the hand moves, and its camera with it"


def test_every_block_of_the_deadlines_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/deadlines.md", server_binary, eipc_binary, tmp_path)
    assert re.search(r"^5\d steps to 1\.\d\d s; \d+ cut short, \d+ late", printed, re.MULTILINE)
    assert_drawn(tmp_path / "out" / "deadlines", "push.png")
    assert (tmp_path / "out" / "deadlines" / "push.log").stat().st_size > 1000


def test_every_block_of_the_resets_runs(server_binary, eipc_binary, tmp_path):
    printed = follow("howto/resets.md", server_binary, eipc_binary, tmp_path)
    assert "the same seed, the same start: True" in printed
    assert_drawn(tmp_path / "out" / "resets", "starts.png")
    masses = [float(mass) for mass in re.findall(r"bear of ([\d.]+) kg", printed)]
    assert len(masses) == 5 and 1.05 < max(masses) / min(masses) < 1.25 / 0.8 * (1.05 / 0.9) ** 3
    drawn = np.array([[float(x) for x in line.split(", ")] for line in re.findall(r"bear of [\d.]+ kg, (.+)", printed)])
    np.testing.assert_array_equal(drawn[:, 2], drawn[:, 3])  # both meshes are of one size
    np.testing.assert_allclose(np.array(masses) / masses[0], drawn[:, 1] / drawn[0, 1] * (drawn[:, 2] / drawn[0, 2]) ** 3, rtol=0.03)
    assert re.search(r"placed \[3\.? +0\.? +0\.? *\] mm further", printed)
