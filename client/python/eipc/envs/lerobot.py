"""What LeRobot calls: make_env of an environment that its EnvHub loads (client/python/envhub/env.py).

Observations have the keys that LeRobot maps to its own: agent_pos (the gripper's command [4], m) and environment_state (the
vector "state" [26]). Episodes end in SAME_STEP autoreset, with info["final_info"]["is_success"].
"""

from __future__ import annotations

from typing import Any

from .registration import make_vec
from .vector_env import EipcVectorEnv

OBSERVATIONS = {"agent_pos": "gripper", "environment_state": "state"}


def make_env(n_envs: int = 1, use_async_envs: bool = False, cfg: Any = None) -> EipcVectorEnv:
    """n_envs worlds. use_async_envs: makes no difference, since the server steps worlds in parallel in any case. cfg: an object
    whose attribute `task` is the id, such as "eipc/Lift-v0"; default "eipc/Grasp-v0"."""
    del use_async_envs
    return make_vec(getattr(cfg, "task", None) or "eipc/Grasp-v0", n_envs, observations=OBSERVATIONS, autoreset_mode="SAME_STEP",
                    render_mode="rgb_array")
