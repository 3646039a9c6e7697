"""How long to wait before the next attempt: exponential, with full jitter, so that clients that failed together do not return together
(Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Backoff:
    """first_s: longest wait before the second attempt; doubles with each attempt up to longest_s. draw: where the jitter comes from."""

    first_s: float = 0.1
    longest_s: float = 5.0
    draw: random.Random = field(default_factory=random.Random)

    def delay(self, attempt: int) -> float:
        """s; uniform in [0, min(longest_s, first_s 2^attempt)]. attempt: 0, 1, ... of those that failed."""
        return self.draw.uniform(0, min(self.longest_s, self.first_s * 2.0**min(attempt, 60)))
