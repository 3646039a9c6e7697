"""Recorded episodes in the formats of others: LeRobot data sets, robomimic's HDF5, MCAP for Foxglove and Rerun, glTF, web pages.

    from eipc import export
    export.write_lerobot("lifts_lerobot", eipc.load_episodes("lifts"))
"""

from ..gltf import write_glb
from ..robomimic import write_hdf5
from ..viz.page import write_episode_page
from .foxglove import write_mcap
from .lerobot import write_lerobot

__all__ = ["write_episode_page", "write_glb", "write_hdf5", "write_lerobot", "write_mcap"]
