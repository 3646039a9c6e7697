"""The checker of vector environments: it passes what keeps the contract and finds what breaks it."""

import itertools

import numpy as np
import pytest

import eipc
from drift_env import DriftEnv
from eipc.envs import AutoresetMode, Box, EipcVectorEnv, VectorEnvError, check_vector_env
from small_grasp import small_task

MODES = list(AutoresetMode)


@pytest.mark.parametrize("mode", MODES)
def test_an_environment_that_keeps_the_contract_passes(mode):
    seen = check_vector_env(DriftEnv(3, mode, "rgb_array"), other=DriftEnv(3, mode))
    assert seen["steps"] == 50 and seen["terminations"] > 0 and seen["truncations"] > 0
    check_vector_env(DriftEnv(1, mode))


@pytest.mark.parametrize("mode", MODES)
def test_ours_passes(mode, server_binary):
    with eipc.launch(server_binary) as server:
        def task(client):
            return small_task(client, max_episode_steps=6)

        options = {"server": server, "autoreset_mode": mode}
        with EipcVectorEnv(task, 3, render_mode="rgb_array", render_size=(24, 16), **options) as env, EipcVectorEnv(task, 3, **options) as other:
            seen = check_vector_env(env, steps=14, other=other)
            assert seen["truncations"] >= 6
        with EipcVectorEnv(task, 2, observations=("gripper", "contacts"), render_mode="depth_array", render_size=(24, 16), **options) as env:
            check_vector_env(env, steps=2)


class WrongType(DriftEnv):
    def observe(self):
        return super().observe().astype(np.float64)


class OutOfBounds(DriftEnv):
    def observe(self):
        seen = super().observe()
        seen[0, 0] += 3
        return seen


class OneBuffer(DriftEnv):
    buffer = None

    def observe(self):
        if self.buffer is None:
            self.buffer = super().observe()
        self.buffer[...] = super().observe()
        return self.buffer


class ListOfRewards(DriftEnv):
    def step(self, actions):
        seen, rewards, terminated, truncated, info = super().step(actions)
        return seen, rewards.tolist(), terminated, truncated, info


class InfiniteRewards(DriftEnv):
    def step(self, actions):
        seen, rewards, terminated, truncated, info = super().step(actions)
        return seen, np.where(truncated, np.inf, rewards), terminated, truncated, info


class NumbersForEnds(DriftEnv):
    def step(self, actions):
        seen, rewards, terminated, truncated, info = super().step(actions)
        return seen, rewards, terminated.astype(int), truncated, info


class FourValues(DriftEnv):
    def step(self, actions):
        seen, rewards, terminated, truncated, info = super().step(actions)
        return seen, rewards, terminated | truncated, info


class NoMask(DriftEnv):
    def info(self, mask):
        return {"time": self.time.copy()}


class ListOfInfos(DriftEnv):
    def info(self, mask):
        return [{"time": time} for time in self.time]


class WallTime(DriftEnv):
    clock = itertools.count()

    def info(self, mask):
        return {"wall": np.full(self.num_envs, next(self.clock)), "_wall": np.ones(self.num_envs, dtype=bool)}


class OneSeedForAll(DriftEnv):
    def seed_of(self, world, seed):
        return seed


class IgnoresItsSeed(DriftEnv):
    entropy = itertools.count()

    def seed_of(self, world, seed):
        return next(self.entropy)


class NeverResets(DriftEnv):
    def step(self, actions):
        self.over[:] = False
        return super().step(actions)


class NoLastObservation(DriftEnv):
    def at_once(self, seen, info):
        seen, info = super().at_once(seen, info)
        return seen, {key: value for key, value in info.items() if "final_obs" not in key}


class StaysAtTheEnd(DriftEnv):
    def at_once(self, seen, info):
        return seen, super().at_once(seen, info)[1]


class ResetsEverybody(DriftEnv):
    def begin(self, mask):
        super().begin(mask | mask.any())


class NotStacked(DriftEnv):
    def __init__(self, *args):
        super().__init__(*args)
        self.action_space = Box(-1, 1, (1,))


class ModeAsText(DriftEnv):
    def __init__(self, num_envs, mode):
        super().__init__(num_envs, mode)
        self.metadata["autoreset_mode"] = mode.value


class OnePicture(DriftEnv):
    def __init__(self, num_envs, mode):
        super().__init__(num_envs, mode, "rgb_array")

    def render(self):
        return super().render()[:1]


NEXT, SAME, NONE = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


@pytest.mark.parametrize("faulty, mode, message", [
    (WrongType, NEXT, r"reset\(\) are not in observation_space: expected shape \(3, 2\) of float32, and came shape \(3, 2\) of float64"),
    (OutOfBounds, NEXT, r"value [\d.]+ at \(0, 0\) is outside \[-2.0, 2.0\]"),
    (OneBuffer, NEXT, r"step\(\) wrote into the observations that reset\(\) had returned"),
    (ListOfRewards, NEXT, r"rewards must be an array of numbers of shape \(3,\), and are list of length 3"),
    (InfiniteRewards, NEXT, "rewards must be finite"),
    (NumbersForEnds, NEXT, r"terminations must be an array of bool of shape \(3,\), and are shape \(3,\) of int64"),
    (FourValues, NEXT, r"step\(\) must return \(observations, rewards, .*, and returned tuple of length 4"),
    (NoMask, NEXT, r"info of reset\(\) has 'time' and no mask '_time'"),
    (ListOfInfos, NEXT, r"info of reset\(\) must be a dict, and is list of length 3"),
    (WallTime, NEXT, r"the info of reset\(seed=s\) differ from one run to the next: 'wall': "),
    (OneSeedForAll, NEXT, r"all worlds begin alike after reset\(seed=s\), although other seeds begin elsewhere"),
    (IgnoresItsSeed, NEXT, r"the observations of reset\(seed=s\) differ from one run to the next"),
    (NeverResets, NEXT, r"NEXT_STEP: the episode of world \d was over, so step \d+ must reset it"),
    (NoLastObservation, SAME, 'SAME_STEP: episodes were over at step \\d+, and info has no "final_obs"'),
    (StaysAtTheEnd, SAME, r"SAME_STEP: the episode of world \d was over at step \d+, and its observation is still the last one"),
    (ResetsEverybody, NONE, "changed the observation of world 1, which the mask leaves out"),
    (NotStacked, NEXT, "action_space must (have|be) "),
    (ModeAsText, NEXT, r"must be a member of AutoresetMode \(NEXT_STEP, SAME_STEP, DISABLED\), and is 'NextStep'"),
    (OnePicture, NEXT, r"render\(\) must return a picture a world, 3, and returned tuple of length 1"),
])
def test_a_planted_fault_is_found_and_named(faulty, mode, message):
    with pytest.raises(VectorEnvError, match=message):
        check_vector_env(faulty(3, mode))
