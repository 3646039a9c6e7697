"""Takes the steps of a recorded episode again on a server, and says whether the same states come of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Optional

import numpy as np

from .client import Client
from .episode import Episode
from .errors import EpisodeError
from .observation import Observation, Observe, observation_from_message
from .recorder import Recorder
from .session import Session
from .v1 import service_pb2

_STATE = Observe(state_digest=True)


@dataclass(frozen=True)
class Replay:
    """steps: that the episode has. parted_at: the first one, from 1, whose state is another than the recorded one; 0: the start is;
    None: all states are the same, bit for bit. position_error_m: the largest distance of a body from where the recording has it.
    build: of the server; recorded_build: of the one that the episode was recorded on. path: of the new recording, where asked for."""

    steps: int
    parted_at: Optional[int]
    position_error_m: float
    build: str
    recorded_build: str
    path: Optional[Path] = None

    @property
    def same(self) -> bool:
        return self.parted_at is None


def replay(episode: Episode, client: Client, recorder: Optional[Recorder] = None,
           seen: Callable[[int, Observation], None] = lambda step, observation: None, threads: int = 1,
           observe: Observe = _STATE) -> Replay:
    """Puts a world where the episode began, and steps it as the episode was stepped.

    recorder: records the new run, with the actions, marks and arrays of the old one. seen: called with the number of every step,
    0 for the start, and what was observed (poses, digest and solver report). threads: inside a step. observe: what else is observed,
    which changes no state. Steps that a time limit cut short may end elsewhere: where they ended then depended on the machine's speed. Raises EpisodeError for an episode that does not
    hold its start and its requests, EipcError for a step that fails.
    """
    requests = episode.requests
    observe = replace(observe, poses=True, state_digest=True)
    if not episode.start:
        raise EpisodeError(f"{episode.path.name} does not hold where it began")
    scene = client.create_scene(episode.scene.message)
    with scene.create_session(threads=threads, snapshot=episode.start) as session:
        compared = _Compared(episode)
        path = None
        start = session.state(observe)
        compared.add(start)
        seen(0, start)
        if recorder is None:
            for step, request in enumerate(requests, 1):
                observation = _take(client, session, request, observe)
                compared.add(observation)
                seen(step, observation)
        else:
            path = _record(episode, client, session, recorder, compared, seen)
    return Replay(episode.steps, compared.parted_at, compared.position_error_m, client.server_info().build, episode.build, path)


def _record(episode: Episode, client: Client, session: Session, recorder: Recorder, compared: "_Compared",
            seen: Callable[[int, Observation], None]) -> Path:
    with recorder.episode(session, seed=episode.seed, task=episode.task) as writer:
        for name, rows in episode.kept.items():
            writer.keep(name, rows[0])
        for step, request in enumerate(episode.requests, 1):
            observation = _take(client, session, request, writer.observe(_STATE))
            writer.record(observation, episode["action"][step - 1], request)
            writer.mark(float(episode["reward"][step - 1]), bool(episode["done"][step - 1]))
            for name, rows in episode.kept.items():
                writer.keep(name, rows[step])
            compared.add(observation)
            seen(step, observation)
        writer.success = episode.success
    return writer.path


def _take(client: Client, session: Session, request: service_pb2.StepRequest, observe: Observe) -> Observation:
    request.session = session.name
    request.observe.CopyFrom(observe.to_message())
    return observation_from_message(client._call(client._stub.Step, request, None).observation)


class _Compared:
    """What comes of the steps beside what the episode holds."""

    def __init__(self, episode: Episode) -> None:
        self._digests = [digest.decode() for digest in episode["state_digest"].tolist()]
        self._positions, self._bodies = episode["position_m"], episode.bodies
        self._count = 0
        self.parted_at: Optional[int] = None
        self.position_error_m = 0.0

    def add(self, observation: Observation) -> None:
        if self.parted_at is None and observation.state_digest != self._digests[self._count]:
            self.parted_at = self._count
        for body, recorded in zip(self._bodies, self._positions[self._count]):
            pose = observation.bodies[body].pose
            if pose is not None:
                self.position_error_m = max(self.position_error_m, float(np.linalg.norm(pose.position - recorded)))
        self._count += 1
