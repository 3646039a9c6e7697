"""Environments for learning: tasks of soft manipulation with Gymnasium's interface, on one session of many worlds.

    env = eipc.envs.make_vec("eipc/Grasp-v0", num_envs=16)
    observations, info = env.reset(seed=0)
    observations, rewards, terminations, truncations, info = env.step(env.action_space.sample())

Where Gymnasium is installed, importing this module registers the ids for gymnasium.make and gymnasium.make_vec.
"""

from .checker import VectorEnvError, check_vector_env
from .gym_api import AutoresetMode
from .registration import REGISTRY, make, make_vec, register
from .scene_files import model_file
from .single_env import EipcEnv
from .spaces import Box, Dict, Space, batch_space
from .task import Episodes, Score, Task, Timing
from .vector_env import EipcVectorEnv

register()

__all__ = [
    "AutoresetMode", "Box", "Dict", "EipcEnv", "EipcVectorEnv", "Episodes", "REGISTRY", "Score", "Space", "Task", "Timing",
    "VectorEnvError", "batch_space", "check_vector_env", "make", "make_vec",
    "model_file",
]
