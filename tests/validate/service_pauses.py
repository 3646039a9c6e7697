"""Calls after a pause of their client. gRPC 1.51 sleeps for 100 ms after a second without events (server/rpc/listen/poll_waker.h)."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np

from service_launch import launch
from validation import Record, at_most, reported

# In the second a thread of gRPC has had no event for so long that it may sleep; in the first it has not.
SHORT_S, LONG_S = (0.2, 0.3), (1.0, 1.1)


def pauses(program: Path, count: int, seed: int) -> list[Record]:
    """Calls on an idle server after short and long pauses, in turns."""
    rng = random.Random(seed)
    seconds: dict[tuple[float, float], list[float]] = {SHORT_S: [], LONG_S: []}
    with launch(program, ("--listen=127.0.0.1:0", "--log-level=off")) as server, server.client() as client:
        client.server_info()
        for _ in range(count):
            for span, seen in seconds.items():
                time.sleep(rng.uniform(*span))
                begin = time.perf_counter()
                client.server_info()
                seen.append(time.perf_counter() - begin)
    short, long = (1e3 * float(np.percentile(seen, 90)) for seen in seconds.values())
    return [reported("pauses.calls", 2 * count), reported("pauses.after_0.2_s_p90", short, "ms"),
            reported("pauses.after_1_s_p90", long, "ms"), at_most("pauses.after_1_s_by_0.2_s", long / short, 3)]
