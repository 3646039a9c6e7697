"""A recorded episode, read from its file. Made by eipc.Recorder; docs/howto/episodes.md shows both."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Iterator, Optional, Union

import numpy as np

from .episode_arrays import receipts_of
from .errors import EpisodeError
from .recorded_requests import requests_of
from .recorded_scene import RecordedScene, read_arrays, scene_path
from .solver_report import StepReceipt
from .v1 import service_pb2

FORMAT = 1


def episode_path(folder: Path, number: int) -> Path:
    return folder / f"episode_{number:06d}.npz"


class Episode:
    """T steps and T + 1 observations, the first before the first step. SI units, world frame.

    episode["position_m"] and the like are the arrays of the file (docs/reference/episodes.md); `arrays` has them all.
    """

    def __init__(self, path: Path, arrays: dict[str, np.ndarray]) -> None:
        self.path = path
        self.arrays = arrays
        self._meta: dict[str, Any] = json.loads(str(arrays["meta"]))
        self._scene: Optional[RecordedScene] = None

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Episode":
        """Reads and checks the whole file. Raises EpisodeError for one that is missing, damaged or of another format."""
        return cls(Path(path), read_arrays(Path(path), "episode", FORMAT))

    def __repr__(self) -> str:
        return f"Episode({self.path.name}, {self.scene_name}, {self.steps} steps, seed {self.seed}, task {self.task!r})"

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            raise KeyError(f"{self.path.name} has no array {name!r}; it has: {', '.join(sorted(self.arrays))}")
        return self.arrays[name]

    @property
    def number(self) -> int:
        return self._meta["number"]

    @property
    def seed(self) -> Optional[int]:
        return self._meta["seed"]

    @property
    def task(self) -> str:
        return self._meta["task"]

    @property
    def success(self) -> Optional[bool]:
        """What was said of it; None: nothing."""
        return self._meta["success"]

    @property
    def scene_name(self) -> str:
        """"scenes/{hash}": equal for equal scenes."""
        return self._meta["scene"]

    @property
    def build(self) -> str:
        """Of the server: equal builds give equal bits."""
        return self._meta["build"]

    @property
    def steps(self) -> int:
        return len(self.arrays["action"])

    @property
    def action_names(self) -> list[str]:
        """Of the columns of `action`; empty when it was given as an array."""
        return self._meta["action_names"]

    @property
    def bodies(self) -> list[str]:
        return self.arrays["body_names"].tolist()

    @property
    def scene(self) -> RecordedScene:
        """Read from the scene's file in the same folder. Raises EpisodeError."""
        if self._scene is None:
            self._scene = RecordedScene.load(scene_path(self.path.parent, self.scene_name))
        return self._scene

    @property
    def receipts(self) -> list[StepReceipt]:
        return receipts_of(self.arrays, self.scene_name, self.build)

    @property
    def log(self) -> bytes:
        """What `eipc verify` replays, when the session was created with record=True; else empty."""
        return self.arrays["log"].tobytes() if "log" in self.arrays else b""

    @property
    def kept(self) -> dict[str, np.ndarray]:
        """[T+1,...] by name: what EpisodeWriter.keep() was given."""
        return {name[len("kept_"):]: array for name, array in self.arrays.items() if name.startswith("kept_")}

    @property
    def start(self) -> bytes:
        """A snapshot of the world before the first step; empty in files of recorders before this."""
        return self.arrays["start"].tobytes() if "start" in self.arrays else b""

    @property
    def requests(self) -> list[service_pb2.StepRequest]:
        """How each step was asked for, without session, world and what was to be observed. Raises EpisodeError where that is not
        known: steps that were recorded without their requests, and files of recorders before this."""
        return requests_of(self.arrays, self.path.name)

    def cage(self, body: str) -> np.ndarray:
        """[T+1,m,3] positions of the nodes that carry the body; m = 0 for a static one."""
        return self[f"cage_{self._index(body)}"]

    def surface(self, body: str, sample: Union[int, slice] = slice(None)) -> np.ndarray:
        """[T+1,n,3] surface positions, or [n,3] of one sample: made from the cage, or as recorded where that cannot be done."""
        kept = self.arrays.get(f"surface_{self._index(body)}")
        if kept is not None:
            return kept[sample]
        cage = self.cage(body)[sample]
        if body in self.scene.embeddings:
            return self.scene.embeddings[body].surface(cage)
        placed = self.scene.topology[body].positions
        return np.broadcast_to(placed, (*cage.shape[:-2], *placed.shape))

    def _index(self, body: str) -> int:
        if body not in self.bodies:
            raise KeyError(f"{self.path.name} has no body {body!r}; it has: {', '.join(self.bodies)}")
        return self.bodies.index(body)


def episode_paths(folder: Union[str, "os.PathLike[str]"]) -> list[Path]:
    """The finished episodes of a recorder's folder, in their order."""
    return sorted(Path(folder).glob("episode_[0-9]*.npz"))


def load_episodes(folder: Union[str, "os.PathLike[str]"]) -> Iterator[Episode]:
    """The finished episodes of a recorder's folder, one after another. Raises EpisodeError when there is no such folder."""
    if not Path(folder).is_dir():
        raise EpisodeError(f"{folder}: there is no such folder")
    for path in episode_paths(folder):
        yield Episode.load(path)
