"""Kinematics of a robot against closed forms, without a server: poses, Jacobians, inverse kinematics, commands, clutches."""

import math
import unittest

import numpy as np

import eipc
from eipc import robot

# Two bars of 0.3 m and 0.2 m that turn about y, a wrist that turns about x, and a gripper whose fingers part along y.
ARM = """
robots {
  name: "arm"
  base { position_m { z: 0.1 } }
  links { name: "base" }
  links { name: "upper" bodies { body: "upper" pose { position_m { x: 0.15 } } } }
  links { name: "lower" bodies { body: "lower" pose { position_m { x: 0.1 } } } }
  links { name: "flange" }
  links { name: "hand" bodies { body: "hand" } }
  links { name: "left" bodies { body: "left" } }
  links { name: "right" bodies { body: "right" } }
  joints { name: "shoulder" type: REVOLUTE parent: 0 axis { y: 1 } lower: -3 upper: 3 max_speed: 2 }
  joints { name: "elbow" type: REVOLUTE parent: 1 origin { position_m { x: 0.3 } } axis { y: 1 } lower: -2 upper: 2 max_speed: 2 start: 0.5 }
  joints { name: "mount" type: FIXED parent: 2 origin { position_m { x: 0.2 } } }
  joints { name: "roll" type: CONTINUOUS parent: 3 axis { x: 1 } }
  joints { name: "open" type: PRISMATIC parent: 4 axis { y: 1 } lower: 0 upper: 0.04 start: 0.01 scene_joint: "open" }
  joints { name: "follows" type: PRISMATIC parent: 4 axis { y: -1 } mimic: 4 multiplier: 1 scene_joint: "follows" }
}
"""


def numbers(pose):
    return np.concatenate([pose.position, pose.orientation])


