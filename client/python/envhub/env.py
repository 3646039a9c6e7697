"""The file that LeRobot's EnvHub reads at the root of a repository; the package eipc must be installed."""

from eipc.envs.lerobot import make_env

__all__ = ["make_env"]
