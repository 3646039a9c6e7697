"""A vector environment that is not ours: points that drift on a line until they leave it. NumPy only, one array a quantity."""

import numpy as np

from eipc.envs import AutoresetMode, Box, batch_space

STEPS = 6


class DriftEnv:
    """Tests override its parts to plant faults."""

    def __init__(self, num_envs=3, mode=AutoresetMode.NEXT_STEP, render_mode=None):
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = {"autoreset_mode": mode, "render_modes": ["rgb_array", "depth_array"]}
        self.single_observation_space, self.single_action_space = Box(-2, 2, (2,)), Box(-1, 1, (1,))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.random = [None] * num_envs
        self.x, self.v, self.time = np.zeros((3, num_envs))
        self.over = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed=None, options=None):
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        for world in np.flatnonzero(mask):
            if seed is not None or self.random[world] is None:
                self.random[world] = np.random.default_rng(self.seed_of(world, seed))
        self.begin(mask)
        return self.observe(), self.info(mask)

    def step(self, actions):
        mode = self.metadata["autoreset_mode"]
        begin = self.over if mode is AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, dtype=bool)
        acting = ~begin
        self.v[acting] += 0.3 * actions[acting, 0]
        self.v = np.clip(self.v, -0.5, 0.5)
        self.x[acting] += self.v[acting]
        self.time[acting] += 1
        rewards = np.where(acting, 1 - np.abs(self.x), 0.0)
        self.begin(begin)
        terminated = acting & (np.abs(self.x) > 1)
        truncated = acting & (self.time >= STEPS)
        self.over = terminated | truncated
        self.x = np.clip(self.x, -2, 2)
        seen, info = self.observe(), self.info(np.ones(self.num_envs, dtype=bool))
        if mode is AutoresetMode.SAME_STEP and self.over.any():
            seen, info = self.at_once(seen, info)
        return seen, rewards, terminated, truncated, info

    def seed_of(self, world, seed):
        return None if seed is None else seed + world

    def begin(self, mask):
        for world in np.flatnonzero(mask):
            self.x[world] = self.random[world].uniform(-0.5, 0.5)
            self.v[world] = self.time[world] = 0
        self.over = self.over & ~mask

    def observe(self):
        return np.stack([self.x, self.v], axis=1).astype(np.float32)

    def info(self, mask):
        return {"time": self.time * mask, "_time": mask.copy()}

    def at_once(self, seen, info):
        over, last = self.over.copy(), np.full(self.num_envs, None, dtype=object)
        for world in np.flatnonzero(over):
            last[world] = seen[world]
        self.begin(over)
        everyone = np.ones(self.num_envs, dtype=bool)
        ended = {"time": np.where(over, info["time"], 0), "_time": over.copy()}
        return self.observe(), {**self.info(everyone), "final_obs": last, "_final_obs": over, "final_info": ended, "_final_info": over.copy()}

    def render(self):
        return tuple(np.zeros((4, 6, 3), dtype=np.uint8) for _ in range(self.num_envs))

    def close(self):
        pass
