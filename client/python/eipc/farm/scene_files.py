"""Scene files of an evaluation: read once, with their meshes, and kept in its folder, so that every worker and every later verification
has the same bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Mapping

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ..durable import write_durably
from ..errors import SceneFileError
from ..scene_source import load_scene
from ..v1 import scene_pb2, service_pb2
from .errors import EvaluationError

_FOLDER = "scenes"
_SUFFIXES = (".textproto", ".txtpb", ".pbtxt")


def is_scene_file(scene: str) -> bool:
    return scene.endswith(_SUFFIXES)


def read_scene(path: str) -> bytes:
    """A scene file that can be evaluated, as one message. Raises EvaluationError."""
    try:
        scene = load_scene(Path(path))
    except SceneFileError as error:
        raise EvaluationError(str(error)) from None
    if not scene.goals:
        raise EvaluationError(f"{path} declares no goals: what success is would not be known (goals {{ name: ... body: ... }})")
    if not scene.schedule.dt_s > 0:
        raise EvaluationError(f"{path}: schedule.dt_s is missing: the step of an episode would not be known")
    return bytes(scene.SerializeToString(deterministic=True))


def digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def keep(folder: Path, contents: Mapping[str, bytes]) -> None:
    """contents: by scene."""
    if contents:
        (folder / _FOLDER).mkdir(exist_ok=True)
    for data in contents.values():
        _write(_path(folder, digest(data)), data)


def _write(path: Path, data: bytes) -> None:
    write_durably(path, lambda file: file.write(data))


def kept(folder: Path, scene: str, sha256: str) -> scene_pb2.Scene:
    """Raises EvaluationError where it is missing or damaged."""
    path = _path(folder, sha256)
    try:
        data = path.read_bytes()
        if digest(data) != sha256:
            raise EvaluationError(f"{path.name}, the kept scene {scene}, does not match its checksum; put the file back or begin anew")
        return scene_pb2.Scene.FromString(data)
    except OSError as error:
        raise EvaluationError(f"the kept scene {scene} cannot be read: {path}: {error.strerror}") from None
    except DecodeError:
        raise EvaluationError(f"{path.name} is no scene") from None


def read_randomize(text: str) -> service_pb2.Randomize:
    """Text form of eipc.v1.Randomize, or the path of a file that holds it. Raises EvaluationError."""
    message = service_pb2.Randomize()
    if not text:
        return message
    try:
        words = text if "{" in text else Path(text).read_text()
        text_format.Parse(words, message)
    except OSError as error:
        raise EvaluationError(f"--randomize: {text} cannot be read: {error.strerror}") from None
    except text_format.ParseError as error:
        raise EvaluationError(f"--randomize: no ranges of starts (eipc.v1.Randomize): {error}") from None
    if message.seed:
        raise EvaluationError("--randomize: seed must not be given; it is that of each episode")
    return message


def randomize_text(message: service_pb2.Randomize) -> str:
    """In one form, so that equal evaluations have equal plans."""
    return str(text_format.MessageToString(message, as_one_line=True)).strip()


def _path(folder: Path, sha256: str) -> Path:
    return folder / _FOLDER / f"{sha256}.binpb"
