"""Results of episodes: one file each, whole or absent, with a checksum, so that none is counted twice or by halves."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional

from ..durable import sync_folder, write_durably, write_synced
from ..shown import brief
from .errors import EvaluationError, OtherBuildError
from .plan import Plan

_FOLDER, _BUILD = "episodes", "build.json"
SUCCESS, FAILURE, ERROR = "success", "failure", "error"


@brief
@dataclass(frozen=True)
class Result:
    """How an episode ended.

    outcome: success, failure (the goal was not reached), or error (the episode says nothing of the policy's skill: reason has words).
    total_reward: sum of rewards; None where nothing was run. steps: actions. figures: of the end, such as goals. actions: what was done, each
    as a list of numbers, so that the episode can be repeated without the policy. digests: of the states after each.
    scene_name: the server's, which is made of the scene's contents. build: of the server. server: its address, where it was given.
    seconds: of wall-clock time. moves: how often the episode went on on another server. receipt: the worst figures of its steps.
    """

    index: int
    scene: str
    seed: int
    outcome: str
    reason: str = ""
    total_reward: Optional[float] = None
    steps: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
    actions: tuple[Any, ...] = ()
    digests: tuple[str, ...] = ()
    scene_name: str = ""
    build: str = ""
    server: str = ""
    seconds: float = 0.0
    moves: int = 0
    receipt: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Of the whole episode: equal where every state was equal."""
        return hashlib.sha256("\n".join(self.digests).encode()).hexdigest()[:32]


class Results:
    """The results in the folder of an evaluation, which several processes may write to."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.plan = Plan.read(self.folder)
        (self.folder / _FOLDER).mkdir(exist_ok=True)

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r})"

    def path(self, index: int) -> Path:
        return self.folder / _FOLDER / f"{index:06d}.json"

    def begin(self, index: int) -> None:
        """A worker begins the episode: should it be lost before the end, the episode may be why."""
        self._mark(index).touch()

    def take_begun(self, index: int) -> bool:
        """Whether a worker had begun it since this was last asked."""
        try:
            self._mark(index).unlink()
        except FileNotFoundError:
            return False
        return True

    def _mark(self, index: int) -> Path:
        return self.path(index).with_suffix(".begun")

    def finished(self) -> set[int]:
        """Episodes that have a file, whole or damaged."""
        return {int(path.stem) for path in (self.folder / _FOLDER).glob("*.json") if path.stem.isdigit()}

    def put(self, result: Result) -> bool:
        """Stores it unless the episode has one; exactly one process wins. False: there was one. A result that has its name is whole, also
        after the machine was lost."""
        if self.path(result.index).exists():
            return False
        fields = asdict(result)
        text = json.dumps({"result": fields, "sha256": _checksum(fields)}, allow_nan=True) + "\n"
        scratch = self.path(result.index).with_suffix(f".{os.getpid()}.json-part")
        write_synced(scratch, lambda file: file.write(text.encode()))
        try:
            os.link(scratch, self.path(result.index))
        except FileExistsError:
            return False
        finally:
            scratch.unlink(missing_ok=True)
            self._mark(result.index).unlink(missing_ok=True)
        return True

    def settle(self) -> None:
        """Puts the names of the results on the disk. Until then the last ones may be lost with the machine, each as a whole; their
        episodes are run again then."""
        sync_folder(self.folder / _FOLDER)

    def get(self, index: int) -> Result:
        """Raises EvaluationError, in words, for a result that is missing, damaged or of another episode."""
        path = self.path(index)
        try:
            document = json.loads(path.read_bytes())
            fields = document["result"]
            whole = document["sha256"] == _checksum(fields)
            known: dict[str, Any] = {**fields, "actions": tuple(fields["actions"]), "digests": tuple(fields["digests"])}
            result = Result(**known)
        except FileNotFoundError:
            raise EvaluationError(f"{self.plan.case(index)} has no result") from None
        except (OSError, ValueError, KeyError, TypeError):
            raise EvaluationError(f"{path.name}: the result of {self.plan.case(index)} is damaged") from None
        case = self.plan.case(index)
        if not whole:
            raise EvaluationError(f"{path.name}: the result of {case} does not match its checksum")
        if (result.index, result.scene, result.seed) != (index, case.scene, case.seed):
            raise EvaluationError(f"{path.name}: this is not the result of {case}")
        build = self.build
        if result.build and build and result.build != build:
            raise EvaluationError(f"{path.name}: {case} was run by a server of build {result.build}, the evaluation is of {build}")
        return result

    def set_aside(self, index: int) -> Path:
        """Renames a damaged result, so that its episode is run again."""
        place = self.path(index).with_suffix(".damaged")
        os.replace(self.path(index), place)
        return place

    @property
    def build(self) -> str:
        """Of the servers of this evaluation; "" before the first."""
        try:
            return str(json.loads((self.folder / _BUILD).read_text())["build"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def agree_on_build(self, build: str) -> None:
        """The first build that is given here is the evaluation's. Raises OtherBuildError for another one."""
        scratch = self.folder / f"{_BUILD}.{os.getpid()}.part"
        write_durably(scratch, lambda file: file.write((json.dumps({"build": build}) + "\n").encode()))
        try:
            os.link(scratch, self.folder / _BUILD)
        except FileExistsError:
            pass
        finally:
            scratch.unlink(missing_ok=True)
        if self.build != build:
            raise OtherBuildError(f"the server is of build {build}, and this evaluation is of build {self.build}: their bits differ. "
                                  "Install the same build on every machine, or begin anew in another folder")


def _checksum(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, allow_nan=True).encode()).hexdigest()
