"""Records the episodes of a vector environment, a file each, as eipc.Recorder does of single worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional, Sequence, Union

import numpy as np

from ..client import Client
from ..episode_writer import EpisodeWriter, recorded_observe
from ..observation import observation_from_message
from ..recorded_scene import scene_of_folder
from ..recorder import Recorder
from ..session import Session
from ..v1 import service_pb2
from .observations import row
from .stacked import BatchAnswer
from .task import Task


class EpisodeRecording:
    """The episodes that the worlds of an environment are in. Those that fail, or that a reset ends early, are not kept.

    wanted [W] bool: whose episodes are recorded, from the next that begins on; all at first.
    """

    def __init__(self, recorder: Union[str, Path, Recorder], worlds: int, task: Task, client: Client) -> None:
        """Raises EpisodeError when another recorder uses the folder."""
        self._owned = not isinstance(recorder, Recorder)
        self.recorder = recorder if isinstance(recorder, Recorder) else Recorder(recorder)
        self._task = task.description
        self._writers: list[Optional[EpisodeWriter]] = [None] * worlds
        self._requests: dict[int, service_pb2.StepRequest] = {}
        self._seen: dict[int, Any] = {}
        self.wanted = np.ones(worlds, dtype=bool)
        try:
            scene = scene_of_folder(self.recorder.folder, client, client.create_scene(task.scene).name)
            observe = recorded_observe(scene, self.recorder.positions_dtype)
            self.layout = task.layout.with_all(observe, [body.name for body in task.scene.bodies])
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"EpisodeRecording({str(self.recorder.folder)!r}, {sum(writer is not None for writer in self._writers)} episodes open)"

    def close(self) -> None:
        for world, writer in enumerate(self._writers):
            if writer is not None:
                writer.discard()
                self._writers[world] = None
        if self._owned:
            self.recorder.close()

    def begin(self, worlds: np.ndarray, session: Session, observation: Any, seeds: Sequence[Optional[int]]) -> None:
        """Episodes of some worlds begin where these are now. An episode that was going on there is discarded."""
        for world in worlds.tolist():
            former = self._writers[world]
            if former is not None:
                former.discard()
            self._writers[world] = None
            if self.wanted[world]:
                seed = seeds[world]
                self._writers[world] = self.recorder.episode(session, None if seed is None else int(seed), self._task, world)
                self._keep(world, observation)

    def asked(self, worlds: np.ndarray, rows: np.ndarray) -> None:
        """The requests of the worlds that act: rows [k,bytes] of a batch."""
        batch = service_pb2.StepBatchRequest.FromString(rows.tobytes())
        self._requests = dict(zip(worlds.tolist(), batch.steps))

    def answered(self, answer: BatchAnswer) -> None:
        """What came back of them, before anything else is asked."""
        self._seen = {world: seen for world, seen in zip(answer.worlds.tolist(), answer.observations) if world in self._requests}

    def step(self, session: Session, actions: np.ndarray, observation: Any, rewards: np.ndarray, done: np.ndarray) -> None:
        """Keeps the last step of every world that took one."""
        for world, seen in self._seen.items():
            writer = self._writers[world]
            if writer is None:
                continue
            writer.goes_on_in(session)
            writer.record(observation_from_message(seen), actions[world], self._requests[world])
            writer.mark(float(rewards[world]), bool(done[world]))
            self._keep(world, observation)
        self._seen = {}

    def end(self, worlds: np.ndarray, success: np.ndarray, failed: Sequence[int]) -> None:
        """Writes the episodes of worlds that are over; not of those that failed."""
        for world in worlds.tolist():
            writer = self._writers[world]
            if writer is None:
                continue
            self._writers[world] = None
            if world in failed:
                writer.discard()
            else:
                writer.success = bool(success[world])
                writer.finish()

    def _keep(self, world: int, observation: Any) -> None:
        writer, seen = self._writers[world], row(observation, world)
        assert writer is not None
        for name, values in seen.items() if isinstance(seen, dict) else [("observation", seen)]:
            writer.keep(name.replace("/", "_"), values)
