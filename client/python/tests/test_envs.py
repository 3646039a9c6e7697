"""Vector environments against the real server, on a grasp that takes milliseconds. Skips when the server has not been built."""

import numpy as np
import pytest

import eipc
from eipc.envs import AutoresetMode, EipcEnv, EipcVectorEnv
from small_grasp import grasping, small_task

W = 4


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary) as server:
        yield server


@pytest.fixture
def make(server):
    """Makes environments of the small grasp and closes them."""
    made = []

    def make(num_envs=W, task=small_task, **options):
        made.append(EipcVectorEnv(task, num_envs, server=server, **options))
        return made[-1]

    yield make
    for env in made:
        env.close()


def until_over(env, seed=0):
    """Steps of the scripted grasp until the first world is over."""
    seen, info = env.reset(seed=seed)
    for step in range(40):
        seen, rewards, terminated, truncated, info = env.step(grasping(seen, step))
        if (terminated | truncated).any():
            return step, seen, rewards, terminated, truncated, info
    raise AssertionError("no episode ended")


def test_spaces_describe_what_is_given(make):
    env = make()
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space and observation[0] in env.single_observation_space
    assert env.action_space.shape == (W, 4) and env.single_action_space.shape == (4,)
    assert not info["is_success"].any() and info["_is_success"].all() and (info["elapsed_steps"] == 0).all()
    env.action_space.seed(0)
    for _ in range(3):
        observation, rewards, terminated, truncated, info = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert rewards.shape == terminated.shape == truncated.shape == (W,)
        assert terminated.dtype == truncated.dtype == bool and rewards.dtype == np.float64
    assert (info["elapsed_steps"] == 3).all() and env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_groups_are_chosen_by_name(make):
    groups = ("poses", "velocities", "wrenches", "contact_forces", "contacts", "cage", "keypoints", "gripper")
    env = make(2, observations=groups, keypoints=5)
    seen, _ = env.reset(seed=0)
    assert list(seen) == list(groups) and seen in env.observation_space
    for step in range(6):
        seen = env.step(grasping(seen["poses"], step))[0]
    cube = env.task.layout.bodies.index("cube")
    assert seen["poses"].shape == (2, 3, 7) and seen["keypoints"].shape == (2, 5, 3)
    # The mean of a cube's corners is its middle, and keypoints are five of its eight corners.
    np.testing.assert_allclose(seen["cage"].mean(axis=1), seen["poses"][:, cube, :3], atol=1e-4)
    distance = np.linalg.norm(seen["keypoints"][:, :, None] - seen["cage"][:, None], axis=3).min(axis=2)
    np.testing.assert_allclose(distance, 0, atol=1e-6)
    assert (seen["contacts"].sum(axis=(1, 2)) > 0).all()
    np.testing.assert_allclose(seen["contact_forces"], seen["wrenches"][:, :, 0] + seen["wrenches"][:, :, 1], atol=1e-5)
    assert (seen["contact_forces"][:, 0, 1] > 1).all() and (seen["contact_forces"][:, 1, 1] < -1).all()  # left pushes to +y


def test_a_scripted_grasp_succeeds_and_its_rewards_add_up(make):
    env = make()
    seen, _ = env.reset(seed=0)
    total = np.zeros(W)
    for step in range(20):
        actions = grasping(seen, step)
        seen, rewards, terminated, truncated, info = env.step(actions)
        total += rewards + env.action_cost * (actions**2).mean(axis=1)
        if terminated.any():
            break
    assert terminated.all() and not truncated.any() and info["is_success"].all() and not info["failed"].any()
    assert (info["rise_m"] >= 0.02).all() and (info["pads"] == 2).all()
    np.testing.assert_allclose(total, 2.0, atol=1e-9)  # the whole potential, and 1 for the success


def test_next_step_begins_episodes_one_step_later(make):
    env = make(autoreset_mode="NEXT_STEP")
    _, seen, _, terminated, _, info = until_over(env)
    assert terminated.all() and (info["elapsed_steps"] > 0).all()
    seen, rewards, terminated, truncated, info = env.step(np.ones((W, 4)))
    assert not (terminated | truncated).any() and (rewards == 0).all()
    assert (info["elapsed_steps"] == 0).all() and not info["is_success"].any()
    np.testing.assert_allclose(seen[:, 0], -1, atol=1e-6)  # the gripper is open


def test_same_step_gives_the_last_observation_apart(make):
    same, later = make(autoreset_mode="SAME_STEP"), make(autoreset_mode="NEXT_STEP")
    _, seen, rewards, terminated, truncated, info = until_over(same)
    _, last, last_rewards, _, _, last_info = until_over(later)
    over = terminated | truncated
    np.testing.assert_array_equal(info["_final_obs"], over)
    np.testing.assert_array_equal(np.stack(list(info["final_obs"][over])), last[over])
    np.testing.assert_array_equal(rewards, last_rewards)
    np.testing.assert_array_equal(info["final_info"]["state_digest"][over], last_info["state_digest"][over])
    assert info["final_info"]["is_success"][over].all() and not info["is_success"].any()
    begun, _, _, _, _ = later.step(np.zeros((W, 4)))  # the episode that the other has begun already
    np.testing.assert_array_equal(seen[over], begun[over])


