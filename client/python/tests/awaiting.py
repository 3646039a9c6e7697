"""Waiting for what another process does, by asking for it again and again."""

import time

PATIENCE_S = 60


def wait_until(holds, what, patience_s=PATIENCE_S):
    """Returns what `holds` returns once that is true; fails the test when it is not within a time that no working machine needs."""
    end = time.monotonic() + patience_s
    while not (held := holds()):
        assert time.monotonic() < end, f"not within {patience_s} s: {what}"
        time.sleep(0.02)
    return held
