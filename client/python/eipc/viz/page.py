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

from ..diff import first_difference
from ..durable import write_durably
from ..episode import Episode
from ..errors import EpisodeError
from ..recorded_scene import RecordedScene
from .page_data import Arrays, pack

PAGE = Path(__file__).with_name("viewer.html")
_SLOTS = (b"<!--recording-->", b"<!--compared-->")


def write_episode_page(episode: Episode, path: Union[str, "os.PathLike[str]"], title: Optional[str] = None,
                       step_wall_s: Optional[ArrayLike] = None, touch: Optional[Arrays] = None) -> None:
    """Writes a page that plays an episode.

    title: of the page, default the task, else the name of the scene. step_wall_s: [T] s, the time of computing each step, which
    episodes do not keep; the page then shows the real-time factor. touch: of `replayed_touch`, for colours of contacts and stresses.
    Raises EpisodeError when the page was not built.
    """
    arrays = {**episode.arrays, **(touch or {})}
    if step_wall_s is not None:
        arrays["step_wall_s"] = _times_of_steps(step_wall_s, episode.steps)
    write_page(path, arrays, episode.scene, title or _title_of(episode), _facts_of(episode))


def write_comparison_page(first: Episode, second: Episode, path: Union[str, "os.PathLike[str]"], title: Optional[str] = None,
                          tolerance: float = 0.0) -> None:
    """Writes a page that plays two episodes side by side, in time since the start of each, and marks where they part first.

    title: of the page, default the first episode's. tolerance: as of eipc.first_difference. Raises EpisodeError when the page was not
    built.
    """
    difference = first_difference(first, second, tolerance)
    names = [episode.path.name for episode in (first, second)]
    if names[0] == names[1]:
        names = [str(episode.path) for episode in (first, second)]
    compared = {"names": names, "difference": {"step": difference.step, "words": str(difference)} if difference else None}
    title = title or f"{_title_of(first)}: two runs"
    one, other = (pack(episode.arrays, episode.scene, title, _facts_of(episode), compared) for episode in (first, second))
    _write(path, one, other)


def write_page(path: Union[str, "os.PathLike[str]"], arrays: Arrays, scene: RecordedScene, title: str,
               facts: Sequence[tuple[str, str]] = ()) -> None:
    """As write_episode_page, of arrays as an episode's file has them (docs/reference/episodes.md). facts: shown under the figures."""
    _write(path, pack(arrays, scene, title, facts), None)


def built_page() -> bytes:
    """The page without a recording. Raises EpisodeError where it was not built."""
    try:
        page = PAGE.read_bytes()
    except FileNotFoundError:
        raise EpisodeError(f"{PAGE}: the viewer's page was not built; ./dev viewer builds it and needs Node.js 18 or later with npm "
                           "(./dev setup viewer)") from None
    if any(page.count(slot) != 1 for slot in _SLOTS):
        raise EpisodeError(f"{PAGE}: is no page of the viewer; build it again with ./dev viewer")
    return page


def _write(path: Union[str, "os.PathLike[str]"], recording: bytes, compared: Optional[bytes]) -> None:
    page = built_page()
    for slot, content in zip(_SLOTS, (recording, compared)):
        text = b"" if content is None else base64.b64encode(gzip.compress(content, compresslevel=6, mtime=0))
        page = page.replace(slot, text)
    write_durably(Path(path), lambda file: file.write(page))


def _title_of(episode: Episode) -> str:
    return episode.task or episode.scene.display_name or episode.scene_name


def _facts_of(episode: Episode) -> list[tuple[str, str]]:
    success = {None: "not said", True: "yes", False: "no"}[episode.success]
    facts = [("File", episode.path.name), ("Task", episode.task), ("Success", success),
             ("Seed", "none" if episode.seed is None else str(episode.seed)), ("Scene", episode.scene_name), ("Build", episode.build)]
    return [(name, value) for name, value in facts if value]


def _times_of_steps(values: ArrayLike, steps: int) -> np.ndarray:
    times = np.asarray(values, dtype=float)
    if times.shape != (steps,) or not (times > 0).all():
        raise EpisodeError(f"step_wall_s must be {steps} positive times, one for each step, got shape {times.shape}")
    return times