class KinematicsTest(unittest.TestCase):

    def setUp(self):
        self.arm = robot.Robot.of_scene(ARM)

    def test_numbers_that_are_none_are_refused(self):
        """They came back as coordinates that are none."""
        start, goal, nan = self.arm.start, eipc.Pose([0.4, 0, 0]), math.nan
        for words in ({"dt": 0}, {"dt": -0.01}, {"dt": nan}, {"dt": math.inf}, {"damping": nan}, {"damping": -1}, {"max_speed_m_s": nan},
                      {"max_speed_rad_s": -1}, {"orientation_weight_m": nan}, {"point": [nan, 0, 0]}, {"point": [0, 0]}):
            with self.assertRaisesRegex(ValueError, next(iter(words)).removeprefix("max_")):
                self.arm.follow("hand", goal, start, **{"dt": 0.01, **words})
        for words in ({"damping": nan}, {"orientation_weight_m": -1}, {"point": [math.inf, 0, 0]}):
            with self.assertRaisesRegex(ValueError, next(iter(words))):
                self.arm.solve("hand", goal, start, **words)
        with self.assertRaisesRegex(ValueError, "finite time"):
            self.arm.path([0, nan], [start, start])
        self.assertTrue(np.isfinite(self.arm.follow("hand", goal, start, 0.01, max_speed_m_s=0)).all())

    def test_joints_are_those_that_move_and_follow_none(self):
        self.assertEqual([joint.name for joint in self.arm.joints], ["shoulder", "elbow", "roll", "open"])
        self.assertEqual([joint.dynamic for joint in self.arm.joints], [False, False, False, True])
        np.testing.assert_allclose(self.arm.start, [0, 0.5, 0, 0.01])
        self.assertEqual(self.arm.joints[2].upper, math.inf)

    def test_poses_are_those_of_a_planar_arm(self):
        a, b = 0.4, -0.9
        poses = self.arm.link_poses({"shoulder": a, "elbow": b, "roll": 0.3, "open": 0.02})
        x = 0.3 * math.cos(a) + 0.2 * math.cos(a + b)
        z = 0.1 - 0.3 * math.sin(a) - 0.2 * math.sin(a + b)
        np.testing.assert_allclose(poses["hand"].position, [x, 0, z], atol=1e-15)
        # Fingers part by the same distance on both sides, along the y of a hand that is rolled.
        apart = poses["left"].position - poses["right"].position
        np.testing.assert_allclose(apart, 0.04 * poses["hand"].rotation_matrix()[:, 1], atol=1e-15)

    def test_the_jacobian_is_the_derivative(self):
        q, point, step = np.array([0.4, -0.9, 0.3, 0.02]), [0.01, 0.02, 0.03], 1e-6
        for link in ("hand", "left", "right"):
            jacobian = self.arm.jacobian(link, q, point)
            for k in range(4):
                ahead, behind = (self.arm.link_poses(q + s * step * np.eye(4)[k])[link] for s in (1, -1))
                linear = (ahead.apply(point) - behind.apply(point)) / (2 * step)
                turn = robot.rotation_vector((ahead @ behind.inverse()).orientation) / (2 * step)
                np.testing.assert_allclose(jacobian[:, k], [*linear, *turn], atol=1e-8, err_msg=f"{link} {k}")

    def test_limits_and_names_are_checked(self):
        for bad, words in (({"shoulder": 4}, "beyond its limits -3"), ({"wing": 0}, "no joint 'wing'"), ({"elbow": math.nan}, "must be finite"),
                           ([0, 0], "needs 4 coordinates"), ({"follows": 0.01}, "no joint 'follows' that moves and follows none")):
            with self.assertRaisesRegex(ValueError, words):
                self.arm.coordinates(bad)
        with self.assertRaisesRegex(ValueError, "no link 'tail'; there are: base, upper"):
            self.arm.jacobian("tail", self.arm.start)
        with self.assertRaisesRegex(eipc.SceneFileError, "must have one robot 'leg'; there are: arm"):
            robot.Robot.of_scene(ARM, "leg")
        with self.assertRaisesRegex(eipc.SceneFileError, r"joints\[1\].parent: must be a link before 2, got 5"):
            robot.Robot.of_scene(ARM.replace("REVOLUTE parent: 1", "REVOLUTE parent: 5"))
        with self.assertRaisesRegex(eipc.SceneFileError, r"joints\[5\].mimic: must be a joint that moves"):
            robot.Robot.of_scene(ARM.replace("mimic: 4", "mimic: 2"))


class InverseTest(unittest.TestCase):

    def setUp(self):
        self.arm = robot.Robot.of_scene(ARM)

    def test_solves_for_poses_that_can_be_reached(self):
        random = np.random.default_rng(5)
        for _ in range(20):
            wanted = self.arm.link_poses([*random.uniform(-1, 1, 3), 0.01])["hand"]
            start = [0.1, 0.3, 0, 0.01]
            found = self.arm.solve("hand", wanted, start)
            # An arm in a plane reaches a pose by two bends; from the wrong one it may end in a minimum that is none of the pose.
            if not found.reaches(1e-9, 1e-8):
                found = self.arm.solve("hand", wanted, [0.1, -0.3, 0, 0.01])
            self.assertTrue(found.reaches(1e-9, 1e-8), f"{wanted} {found}")
            reached = self.arm.link_poses(found.coordinates)["hand"]
            np.testing.assert_allclose(numbers(reached), numbers(wanted), atol=1e-8)
            self.assertEqual(found.coordinates[3], 0.01)

    def test_says_how_far_it_is_from_what_cannot_be_reached(self):
        found = self.arm.solve("hand", eipc.Pose([1.0, 0, 0.1]), [0.3, 0.2, 0, 0.01], orientation_weight_m=0)
        self.assertAlmostEqual(found.position_error_m, 0.5, places=6)
        self.assertFalse(found.reaches())

    def test_follows_with_limited_speeds_through_a_singularity(self):
        q = self.arm.coordinates({"shoulder": 0.0, "elbow": 0.02, "roll": 0.0})
        target = self.arm.link_poses(q)["hand"].translated([-0.1, 0, 0.05])
        for _ in range(400):
            before, position = q, self.arm.link_poses(q)["hand"].position
            q = self.arm.follow("hand", target, q, 0.01, max_speed_m_s=0.2, orientation_weight_m=0)
            self.assertLessEqual(np.abs(q - before).max(), 2 * 0.01 + 1e-12)
            self.assertLessEqual(np.linalg.norm(self.arm.link_poses(q)["hand"].position - position), 0.3 * 0.01)
        np.testing.assert_allclose(self.arm.link_poses(q)["hand"].position, target.position, atol=1e-6)


