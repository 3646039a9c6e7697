"""Policies for tests of evaluations of scene files, of the small grasp with goals (goal_scene.py)."""

import numpy as np

import eipc

OBSERVE = eipc.Observe(boundary_poses=True, solver_report=False)


class Squeeze:
    """Closes the plates on the cube and lifts it; in odd seeds, it does not close."""

    observe = OBSERVE

    def reset(self, seed):
        self.step, self.closes = 0, seed % 2 == 0

    def act(self, seen):
        self.step += 1
        inward = min(0.001 * self.step, 0.017) if self.closes else 0.0
        height = 0.03 + max(0.0, 0.002 * (self.step - 20))
        return {"targets": {"left": eipc.Pose([0, -0.045 + inward, height]), "right": eipc.Pose([0, 0.045 - inward, height])}}


class NegativeZero(Squeeze):
    """Its commands hold -0."""

    def act(self, seen):
        targets = super().act(seen)["targets"]
        return {"targets": {name: eipc.Pose(pose.position + np.array([-0.0, 0, 0]), pose.orientation) for name, pose in targets.items()}}


def number(seen):
    return 3.0


def unknown_command(seen):
    return {"forces": {}}


def unknown_body(seen):
    return {"targets": {"middle": eipc.Pose([0, 0, 0])}}
