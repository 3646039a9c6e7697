"""Writes a recording as one web page that shows it: no other file, no server, nothing fetched from anywhere.

The page itself is made by `./dev viewer` from the folder viewer/ of the sources, or carried by the wheel.
"""

from __future__ import annotations

import base64
import gzip
import os
from pathlib import Path
from typing import Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from ..durable import write_durably
from ..episode import Episode
from ..errors import EpisodeError
from ..recorded_scene import RecordedScene
from .page_data import Arrays, pack

PAGE = Path(__file__).with_name("viewer.html")
_SLOT = b"<!--recording-->"


def write_episode_page(episode: Episode, path: Union[str, "os.PathLike[str]"], title: Optional[str] = None,
                       step_wall_s: Optional[ArrayLike] = None) -> None:
    """Writes a page that plays an episode.

    title: of the page, default the task, else the name of the scene. step_wall_s: [T] s, the time of computing each step, which
    episodes do not keep; the page then shows the real-time factor. Raises EpisodeError when the page was not built.
    """
    arrays = dict(episode.arrays)
    if step_wall_s is not None:
        arrays["step_wall_s"] = _times_of_steps(step_wall_s, episode.steps)
    success = {None: "not said", True: "yes", False: "no"}[episode.success]
    facts = [("File", episode.path.name), ("Task", episode.task), ("Success", success),
             ("Seed", "none" if episode.seed is None else str(episode.seed)), ("Scene", episode.scene_name), ("Build", episode.build)]
    write_page(path, arrays, episode.scene, title or episode.task or episode.scene.display_name or episode.scene_name,
               [(name, value) for name, value in facts if value])


def write_page(path: Union[str, "os.PathLike[str]"], arrays: Arrays, scene: RecordedScene, title: str,
               facts: Sequence[tuple[str, str]] = ()) -> None:
    """As write_episode_page, of arrays as an episode's file has them (docs/reference/episodes.md). facts: shown under the figures."""
    page = built_page()
    recording = gzip.compress(pack(arrays, scene, title, facts), compresslevel=6, mtime=0)
    before, _, after = page.partition(_SLOT)
    write_durably(Path(path), lambda file: file.write(before + base64.b64encode(recording) + after))


def built_page() -> bytes:
    """The page without a recording. Raises EpisodeError where it was not built."""
    try:
        page = PAGE.read_bytes()
    except FileNotFoundError:
        raise EpisodeError(f"{PAGE}: the viewer's page was not built; ./dev viewer builds it and needs Node.js 18 or later with npm "
                           "(./dev setup viewer)") from None
    if page.count(_SLOT) != 1:
        raise EpisodeError(f"{PAGE}: is no page of the viewer; build it again with ./dev viewer")
    return page


def _times_of_steps(values: ArrayLike, steps: int) -> np.ndarray:
    times = np.asarray(values, dtype=float)
    if times.shape != (steps,) or not (times > 0).all():
        raise EpisodeError(f"step_wall_s must be {steps} positive times, one for each step, got shape {times.shape}")
    return times
