"""Policies that run elsewhere: clients of OpenPI's and GR00T's policy servers, as policies of `eipc evaluate` and of any loop."""

from .chunks import ActionChunks
from .gr00t import Gr00tPolicy
from .openpi import OpenPiPolicy

__all__ = ["ActionChunks", "Gr00tPolicy", "OpenPiPolicy"]
