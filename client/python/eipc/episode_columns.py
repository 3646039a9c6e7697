"""Columns that the observations of an episode fill while it is recorded, a row each. They become the arrays of its file
(docs/reference/episodes.md lists them). Rows are kept as the server sent them, and turned into columns many at a time."""

from __future__ import annotations

import itertools
import math
from array import array
from typing import Any, Callable, Collection, Iterator, NamedTuple, Sequence, Union

import numpy as np

from . import arrays
from .episode_arrays import DRIVE_FIGURES, RECEIPT_FIGURES, WRENCH_PARTS, Arrays, names_array, pair_names_array, unit_quaternions
from .errors import EpisodeError
from .message_parts import PACKED, WHOLE, classes_of_parts
from .solver_report import Outcome
from .v1 import geometry_pb2, observation_pb2
from .wire_rows import Found, Rows, WireRows

# Observations that are turned into columns at a time, and bytes of positions in them: each takes less time then, but waits in memory.
_AT_A_TIME, _BYTES_AT_A_TIME = 32, 1 << 20
_PARTS = classes_of_parts("columns", {
    "Observation": (observation_pb2.Observation.DESCRIPTOR,
                    {"step": WHOLE, "time_s": WHOLE, "bodies": PACKED, "contact_wrenches": PACKED, "contact_counts": "Counts",
                     "min_distance_m": WHOLE, "boundary_poses": PACKED, "step_receipt": PACKED}),
    "Counts": (observation_pb2.ContactCounts.DESCRIPTOR, {"point_triangle": WHOLE, "edge_edge": WHOLE, "pairs": PACKED})})
_POSE = ("position_m.x", "position_m.y", "position_m.z", "quaternion.w", "quaternion.x", "quaternion.y", "quaternion.z")
_VECTOR = ("x", "y", "z")
_Observed = Union[bytes, observation_pb2.Observation]


class _Fields(NamedTuple):
    """Fields of a type of messages: of serialized ones, and a function that finds the same ones in a message."""

    packed: WireRows
    found: Callable[[Any], Found]

    def of_packed(self, messages: Sequence[bytes]) -> Iterator[Rows]:
        return self.packed.read(messages)

    def of_unpacked(self, messages: Sequence[Any]) -> Iterator[Rows]:
        return self.packed.read_found([self.found(message) for message in messages])


# One of the two.
_Read = Callable[[_Fields, Sequence[Any]], Iterator[Rows]]


def _in(message: str, paths: Sequence[str]) -> list[str]:
    return [f"{message}.{path}" for path in paths]


def _vector(message: geometry_pb2.Vec3) -> tuple[float, float, float]:
    return message.x, message.y, message.z


def _pose(message: geometry_pb2.Pose) -> tuple[float, ...]:
    p, q = message.position_m, message.quaternion
    return p.x, p.y, p.z, q.w, q.x, q.y, q.z