def test_disabled_resets_by_mask_alone(make):
    env = make(autoreset_mode="DISABLED", task=lambda client: small_task(client, max_episode_steps=2))
    env.reset(seed=0)
    env.step(np.zeros((W, 4)))
    before, _, _, truncated, info = env.step(np.zeros((W, 4)))
    assert truncated.all()
    with pytest.raises(RuntimeError, match=r"worlds \[0, 1, 2, 3\] are over; reset them"):
        env.step(np.zeros((W, 4)))
    mask = np.array([True, False, True, False])
    after, again = env.reset(options={"reset_mask": mask}, seed=0)
    np.testing.assert_array_equal(again["_elapsed_steps"], mask)
    np.testing.assert_array_equal(after[~mask], before[~mask])
    assert (after[mask] != before[mask]).any()
    with pytest.raises(RuntimeError, match=r"worlds \[1, 3\]"):
        env.step(np.zeros((W, 4)))
    env.reset(options={"reset_mask": ~mask})
    assert not env.step(np.zeros((W, 4)))[3].any()


def test_episodes_are_cut_off_at_their_limit(make):
    env = make(2, max_episode_steps=3)
    env.reset(seed=0)
    cut = [env.step(np.zeros((2, 4)))[3].tolist() for _ in range(5)]
    assert cut == [[False] * 2, [False] * 2, [True] * 2, [False] * 2, [False] * 2]
    endless = make(1, max_episode_steps=0)
    endless.reset(seed=0)
    assert not any(endless.step(np.zeros((1, 4)))[3].any() for _ in range(35))


def test_equal_seeds_begin_equal_episodes(make):
    first, second = make(), make()
    a, b = first.reset(seed=7), second.reset(seed=7)
    np.testing.assert_array_equal(a[1]["state_digest"], b[1]["state_digest"])
    assert len(set(a[1]["state_digest"])) == W  # each world has a start of its own
    np.testing.assert_array_equal(first.reset()[0], second.reset()[0])  # and goes on from there
    assert not np.array_equal(first.reset(seed=8)[0], a[0])
    np.testing.assert_array_equal(first.reset(seed=[7, 8, 9, 10])[0], a[0])


def test_a_single_environment_is_world_0(make, server):
    env, many = EipcEnv(small_task, server=server), make()
    observation, info = env.reset(seed=5)
    all_of_them, infos = many.reset(seed=5)
    np.testing.assert_array_equal(observation, all_of_them[0])
    assert info["state_digest"] == infos["state_digest"][0] and info["is_success"] is False
    for step in range(4):
        actions = np.random.default_rng(step).uniform(-1, 1, (W, 4))
        observation, reward, terminated, truncated, info = env.step(actions[0])
        all_of_them, rewards, _, _, infos = many.step(actions)
        np.testing.assert_array_equal(observation, all_of_them[0])
        assert type(reward) is float and terminated is False and truncated is False and reward == rewards[0]
    assert info["state_digest"] == infos["state_digest"][0]
    env.close()
    env.close()


def test_a_world_that_fails_touches_no_other(make):
    """One by an action that is no number, one by a request that the server refuses."""
    well, ill = make(), make()
    well.reset(seed=3), ill.reset(seed=3)
    poses = ill.task.gripper.poses

    def beyond_all_numbers(commands):
        result = poses(commands)
        if len(result) == W - 1:  # worlds 0, 2, 3
            result[2] = 1e300
        return result

    for step in range(4):
        actions = np.random.default_rng(step).uniform(-1, 1, (W, 4))
        digests = well.step(actions)[4]["state_digest"]
        if step == 1:
            actions[1] = np.nan
            object.__setattr__(ill.task, "gripper", _with_poses(ill.task.gripper, beyond_all_numbers))
        seen, rewards, terminated, truncated, info = ill.step(actions)
        np.testing.assert_array_equal(info["state_digest"][[0, 2]], digests[[0, 2]])
        if step == 1:
            object.__setattr__(ill.task, "gripper", ill.task.gripper.inner)
            assert truncated.tolist() == info["failed"].tolist() == info["_failure"].tolist() == [False, True, False, True]
            assert info["failure"][1] == "the action is not finite" and "INVALID_REQUEST" in info["failure"][3]
            assert rewards[1] == rewards[3] == 0 and np.isfinite(seen).all()
        if step == 2:
            assert info["elapsed_steps"].tolist() == [3, 0, 3, 0]  # those that failed begin again
        assert "failure" not in info or step == 1


class _with_poses:
    """A gripper with other poses."""

    def __init__(self, inner, poses):
        self.inner, self.poses = inner, poses

    def __getattr__(self, name):
        return getattr(self.inner, name)


@pytest.mark.parametrize("options, message", [
    ({"num_envs": 0}, "num_envs is 0"), ({"autoreset_mode": "LATER"}, "is one of NEXT_STEP, SAME_STEP, DISABLED"),
    ({"observations": "smell"}, "no group of observations is called 'smell'"), ({"observations": ()}, "at least one"),
    ({"render_mode": "human"}, "render_mode is 'human'"), ({"max_episode_steps": -1}, "max_episode_steps is -1"),
    ({"observations": "keypoints", "keypoints": 9}, "9 keypoints of a surface of 8 vertices"),
])
def test_what_cannot_be_is_refused_in_words(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_wrong_calls_are_refused_in_words(make):
    env = make()
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros((W, 4)))
    with pytest.raises(ValueError, match="first reset must be of all"):
        env.reset(options={"reset_mask": np.array([True, False, True, True])})
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"shape \(4,\), and must have \(4, 4\)"):
        env.step(np.zeros(4))
    with pytest.raises(ValueError, match="2 seeds for 4 worlds"):
        env.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.zeros(W, dtype=bool)})