class CommandTest(unittest.TestCase):

    def setUp(self):
        self.arm = robot.Robot.of_scene(ARM)

    def test_commands_are_poses_of_kinematic_bodies_and_positions_of_drives(self):
        options = self.arm.command({"shoulder": 0.2, "open": 0.03})
        self.assertEqual(set(options["targets"]), {"upper", "lower", "hand"})
        middle = self.arm.link_poses({"shoulder": 0.2})["upper"].apply([0.15, 0, 0])
        np.testing.assert_allclose(options["targets"]["upper"].position, middle, atol=1e-15)
        self.assertEqual(set(options["joints"]), {"open"})
        self.assertAlmostEqual(options["joints"]["open"].values[0], 0.02)  # from where the scene places it

    def test_paths_follow_the_interpolated_coordinates(self):
        options = self.arm.path([0, 1], [self.arm.start, {"shoulder": 1.0, "open": 0.03}])
        trajectory = options["trajectories"]["hand"]
        self.assertGreaterEqual(len(trajectory.poses), 101)
        halfway = self.arm.link_poses({"shoulder": 0.5})["hand"]
        np.testing.assert_allclose(numbers(trajectory.at(0.5)), numbers(halfway), atol=1e-12)
        np.testing.assert_allclose(options["joints"]["open"].values, [0.0, 0.02], atol=1e-15)
        with self.assertRaisesRegex(ValueError, "increasing"):
            self.arm.path([0, 0], [self.arm.start, self.arm.start])

    def test_a_clutch_moves_a_target_relatively(self):
        clutch = robot.Clutch(eipc.Pose([0.5, 0, 0.3]), scale=0.5)
        self.assertEqual(clutch.move(eipc.Pose([9, 9, 9])).position.tolist(), [0.5, 0, 0.3])
        quarter = robot.quaternion_of([0, 0, math.pi / 2])
        clutch.engage(eipc.Pose([1, 0, 0]))
        moved = clutch.move(eipc.Pose([1.2, 0, 0], quarter))
        np.testing.assert_allclose(numbers(moved), [0.6, 0, 0.3, *quarter], atol=1e-15)
        clutch.release()
        clutch.move(eipc.Pose([0, 0, 0]))
        clutch.engage(eipc.Pose([5, 5, 5]))
        np.testing.assert_allclose(numbers(clutch.move(eipc.Pose([5, 5, 5]))), numbers(moved), atol=1e-15)
        turned = robot.Clutch(eipc.Pose(), frame=quarter)
        turned.engage(eipc.Pose())
        np.testing.assert_allclose(turned.move(eipc.Pose([0.1, 0, 0])).position, [0, 0.1, 0], atol=1e-15)
        with self.assertRaisesRegex(ValueError, "scale must be > 0"):
            robot.Clutch(eipc.Pose(), scale=0)

    def test_rotation_vectors_are_those_of_quaternions(self):
        for vector in ([0, 0, 0], [1e-14, 0, 0], [0.3, -0.2, 0.9], [0, math.pi - 1e-9, 0]):
            np.testing.assert_allclose(robot.rotation_vector(robot.quaternion_of(vector)), vector, atol=1e-14)


if __name__ == "__main__":
    unittest.main()