class EpisodeColumns:
    """The observations of an episode, its start and the end of each step. with_surface: the bodies whose surfaces are kept because they
    cannot be made from their cages."""

    def __init__(self, start: observation_pb2.Observation, with_surface: Collection[str]) -> None:
        self._time, self._step, self._distance = array("d"), array("q"), array("d")
        self._bodies = _BodyColumns(start.bodies, with_surface)
        self._frames = _FrameColumns(start.boundary_poses)
        self._wrenches = _PairColumns(_WRENCH, np.empty((0, 3 * len(WRENCH_PARTS))))
        self._pair_counts = _PairColumns(_PAIR, np.empty((0, 2), dtype=np.int32))
        self._contacts = array("i")
        self._receipts = ReceiptColumns(start.state_digest)
        self._waiting: list[_Observed] = [start]
        self._at_a_time = max(1, min(_AT_A_TIME, _BYTES_AT_A_TIME // max(1, self._bodies.position_bytes)))

    def __repr__(self) -> str:
        return f"EpisodeColumns({len(self._time) + len(self._waiting)} observations)"

    def add(self, seen: observation_pb2.Observation) -> None:
        """What was observed after the next step. Raises EpisodeError when it is not of the form of what came before."""
        self._bodies.check(seen.bodies)
        self._frames.check(len(seen.boundary_poses))
        self._waiting.append(seen)
        self.work()

    def add_later(self, seen: _Observed) -> None:
        """The same, of an Observation that may be serialized, and is only kept here: work() and arrays() say when it is of another form."""
        self._waiting.append(seen)

    def work(self) -> None:
        """Turns what was added into columns once there is enough of it. Raises EpisodeError as add() does."""
        if len(self._waiting) >= self._at_a_time:
            self._turn_waiting()

    def arrays(self) -> Arrays:
        """Over all observations; `receipt_...` over the steps. Raises EpisodeError as add() does."""
        self._turn_waiting()
        samples = len(self._time)
        out = {"time_s": np.array(self._time), "step": np.array(self._step), "min_distance_m": np.array(self._distance),
               **self._bodies.arrays(samples)}
        ordered, wrenches = self._wrenches.arrays(samples)
        out["wrench_pairs"] = pair_names_array(ordered)
        out.update((name, wrenches[:, :, 3 * k:3 * k + 3]) for k, name in enumerate(WRENCH_PARTS))
        ordered, counts = self._pair_counts.arrays(samples)
        out["contact_pairs"] = pair_names_array(ordered)
        out["contacts"] = np.array(self._contacts, dtype=np.int32).reshape(samples, 2)
        out["pair_contacts"] = counts
        return {**out, **self._frames.arrays(samples), **self._receipts.arrays()}

    def _turn_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for packed, observations in itertools.groupby(waiting, lambda seen: isinstance(seen, bytes)):
            if packed:
                parts = [_PARTS["Observation"].FromString(seen) for seen in observations]
                self._turn(parts, [b"".join(one.step_receipt) for one in parts], _Fields.of_packed)
            else:
                whole: list[Any] = list(observations)
                self._turn(whole, [one.step_receipt for one in whole], _Fields.of_unpacked)

    def _turn(self, seen: Sequence[Any], receipts: Sequence[Any], read: _Read) -> None:
        """Turns observations into columns. receipts: of each. read: their parts."""
        first = len(self._time)
        self._bodies.add([one.bodies for one in seen], read)
        self._frames.add([one.boundary_poses for one in seen], read)
        self._wrenches.add(first, [one.contact_wrenches for one in seen], read)
        counts = [one.contact_counts for one in seen]
        self._pair_counts.add(first, [count.pairs for count in counts], read)
        for count in counts:
            self._contacts.extend((count.point_triangle, count.edge_edge))
        self._distance.extend([one.min_distance_m if one.HasField("min_distance_m") else math.inf for one in seen])
        self._step.extend([one.step for one in seen])
        self._time.extend([one.time_s for one in seen])
        self._receipts.add_rows(receipts if first else receipts[1:], read)


class ReceiptColumns:
    """The receipts of an episode's steps."""

    def __init__(self, start_digest: str) -> None:
        self._start_digest = start_digest
        self._reals: list[np.ndarray] = []
        self._integers: list[np.ndarray] = []
        self._digests: list[np.ndarray] = []

    def __repr__(self) -> str:
        return f"ReceiptColumns({sum(map(len, self._digests))} steps)"

    def add(self, receipt: observation_pb2.StepReceipt) -> None:
        self.add_rows([receipt], _Fields.of_unpacked)

    def add_rows(self, receipts: Sequence[Any], read: _Read) -> None:
        """Receipts of as many steps."""
        reals, integers = np.empty((len(receipts), len(_REALS))), np.empty((len(receipts), len(_INTEGERS) + 1), dtype=np.int64)
        digests = np.zeros(len(receipts), dtype="S16")
        for part in read(_RECEIPT, receipts):
            reals[part.rows], integers[part.rows] = part.reals, part.integers
            (text,) = part.data
            if text.shape[1]:
                digests[part.rows] = np.ascontiguousarray(text).view(f"S{text.shape[1]}")[:, 0]
        self._reals.append(reals)
        self._integers.append(integers)
        self._digests.append(digests)

    def arrays(self) -> Arrays:
        """Over the steps; `state_digest` over the start too."""
        reals = np.concatenate([np.empty((0, len(_REALS))), *self._reals])
        integers = np.concatenate([np.empty((0, len(_INTEGERS) + 1), dtype=np.int64), *self._integers])
        columns = {**{name: integers[:, k] for k, name in enumerate(_INTEGERS)}, **{name: reals[:, k] for k, name in enumerate(_REALS)}}
        out = {f"receipt_{name}": columns[name].astype(kind) for name, kind in RECEIPT_FIGURES.items()}
        out["receipt_outcome"] = np.array([Outcome(outcome).value for outcome in integers[:, -1].tolist()], dtype=np.int32)
        out["state_digest"] = np.concatenate([np.array([self._start_digest], dtype="S16"), *self._digests])
        return out


_INTEGERS = tuple(name for name, kind in RECEIPT_FIGURES.items() if kind is not float)
_REALS = tuple(name for name, kind in RECEIPT_FIGURES.items() if kind is float)
_RECEIPT = _Fields(
    WireRows(observation_pb2.StepReceipt.DESCRIPTOR, reals=_REALS, integers=(*_INTEGERS, "outcome"), data=["state_digest"]),
    lambda receipt: ([getattr(receipt, name) for name in _REALS], [*[getattr(receipt, name) for name in _INTEGERS], receipt.outcome], (),
                     (receipt.state_digest.encode(),)))
_POINTS = ("cage_positions", "surface_positions")


def _found_in_body(body: observation_pb2.BodyObservation) -> Found:
    cage, surface = body.cage_positions, body.surface_positions
    return ((*_pose(body.pose), *_vector(body.linear_velocity_m_s), *_vector(body.angular_velocity_rad_s)), (cage.dtype, surface.dtype), (),
            (cage.data, surface.data))


_BODY = _Fields(
    WireRows(observation_pb2.BodyObservation.DESCRIPTOR,
             reals=[*_in("pose", _POSE), *_in("linear_velocity_m_s", _VECTOR), *_in("angular_velocity_rad_s", _VECTOR)],
             integers=[f"{points}.dtype" for points in _POINTS], data=[f"{points}.data" for points in _POINTS]), _found_in_body)


class _BodyColumns:
    """Poses, twists and nodes of all bodies, whose order is always the same."""

    def __init__(self, bodies: Sequence[observation_pb2.BodyObservation], with_surface: Collection[str]) -> None:
        self._names = [body.name for body in bodies]
        self._rows: list[np.ndarray] = []
        self._cages = [_PointColumn(0, body.cage_positions) for body in bodies]
        self._surfaces = {b: _PointColumn(1, body.surface_positions) for b, body in enumerate(bodies) if body.name in with_surface}

    @property
    def position_bytes(self) -> int:
        """Of the positions in an observation."""
        return sum(points.size for points in (*self._cages, *self._surfaces.values()))

    def check(self, bodies: Sequence[observation_pb2.BodyObservation]) -> None:
        """Raises EpisodeError when the bodies of an observation are not of this form."""
        self._check_count(len(bodies))
        for body, cage in zip(bodies, self._cages):
            cage.check(body.cage_positions.dtype, len(body.cage_positions.data))
        for b, surface in self._surfaces.items():
            surface.check(bodies[b].surface_positions.dtype, len(bodies[b].surface_positions.data))

    def _check_count(self, count: int) -> None:
        if count != len(self._names):
            raise EpisodeError(f"an observation of {count} bodies in an episode of {len(self._names)}: step with observe=episode.observe()")

    def add(self, seen: Sequence[Sequence[Any]], read: _Read) -> None:
        """The bodies of some observations. Raises EpisodeError as check() does."""
        for bodies in seen:
            self._check_count(len(bodies))
        rows = np.empty((len(seen), len(self._names), 13))
        for b, cage in enumerate(self._cages):
            columns = [cage, self._surfaces[b]] if b in self._surfaces else [cage]
            parts = list(read(_BODY, [bodies[b] for bodies in seen]))
            for part in parts:
                rows[part.rows, b] = part.reals
            for points in columns:
                points.add(len(seen), parts)
        self._rows.append(rows)

    def arrays(self, samples: int) -> Arrays:
        rows = np.concatenate(self._rows)
        out = {"body_names": names_array(self._names), "position_m": rows[:, :, :3], "orientation_wxyz": unit_quaternions(rows[:, :, 3:7]),
               "linear_velocity_m_s": rows[:, :, 7:10], "angular_velocity_rad_s": rows[:, :, 10:]}
        for b, cage in enumerate(self._cages):
            out[f"cage_{b}"] = cage.array(samples)
            if b in self._surfaces:
                out[f"surface_{b}"] = self._surfaces[b].array(samples).astype(np.float32, copy=False)
        return out


_READINGS = ("commanded", "position_m", "velocity_m_s", "effort_n")
_FLAGS = ("saturated", "blocked")


def _found_in_frame(frame: observation_pb2.BoundaryPose) -> Found:
    drive = frame.drive
    return ((*_pose(frame.commanded), *_pose(frame.achieved), frame.error_m, *[getattr(drive, name) for name in _READINGS]),
            (drive.mode, drive.saturated, drive.blocked), (), ())


_FRAME = _Fields(
    WireRows(observation_pb2.BoundaryPose.DESCRIPTOR,
             reals=[*_in("commanded", _POSE), *_in("achieved", _POSE), "error_m", *_in("drive", _READINGS)],
             integers=_in("drive", ("mode", *_FLAGS))), _found_in_frame)


class _FrameColumns:
    """Poses of driven frames, whose order is always the same, and readings of those that are sliders."""

    def __init__(self, frames: Sequence[observation_pb2.BoundaryPose]) -> None:
        self._names = [(frame.body, frame.boundary_set) for frame in frames]
        self._sliders = [f for f, frame in enumerate(frames) if frame.HasField("drive")]
        self._reals: list[np.ndarray] = []
        self._integers: list[np.ndarray] = []

    def check(self, count: int) -> None:
        """Raises EpisodeError when an observation has another number of frames."""
        if count != len(self._names):
            raise EpisodeError(f"an observation of {count} driven frames in an episode of {len(self._names)}: "
                               "step with observe=episode.observe()")

    def add(self, seen: Sequence[Sequence[Any]], read: _Read) -> None:
        """The frames of some observations. Raises EpisodeError as check() does."""
        for frames in seen:
            self.check(len(frames))
        count = len(seen) * len(self._names)
        reals, integers = np.empty((count, 15 + len(_READINGS))), np.empty((count, 1 + len(_FLAGS)), dtype=np.int64)
        for part in read(_FRAME, [frame for frames in seen for frame in frames]):
            reals[part.rows], integers[part.rows] = part.reals, part.integers
        self._reals.append(reals)
        self._integers.append(integers)

    def arrays(self, samples: int) -> Arrays:
        reals, integers = np.concatenate(self._reals), np.concatenate(self._integers)
        rows = reals.reshape(samples, len(self._names), reals.shape[1])
        integers = integers.reshape(samples, len(self._names), integers.shape[1])[:, self._sliders]
        readings = {**{name: rows[:, self._sliders, 15 + k] for k, name in enumerate(_READINGS)},
                    **{name: integers[:, :, 1 + k] for k, name in enumerate(_FLAGS)}}
        out = {"frame_names": pair_names_array(self._names),
               "frame_position_m": rows[:, :, 7:10], "frame_orientation_wxyz": unit_quaternions(rows[:, :, 10:14]),
               "frame_target_position_m": rows[:, :, :3], "frame_target_orientation_wxyz": unit_quaternions(rows[:, :, 3:7]),
               "frame_error_m": rows[:, :, 14],
               "drive_names": pair_names_array([self._names[slider] for slider in self._sliders]),
               "drive_mode": integers[:, :, 0].astype(np.int32)}
        out.update((f"drive_{name}", readings[name].astype(kind)) for name, kind in DRIVE_FIGURES.items())
        return out


_WRENCH = _Fields(
    WireRows(observation_pb2.ContactWrench.DESCRIPTOR, names=["body", "other"], reals=[path for part in WRENCH_PARTS for path in _in(part, _VECTOR)]),
    lambda wrench: ((*_vector(wrench.normal_force_n), *_vector(wrench.friction_force_n), *_vector(wrench.normal_moment_nm),
                     *_vector(wrench.friction_moment_nm)), (), (wrench.body, wrench.other), ()))
_PAIR = _Fields(
    WireRows(observation_pb2.PairCount.DESCRIPTOR, names=["body_a", "body_b"], integers=["point_triangle", "edge_edge"]),
    lambda pair: ((), (pair.point_triangle, pair.edge_edge), (pair.body_a, pair.body_b), ()))


class _PairColumns:
    """Rows of pairs of bodies, of those that touch."""

    def __init__(self, fields: _Fields, none: np.ndarray) -> None:
        """fields: names of the two, and reals or integers. none [0,n]: no rows of these, of the type that they have in the file."""
        self._fields, self._none = fields, none
        self._number: dict[tuple[str, str], int] = {}
        self._places: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def add(self, first: int, seen: Sequence[Sequence[Any]], read: _Read) -> None:
        """The pairs of some observations, of which the first is in row `first`."""
        samples = np.repeat(np.arange(first, first + len(seen)), [len(pairs) for pairs in seen])
        for part in read(self._fields, [pair for pairs in seen for pair in pairs]):
            places = np.empty((len(part.rows), 2), dtype=np.int64)
            places[:, 0], places[:, 1] = samples[part.rows], self._number.setdefault((part.names[0], part.names[1]), len(self._number))
            self._places.append(places)
            self._values.append(part.reals if self._none.dtype == np.float64 else part.integers.astype(self._none.dtype))

    def arrays(self, samples: int) -> tuple[list[tuple[str, str]], np.ndarray]:
        """The pairs in order, and [samples,pairs,numbers] with zeros where they did not touch."""
        ordered = sorted(self._number)
        place = np.empty(len(ordered), dtype=np.int64)
        place[[self._number[pair] for pair in ordered]] = np.arange(len(ordered))
        values = np.concatenate([self._none, *self._values])
        out = np.zeros((samples, len(ordered), values.shape[1]), dtype=values.dtype)
        places = np.concatenate([np.empty((0, 2), dtype=np.int64), *self._places])
        out[places[:, 0], place[places[:, 1]]] = values
        return ordered, out


class _PointColumn:
    """Positions of as many points in each observation. which: of the arrays that _BODY reads."""

    def __init__(self, which: int, first: geometry_pb2.NdArray) -> None:
        example = arrays.to_numpy(first)
        self._which = which
        self._type, self._dtype, self._shape, self.size = first.dtype, example.dtype, example.shape, example.nbytes
        self._data = bytearray()

    def check(self, data_type: int, size: int) -> None:
        """Raises EpisodeError for an array of another type or size."""
        if size != self.size or data_type != self._type:
            raise EpisodeError(f"{size} bytes of positions in an episode that has {self.size} bytes of them in every observation")

    def add(self, samples: int, parts: Sequence[Rows]) -> None:
        """Of so many observations, whose rows the parts are. Raises EpisodeError as check() does."""
        positions = np.empty((samples, self.size), dtype=np.uint8)
        for part in parts:
            data = part.data[self._which]
            for data_type in set(part.integers[:, self._which].tolist()):
                self.check(data_type, data.shape[1])
            positions[part.rows] = data
        self._data += positions.data

    def array(self, samples: int) -> np.ndarray:
        """Over all observations."""
        return np.frombuffer(self._data, dtype=self._dtype).reshape(samples, *self._shape)
