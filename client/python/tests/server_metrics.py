"""What a server counts."""

import urllib.request


def gauges(port):
    """Values by name, of metrics without labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    words = (line.split() for line in lines if line and not line.startswith("#") and "{" not in line)
    return {name: float(value) for name, value, *_ in words}
