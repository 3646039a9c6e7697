"""Pictures as a video, by the program ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Iterable

import numpy as np

from ..durable import PART
from ..errors import EpisodeError

# Encoders of ffmpeg, the first that it has is used, what the data set calls their codec, and the least width and height, pixels.
_ENCODERS = {"libsvtav1": ("av1", 64), "libx264": ("h264", 2)}


def encoder(width: int, height: int) -> tuple[str, str]:
    """(encoder, codec). Raises EpisodeError without ffmpeg or its encoders."""
    if shutil.which("ffmpeg") is None:
        raise EpisodeError("writing video needs the program ffmpeg, which is not on PATH: apt-get install ffmpeg")
    listed = subprocess.run(["ffmpeg", "-hide_banner", "-encoders"], capture_output=True, text=True, check=False).stdout
    for name, (codec, least) in _ENCODERS.items():
        if f" {name} " in listed and min(width, height) >= least:
            return name, codec
    raise EpisodeError("this ffmpeg has none of the encoders " + ", ".join(_ENCODERS))


def write_video(path: Path, pictures: Iterable[np.ndarray], fps: int) -> str:
    """pictures: [h,w,3] uint8 of one size, h and w even. Every second frame is a key frame, so that single ones are read fast. Returns
    the codec. The file is whole or absent."""
    frames = iter(pictures)
    first = next(frames)
    height, width = first.shape[:2]
    name, codec = encoder(width, height)
    if height % 2 or width % 2:
        raise EpisodeError(f"pictures are {width} x {height}; width and height of a video are even")
    scratch = path.with_name(path.name + PART)
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps), "-i", "-",
               "-c:v", name, "-g", "2", "-crf", "30", "-pix_fmt", "yuv420p", "-f", "mp4", str(scratch)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stderr is not None
    try:
        for picture in (first, *frames):
            if picture.shape != first.shape:
                raise EpisodeError(f"pictures of sizes {first.shape} and {picture.shape} in one video")
            process.stdin.write(np.ascontiguousarray(picture, dtype=np.uint8).tobytes())
        process.stdin.close()
        said = process.stderr.read().decode(errors="replace")
        if process.wait() != 0:
            raise EpisodeError(f"ffmpeg failed: {said.strip()}")
        scratch.replace(path)
    except BrokenPipeError:
        raise EpisodeError(f"ffmpeg failed: {process.stderr.read().decode(errors='replace').strip()}") from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()
        scratch.unlink(missing_ok=True)
    return codec
