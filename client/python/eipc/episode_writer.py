"""An episode while it is recorded; made by Recorder.episode()."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from numpy.typing import ArrayLike, DTypeLike
import numpy as np

from . import requests
from .action_log import log_of_world
from .commands import command_form, command_vector
from .episode import FORMAT
from .episode_columns import EpisodeColumns
from .episode_file import EpisodeFile
from .errors import EpisodeError, ResourceExhaustedError
from .observation import Observation, Observe, ReceivedObservation
from .received import as_received
from .recorded_requests import request_arrays, stripped
from .recorded_scene import RecordedScene
from .session import Session
from .stream import StepStream
from .v1 import observation_pb2, service_pb2

# What record() takes as the request of a step: arguments of Session.step, or the message.
Request = Union[Mapping[str, Any], service_pb2.StepRequest]
# Made surfaces may differ from the server's by this share of the coordinates, in double and in single precision.
_SURFACE_ERROR = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}


class EpisodeWriter:
    """Steps a world and keeps what happens. Used in a `with` block: the end finishes the episode, an exception discards it.

    success: whether the task was done, for the episode's file; None: not said. number: the episode's. observation: the last one.
    """

    def __init__(self, file: EpisodeFile, session: Session, world: int, known: Mapping[str, Any], scene: RecordedScene,
                 positions_dtype: DTypeLike) -> None:
        self.number: int = known["number"]
        self.success: Optional[bool] = None
        self._file, self._session, self._world, self._known, self._scene = file, session, world, known, scene
        self._observe = recorded_observe(scene, positions_dtype)
        self._recorded = session._is_recorded()
        self._stream: Optional[StepStream] = None
        self._place = b""  # the part of requests that all steps have in common, once it is known
        self._action_names: list[str] = []
        self._form: Optional[tuple[Any, ...]] = None  # of the last step's commands, when its action was made of them
        self._actions: list[np.ndarray] = []
        self._marks: list[tuple[float, bool]] = []
        self._requests: list[Optional[bytes]] = []
        self._kept: dict[str, list[np.ndarray]] = {}
        self._ended = False
        # Both at a time: a world takes no steps between them.
        start = session._begin_transient_snapshot(world)
        seen = session._begin_state(dataclasses.replace(self._observe, state_digest=True), world)
        self._start = start().data
        self.observation: Observation = seen()
        self._columns = EpisodeColumns(_message_of(self.observation), scene.surfaces_kept())

    def __enter__(self) -> "EpisodeWriter":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.finish()
        else:
            self.discard()

    def __repr__(self) -> str:
        return f"EpisodeWriter(episode {self.number}, {self.steps} steps)"

    @property
    def steps(self) -> int:
        return len(self._actions)

    @property
    def path(self) -> Path:
        """Of the file that the episode has once it is finished."""
        return self._file.path

    def observe(self, extra: Optional[Observe] = None) -> Observe:
        """What the observations of the episode's steps must contain, with the groups and cameras of `extra`. Pictures are not recorded:
        keep() them."""
        if extra is None:
            return self._observe
        groups = {field.name: True for field in dataclasses.fields(Observe) if getattr(extra, field.name) is True}
        return dataclasses.replace(self._observe, cameras=extra.cameras, **groups)

    def step(self, dt: float, action: Optional[ArrayLike] = None, observe: Optional[Observe] = None, **options: Any) -> Observation:
        """Steps the world and records it; arguments as Session.step, without `world` and `timeout`.

        action: the numbers that a policy gave, kept instead of the commands; equally many in each step.
        """
        self._check_open()
        form = command_form(options) if action is None else None
        names, values = self._action_names, None
        if form is None or form != self._form:
            names, values = self._commanded(dt, options) if action is None else ([], _vector(action))
            self._check_action(names, values)
        if self._stream is None:
            self._stream = self._session.stream()
        where = self._where(observe, options.pop("expected_step", self.observation.step), options.pop("request_id", ""))
        commands: bytes = requests.commands(dt, **options).SerializeToString(deterministic=True)

        def meanwhile() -> None:
            nonlocal values
            self._columns.work()
            if values is None:
                values = self._commanded(dt, options)[1]

        seen = self._stream._take(where + commands, meanwhile)
        assert values is not None  # since meanwhile()
        self._columns.add_later(as_received(seen))
        self._append(seen, commands, names, values)
        self._form = form
        return seen

    def record(self, observation: Observation, action: ArrayLike, request: Optional[Request] = None) -> None:
        """Records a step that was taken elsewhere, such as in a batch, with what observe() returns.

        request: how the step was asked for; without it the episode cannot be replayed.
        """
        self._check_open()
        values = _vector(action)
        self._check_action([], values)
        message = _message_of(observation)
        if not all(message.HasField(group) for group in ("step_receipt", "contact_counts", "min_distance_m")):
            raise EpisodeError("the observation lacks what an episode keeps: step with observe=episode.observe()")
        if message.step_receipt.first_step != self.observation.step:
            raise EpisodeError(f"the step goes on from {message.step_receipt.first_step}, the episode is at {self.observation.step}: "
                               "record every step of the world, in order")
        asked = self._session._step_request(**request) if isinstance(request, Mapping) else request
        self._columns.add(message)
        self._append(observation, None if asked is None else stripped(asked), [], values)
        self._form = None

    def keep(self, name: str, value: ArrayLike) -> None:
        """Keeps an array of numbers that belongs to the last observation, such as what a policy saw; of one shape, and once at the
        start and after every step."""
        self._check_open()
        rows = self._kept.setdefault(name, [])
        if not name or "/" in name or len(rows) != self.steps:
            raise EpisodeError(f"'{name}' has {len(rows)} rows after {self.steps} steps: keep() it once at the start of the episode and once "
                               "after every step, under a name without '/'")
        rows.append(np.array(value))

    def goes_on_in(self, session: Session) -> None:
        """The world is in this session now, bit for bit as it was: after its server was started again."""
        self._session, self._place = session, b""

    def mark(self, reward: float = 0.0, done: bool = False) -> None:
        """What the last step was worth, and whether it ended the task."""
        self._check_open()
        if not self._marks:
            raise EpisodeError("mark() before the first step of the episode")
        self._marks[-1] = (float(reward), bool(done))

    def finish(self) -> None:
        """Checks that the world is where the last step left it, and writes the episode's file. The file is made while the server answers
        where the world is."""
        self._check_open()
        if not self._actions:
            self.discard()
            return
        now = self._session._begin_state(self._checked(), self._world)  # while the stream is open: gRPC has a thread for both then
        if self._stream is not None:
            self._stream._end()  # which takes as long as what follows
        try:
            self._file.write(self._arrays(), agree=lambda: self._check_surfaces(now()))
        finally:
            self._close_stream()
        self._ended = True

    def discard(self) -> None:
        """Ends the episode and keeps nothing of it."""
        if not self._ended:
            self._close_stream(cancel=True)
            self._file.forget()
            self._ended = True

    def _where(self, observe: Optional[Observe], expected_step: Optional[int], request_id: str) -> bytes:
        """All of a request but what the step does. Serialized messages one after another are those messages merged."""
        if observe is not None:
            return requests.of_world(self._session.name, self.observe(observe), self._world, expected_step, request_id).SerializeToString()
        if not self._place:
            self._place = requests.of_world(self._session.name, self._observe, self._world).SerializeToString()
        return self._place + service_pb2.StepRequest(expected_step=expected_step, request_id=request_id).SerializeToString()

    def _append(self, seen: Observation, commands: Optional[bytes], names: list[str], values: np.ndarray) -> None:
        self.observation = seen
        self._requests.append(commands)
        self._action_names = names
        self._actions.append(values)
        self._marks.append((0.0, False))

    def _arrays(self) -> dict[str, np.ndarray]:
        """What the episode's file holds."""
        arrays = self._columns.arrays()
        arrays["action"] = np.array(self._actions)
        arrays["reward"] = np.array([reward for reward, _ in self._marks])
        arrays["done"] = np.array([done for _, done in self._marks])
        arrays.update(self._kept_arrays())
        arrays.update(request_arrays(self._start, self._requests))
        meta = {"format": FORMAT, "what": "episode", **self._known, "success": self.success,
                "build": _message_of(self.observation).step_receipt.build, "action_names": self._action_names, **self._add_log(arrays)}
        arrays["meta"] = np.array(json.dumps(meta))
        return arrays

    def _kept_arrays(self) -> dict[str, np.ndarray]:
        for name, rows in self._kept.items():
            if len(rows) != self.steps + 1 or len({row.shape for row in rows}) != 1:
                raise EpisodeError(f"'{name}' was kept {len(rows)} times, of shapes {sorted({row.shape for row in rows})}: one shape, at the "
                                   f"start and after each of the {self.steps} steps")
        return {f"kept_{name}": np.array(rows) for name, rows in self._kept.items()}

    def _commanded(self, dt: float, options: Mapping[str, Any]) -> tuple[list[str], np.ndarray]:
        return command_vector(options, dt * options.get("substeps", 1))

    def _check_action(self, names: Sequence[str], values: np.ndarray) -> None:
        if not self._actions:
            return
        if list(names) != self._action_names or len(values) != len(self._actions[-1]):
            raise EpisodeError(f"step {self.steps} commands {_listed(names, values)}, those before it "
                               f"{_listed(self._action_names, self._actions[-1])}: the steps of an episode have actions of one form")

    def _add_log(self, arrays: dict[str, np.ndarray]) -> dict[str, str]:
        """The part of the session's recording, or why there is none."""
        if not self._recorded:
            return {}
        try:
            log = log_of_world(self._session.recording(), self._world)
        except ResourceExhaustedError as error:
            return {"no_log": error.message}
        arrays["log"] = np.frombuffer(log, dtype=np.uint8)
        return {}

    def _checked(self) -> Observe:
        return Observe(poses=False, solver_report=False, surface_positions=True, state_digest=True, bodies=list(self._scene.embeddings))

    def _check_surfaces(self, now: Observation) -> None:
        """That the world was not stepped past the recorder, and that surfaces made from cages are those that the server has. now: as
        _checked() asks for it."""
        receipt = _message_of(self.observation).step_receipt
        if now.state_digest != receipt.state_digest:
            raise EpisodeError(f"the world is at step {now.step}, the episode at {receipt.step}: something stepped it past the recorder")
        for name, embedding in self._scene.embeddings.items():
            cage, true = self.observation.bodies[name].cage_positions, now.bodies[name].surface_positions
            assert cage is not None and true is not None  # asked for at every step, and above
            made = embedding.surface(cage)
            allowed = _SURFACE_ERROR[np.dtype(self._observe.positions_dtype)] * np.abs(true).max()
            error = np.abs(made - true).max()
            if not error <= allowed:
                raise EpisodeError(f"the surface of '{name}' made from its cage is off by {error:.3g} m; is {self._scene.name} of another "
                                   "server? Record into another folder")

    def _check_open(self) -> None:
        if self._ended:
            raise EpisodeError(f"episode {self.number} has ended")
        self._file.check()

    def _close_stream(self, cancel: bool = False) -> None:
        if self._stream is not None:
            self._stream.close(cancel=cancel)
            self._stream = None


def recorded_observe(scene: RecordedScene, positions_dtype: DTypeLike = np.float64) -> Observe:
    """What the observations of episodes of a scene must contain."""
    return Observe(
        twists=True, cage_positions=True, surface_positions=bool(scene.surfaces_kept()), contact_wrenches=True,
        contact_counts=True, min_distance=True, boundary_poses=True, step_receipt=True, positions_dtype=positions_dtype)


def _message_of(observation: Observation) -> observation_pb2.Observation:
    if not isinstance(observation, ReceivedObservation):
        raise EpisodeError("an episode keeps observations as the server sent them, not what was made of them")
    return observation.message


def _vector(action: ArrayLike) -> np.ndarray:
    values = np.asarray(action, dtype=float)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise EpisodeError(f"an action is a vector of finite numbers, got shape {values.shape}")
    return values.copy()


def _listed(names: Sequence[str], values: np.ndarray) -> str:
    if names:
        return f"[{', '.join(names)}]"
    return f"{len(values)} numbers" if len(values) else "nothing"
