"""What it takes to put worlds back where they were: a snapshot of each, and the steps since then."""

from __future__ import annotations

from typing import Iterator, Optional, Sequence

import numpy as np


class History:
    """Steps of W worlds as rows of requests. A world goes back to its snapshot, or to the scene's start where there is none."""

    def __init__(self, worlds: int, snapshot_every: int) -> None:
        """snapshot_every: batches after which snapshots are due; 0: never, steps are kept from the start of each episode."""
        self.digest = np.full(worlds, "", dtype=object)  # of the last acknowledged state
        self._every = snapshot_every
        self._batches: list[tuple[np.ndarray, np.ndarray]] = []  # worlds [k], rows [k,bytes]
        self._first = 0  # number of the first batch that is kept
        self._begin = np.zeros(worlds, dtype=np.int64)  # number of the first batch after each world's snapshot
        self._snapshot: list[Optional[bytes]] = [None] * worlds
        self._moved = np.zeros(worlds, dtype=bool)
        self._taken = 0  # number of the first batch after the last snapshots

    @property
    def _next(self) -> int:
        return self._first + len(self._batches)

    @property
    def due(self) -> bool:
        """Whether snapshots should be taken."""
        return self._every > 0 and self._next - self._taken >= self._every

    def __repr__(self) -> str:
        return f"History({len(self._begin)} worlds, {len(self._batches)} batches kept)"

    def moved(self, world: int) -> bool:
        """Whether the world may have left the scene's start."""
        return bool(self._moved[world])

    def add(self, worlds: np.ndarray, rows: np.ndarray, digest: np.ndarray) -> None:
        """A batch was answered; digest [W]: of all worlds after it."""
        self._batches.append((worlds, rows))
        self._moved[worlds] = True
        self.digest[worlds] = digest[worlds]
        self._trim()

    def forget(self, world: int) -> None:
        """The world is at the scene's start."""
        self._begin[world], self._snapshot[world], self._moved[world] = self._next, None, False
        self.digest[world] = ""

    def keep(self, snapshots: Sequence[bytes]) -> None:
        """Snapshots of all worlds as they are now."""
        self._snapshot = list(snapshots)
        self._begin[:] = self._taken = self._next
        self._trim()

    def snapshots(self) -> Iterator[tuple[int, bytes]]:
        """World and bytes of those that have one."""
        return ((world, data) for world, data in enumerate(self._snapshot) if data is not None)

    def since_snapshots(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Batches to be repeated, in order, with the worlds that need them."""
        for number, (worlds, rows) in enumerate(self._batches, self._first):
            needed = self._begin[worlds] <= number
            if needed.any():
                yield worlds[needed], rows[needed]

    def _trim(self) -> None:
        """Forgets batches that no world needs."""
        useless = int(min(self._begin.min(), self._next)) - self._first
        if useless > 0:
            del self._batches[:useless]
            self._first += useless
