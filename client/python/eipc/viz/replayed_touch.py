"""What surfaces and materials felt in a recorded episode, which episodes do not keep: observed while its steps are taken again."""

from __future__ import annotations

import numpy as np

from ..client import Client
from ..episode import Episode
from ..errors import EpisodeError
from ..observation import Observation, Observe
from ..replay import replay
from .page_touch import touch_arrays

_TOUCH = Observe(contact_tractions=True, slips=True, stresses=True)


def replayed_touch(episode: Episode, client: Client, threads: int = 1) -> dict[str, np.ndarray]:
    """Tractions, slips and stresses at the start and after each of T steps, for `write_episode_page(touch=)`.

    client: of a server of the build that the episode was recorded on. threads: inside a step. Raises EpisodeError where the steps lead to
    other states than the recorded ones, or the episode does not hold what its steps were asked with.
    """
    observations: list[Observation] = []
    found = replay(episode, client, seen=lambda _, observation: observations.append(observation), threads=threads, observe=_TOUCH)
    if not found.same:
        raise EpisodeError(f"{episode.path.name}: step {found.parted_at} leads to another state on this server (build {found.build}) than was "
                           f"recorded (build {found.recorded_build}), so what it felt is not known; use a server of that build")
    return touch_arrays(observations, episode["wrench_pairs"])
