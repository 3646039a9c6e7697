"""Policies for tests of evaluations, of the small grasp (small_grasp.py)."""

import os
import threading

import numpy as np


class Grasp:
    def reset(self, seed):
        self.step = 0

    def act(self, observation):
        self.step += 1
        return np.array([1, 0, 0, 0.5 if self.step > 6 else 0])


class GraspEvenSeeds(Grasp):
    def reset(self, seed):
        super().reset(seed)
        self.even = seed % 2 == 0

    def act(self, observation):
        return super().act(observation) if self.even else np.zeros(4)


class Throws(Grasp):
    def reset(self, seed):
        super().reset(seed)
        self.bad = seed == 1

    def act(self, observation):
        if self.bad and self.step == 2:
            raise RuntimeError("no grasp is known")
        return super().act(observation)


class EndsOnce(Grasp):
    """Kills its process in the third action of seed 2, once (the file of EIPC_TEST_ONCE)."""

    def reset(self, seed):
        super().reset(seed)
        self.seed = seed

    def act(self, observation):
        once = os.environ["EIPC_TEST_ONCE"]
        if self.seed == 2 and self.step == 3 and not os.path.exists(once):
            open(once, "w").close()
            os.kill(os.getpid(), 9)
        return super().act(observation)


def hangs(observation):
    threading.Event().wait()


def two_numbers(observation):
    return [0.0, 1.0]


def ends(observation):
    os._exit(3)


class HangsOnce(Grasp):
    """Never answers in seed 1."""

    def reset(self, seed):
        super().reset(seed)
        self.seed = seed

    def act(self, observation):
        if self.seed == 1:
            hangs(observation)
        return super().act(observation)


hangs_once = HangsOnce


class ReadsInput(Grasp):
    """Fails where standard input has words for it."""

    def reset(self, seed):
        super().reset(seed)
        words = os.read(0, 1)
        if words:
            raise RuntimeError(f"read {words!r}")


class Hasty(Grasp):
    """Closes slower, by an amount drawn from the seed, and lifts as early as Grasp does."""

    def reset(self, seed):
        super().reset(seed)
        self.closing = np.random.default_rng(seed).uniform(0.6, 1.0)

    def act(self, observation):
        action = super().act(observation)
        action[0] = self.closing
        return action
