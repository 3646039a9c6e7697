"""Writes recorded episodes as a LeRobot data set of version 3.0 (docs/howto/datasets.md).

Files of huggingface/lerobot 0.6: meta/info.json, meta/stats.json, meta/tasks.parquet, meta/episodes/ and data/ in chunks of files,
and videos/ where there are cameras.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from ..episode import Episode
from ..errors import EpisodeError
from ..viz import Camera
from .features import Feature, Features, action_feature, default_features
from .parquet import Column, write_parquet
from .pictures import pictures
from .statistics import merged, of_pictures, of_values
from .video import write_video

_VERSION = "v3.0"
_FILES_OF_CHUNK = 1000
_DATA_MB, _VIDEO_MB = 100, 200
_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
_EPISODES = "meta/episodes/chunk-000/file-000.parquet"
_TIME_ERROR_S = 1e-4  # of a frame's time, that LeRobot allows


@dataclass
class _Frames:
    """One episode as the data set has it: T frames, the state before each step and what was then commanded."""

    episode: Episode
    columns: dict[str, np.ndarray]
    stats: dict[str, dict[str, Any]] = field(default_factory=dict)


def write_lerobot(folder: Union[str, "os.PathLike[str]"], episodes: Iterable[Episode], robot_type: str = "eipc",
                  features: Features = default_features, cameras: Optional[Mapping[str, Camera]] = None,
                  picture_size: tuple[int, int] = (320, 240)) -> None:
    """Writes the episodes, in order, into a new folder.

    features: of an episode, by names such as "observation.state"; of the same names and sizes for all. cameras: by name; the
    video "observation.images.NAME" is drawn from the recorded surfaces (a few tenths of a second a frame). The steps of the
    episodes must be of one length, a whole number of which is a second. Raises EpisodeError; the folder is whole or absent.
    """
    target = Path(folder)
    if target.exists():
        raise EpisodeError(f"{target} exists already; a data set is written into a new folder")
    taken = list(episodes)
    if not taken:
        raise EpisodeError(f"{target}: there are no episodes to write")
    fps = _frames_per_second(taken)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=target.name + ".", dir=target.parent))
    try:
        _Writer(scratch, fps, taken, features, cameras or {}, picture_size).write(robot_type)
        scratch.chmod(0o755)
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _frames_per_second(episodes: Sequence[Episode]) -> int:
    """The one that all steps have. Raises EpisodeError, for a length whose inverse is no whole number with what would do."""
    lengths = np.concatenate([np.diff(episode["time_s"]) for episode in episodes])
    step = float(np.median(lengths))
    if np.abs(lengths - step).max() > 1e-9:
        raise EpisodeError(f"the steps are of {lengths.min():.6g} s to {lengths.max():.6g} s; the frames of a LeRobot data set are equally "
                           "far apart: step with one dt and one number of substeps")
    fps = round(1 / step)
    if fps < 1 or max(len(episode["time_s"]) for episode in episodes) * abs(1 / fps - step) > _TIME_ERROR_S:
        near = ", ".join(f"{1 / rate:.6g} s ({rate} Hz)" for rate in sorted({max(1, int(1 / step)), int(1 / step) + 1}))
        raise EpisodeError(f"steps of {step:.6g} s are {1 / step:.6g} frames a second; LeRobot needs a whole number: record with steps "
                           f"(dt times substeps) of {near}")
    return fps


class _Writer:
    """Files of a data set into a folder that is there and empty."""

    def __init__(self, folder: Path, fps: int, episodes: Sequence[Episode], features: Features, cameras: Mapping[str, Camera],
                 size: tuple[int, int]) -> None:
        self._folder, self._fps, self._episodes, self._features = folder, fps, episodes, features
        self._cameras = {f"observation.images.{name}": camera for name, camera in cameras.items()}
        self._size = size
        self._tasks: dict[str, int] = {}
        self._form: dict[str, Any] = {}
        self._codec = ""

    def write(self, robot_type: str) -> None:
        frames = [self._frames(number, episode) for number, episode in enumerate(self._episodes)]
        self._write_data(frames)
        for number, one in enumerate(frames):
            self._write_videos(number, one)
        self._write_episodes(frames)
        self._write_tasks()
        self._write_json("stats.json", merged([one.stats for one in frames]))
        self._write_json("info.json", self._info(robot_type, sum(len(one.columns["index"]) for one in frames)))

    def _frames(self, number: int, episode: Episode) -> _Frames:
        """Raises EpisodeError when the features are not those of the first episode."""
        found = {name: self._known(episode, name, feature, episode.steps + 1) for name, feature in self._features(episode).items()}
        found["action"] = self._known(episode, "action", action_feature(episode), episode.steps)
        if set(found) != set(self._form):
            raise EpisodeError(f"{episode.path.name} lacks {', '.join(sorted(set(self._form) - set(found)))}, which the first episode has")
        steps, task = episode.steps, episode.task or "no task was named"
        columns: dict[str, np.ndarray] = {name: values[:steps].astype(np.float32) for name, values in found.items()}
        columns["next.reward"], columns["next.done"] = episode["reward"].astype(np.float32), episode["done"].astype(bool)
        columns["timestamp"] = (np.arange(steps) / self._fps).astype(np.float32)
        columns["frame_index"], columns["episode_index"] = np.arange(steps), np.full(steps, number)
        columns["index"] = np.arange(steps) + sum(earlier.steps for earlier in self._episodes[:number])
        columns["task_index"] = np.full(steps, self._tasks.setdefault(task, len(self._tasks)))
        return _Frames(episode, columns, {name: of_values(values) for name, values in columns.items()})

    def _known(self, episode: Episode, name: str, feature: Feature, rows: int) -> np.ndarray:
        values = np.asarray(feature.values)
        if values.ndim != 2 or len(values) != rows or values.shape[1] != len(feature.names) or not np.isfinite(values).all():
            raise EpisodeError(f"{episode.path.name}: {name} must be [{rows},n] finite numbers with n names, got {values.shape}")
        form = {"dtype": "float32", "shape": [values.shape[1]], "names": list(feature.names)}
        if self._form.setdefault(name, form) != form:
            raise EpisodeError(f"{episode.path.name}: {name} has other columns than in {self._episodes[0].path.name}; the episodes of a data "
                               "set are of one form")
        return values

    def _write_data(self, frames: Sequence[_Frames]) -> None:
        """A row group an episode, in one file: steps are small."""
        columns = [Column(name, "float32", 0 if form["shape"] == [1] else 1) for name, form in self._form.items()]
        columns += [Column("next.reward", "float32"), Column("next.done", "bool"), Column("timestamp", "float32")]
        columns += [Column(name, "int64") for name in ("frame_index", "episode_index", "index", "task_index")]
        groups = [{column.name: one.columns[column.name].reshape(-1) if column.depth == 0 else one.columns[column.name] for column in columns}
                  for one in frames]
        path = self._folder / _DATA.format(chunk_index=0, file_index=0)
        path.parent.mkdir(parents=True)
        write_parquet(path, columns, groups)

    def _write_videos(self, number: int, frames: _Frames) -> None:
        """A file for every episode and camera."""
        for key, camera in self._cameras.items():
            drawn = list(pictures(frames.episode, camera, self._size, frames.episode.steps))
            path = self._folder / _VIDEO.format(video_key=key, **_place(number))
            self._codec = write_video(path, drawn, self._fps)
            frames.stats[key] = of_pictures(drawn)

    def _write_episodes(self, frames: Sequence[_Frames]) -> None:
        rows: list[dict[str, Any]] = []
        for number, one in enumerate(frames):
            first = int(one.columns["index"][0])
            row: dict[str, Any] = {
                "episode_index": number, "tasks": [one.episode.task or "no task was named"], "length": one.episode.steps,
                "data/chunk_index": 0, "data/file_index": 0, "dataset_from_index": first, "dataset_to_index": first + one.episode.steps,
                "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}
            for key in self._cameras:
                row.update({f"videos/{key}/{name}": value for name, value in _place(number).items()})
                row.update({f"videos/{key}/from_timestamp": 0.0, f"videos/{key}/to_timestamp": one.episode.steps / self._fps})
            for name, stats in one.stats.items():
                row.update({f"stats/{name}/{figure}": value for figure, value in stats.items()})
            rows.append(row)
        columns = [_column_of(name, value) for name, value in rows[0].items()]
        path = self._folder / _EPISODES
        path.parent.mkdir(parents=True)
        write_parquet(path, columns, [{column.name: [row[column.name] for row in rows] for column in columns}])

    def _write_tasks(self) -> None:
        """As pandas writes a frame whose index is the task's words."""
        described = [{"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
                     {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object", "metadata": None}]
        pandas = {"index_columns": ["task"], "column_indexes": [], "columns": described, "creator": {"library": "eipc", "version": "0"},
                  "pandas_version": "2.0.0"}
        write_parquet(self._folder / "meta" / "tasks.parquet", [Column("task_index", "int64"), Column("task", "string")],
                      [{"task_index": list(self._tasks.values()), "task": list(self._tasks)}], {"pandas": json.dumps(pandas)})

    def _info(self, robot_type: str, frames: int) -> dict[str, Any]:
        single = {"next.reward": "float32", "next.done": "bool", "timestamp": "float32", "frame_index": "int64", "episode_index": "int64",
                  "index": "int64", "task_index": "int64"}
        features = {**self._form, **{name: {"dtype": kind, "shape": [1], "names": None} for name, kind in single.items()}}
        width, height = self._size
        for key in self._cameras:
            about = {"video.height": height, "video.width": width, "video.codec": self._codec, "video.pix_fmt": "yuv420p",
                     "video.is_depth_map": False, "video.fps": self._fps, "video.channels": 3, "has_audio": False}
            features[key] = {"dtype": "video", "shape": [height, width, 3], "names": ["height", "width", "channels"], "info": about}
        return {"codebase_version": _VERSION, "robot_type": robot_type, "total_episodes": len(self._episodes), "total_frames": frames,
                "total_tasks": len(self._tasks), "chunks_size": _FILES_OF_CHUNK, "data_files_size_in_mb": _DATA_MB,
                "video_files_size_in_mb": _VIDEO_MB, "fps": self._fps, "splits": {"train": f"0:{len(self._episodes)}"}, "data_path": _DATA,
                "video_path": _VIDEO if self._cameras else None, "features": features}

    def _write_json(self, name: str, content: Any) -> None:
        (self._folder / "meta" / name).write_text(json.dumps(content, indent=4) + "\n", encoding="utf-8")


def _place(number: int) -> dict[str, int]:
    return {"chunk_index": number // _FILES_OF_CHUNK, "file_index": number % _FILES_OF_CHUNK}


def _column_of(name: str, value: Any) -> Column:
    depth = 0
    while isinstance(value, list):
        value, depth = value[0], depth + 1
    kind = {bool: "bool", int: "int64", float: "float64", str: "string"}[type(value)]
    return Column(name, kind, depth)
