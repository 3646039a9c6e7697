"""Policies that learn here: by the cross-entropy method from scratch, and by cloning recorded demonstrations. NumPy is all they need.

    eipc learn eipc/Grasp-v0 --out learned
"""

from .cloning import CloningSettings, clone
from .cross_entropy import CrossEntropySettings, Generation, cross_entropy
from .evaluation import Rate, success_rate
from .policies import LinearPolicy, NetworkPolicy, VectorPolicy, load

__all__ = ["CloningSettings", "CrossEntropySettings", "Generation", "LinearPolicy", "NetworkPolicy", "Rate", "VectorPolicy", "clone",
           "cross_entropy", "load", "success_rate"]
