"""Columns that the observations of an episode fill while it is recorded, a row each. They become the arrays of its file
(docs/reference/episodes.md lists them). Rows come from the messages as the server sent them: a step waits for nothing else."""

from __future__ import annotations

import math
from array import array
from typing import Any, Collection, Iterable, Sequence

import numpy as np

from . import arrays
from .episode_arrays import DRIVE_FIGURES, RECEIPT_FIGURES, WRENCH_PARTS, Arrays, names_array, pair_names_array, unit_quaternions
from .errors import EpisodeError
from .solver_report import Outcome
from .v1 import geometry_pb2, observation_pb2

_POSE, _TWIST = 7, 6  # numbers of a row
_INTEGERS = tuple(name for name, kind in RECEIPT_FIGURES.items() if kind is not float)
_REALS = tuple(name for name, kind in RECEIPT_FIGURES.items() if kind is float)


class EpisodeColumns:
    """The observations of an episode, its start and the end of each step. with_surface: the bodies whose surfaces are kept because they
    cannot be made from their cages."""

    def __init__(self, start: observation_pb2.Observation, with_surface: Collection[str]) -> None:
        self._time, self._step, self._distance = array("d"), array("q"), array("d")
        self._bodies = _BodyColumns(start.bodies, with_surface)
        self._frames = _FrameColumns(start.boundary_poses)
        self._wrenches, self._pair_counts = _PairColumns("d"), _PairColumns("i")
        self._contacts = array("i")
        self._receipts = ReceiptColumns(start.state_digest)
        self._add(start)

    def __repr__(self) -> str:
        return f"EpisodeColumns({len(self._time)} observations)"

    def add(self, seen: observation_pb2.Observation) -> None:
        """What was observed after the next step. Raises EpisodeError when it is not of the form of what came before."""
        self._add(seen)
        self._receipts.add(seen.step_receipt)

    def arrays(self) -> Arrays:
        """Over all observations; `receipt_...` over the steps."""
        samples = len(self._time)
        out = {"time_s": np.array(self._time), "step": np.array(self._step), "min_distance_m": np.array(self._distance),
               **self._bodies.arrays(samples)}
        ordered, wrenches = self._wrenches.arrays(samples, 3 * len(WRENCH_PARTS))
        out["wrench_pairs"] = pair_names_array(ordered)
        out.update((name, wrenches[:, :, 3 * k:3 * k + 3]) for k, name in enumerate(WRENCH_PARTS))
        ordered, counts = self._pair_counts.arrays(samples, 2)
        out["contact_pairs"] = pair_names_array(ordered)
        out["contacts"] = np.array(self._contacts, dtype=np.int32).reshape(samples, 2)
        out["pair_contacts"] = counts
        return {**out, **self._frames.arrays(samples), **self._receipts.arrays()}

    def _add(self, seen: observation_pb2.Observation) -> None:
        sample = len(self._time)
        self._bodies.add(seen.bodies)
        self._frames.add(seen.boundary_poses)
        for wrench in seen.contact_wrenches:
            self._wrenches.add(sample, (wrench.body, wrench.other), [
                *_vector(wrench.normal_force_n), *_vector(wrench.friction_force_n),
                *_vector(wrench.normal_moment_nm), *_vector(wrench.friction_moment_nm)])
        counts = seen.contact_counts
        self._contacts.extend((counts.point_triangle, counts.edge_edge))
        for pair in counts.pairs:
            self._pair_counts.add(sample, (pair.body_a, pair.body_b), (pair.point_triangle, pair.edge_edge))
        self._distance.append(seen.min_distance_m if seen.HasField("min_distance_m") else math.inf)
        self._step.append(seen.step)
        self._time.append(seen.time_s)


class ReceiptColumns:
    """The receipts of an episode's steps."""

    def __init__(self, start_digest: str) -> None:
        self._integers, self._reals, self._outcomes = array("q"), array("d"), array("i")
        self._digests = [start_digest]

    def __repr__(self) -> str:
        return f"ReceiptColumns({len(self._outcomes)} steps)"

    def add(self, receipt: observation_pb2.StepReceipt) -> None:
        self._integers.extend([getattr(receipt, name) for name in _INTEGERS])
        self._reals.extend([getattr(receipt, name) for name in _REALS])
        self._outcomes.append(receipt.outcome)
        self._digests.append(receipt.state_digest)

    def arrays(self) -> Arrays:
        """Over the steps; `state_digest` over the start too."""
        steps = len(self._outcomes)
        integers, reals = np.array(self._integers).reshape(steps, len(_INTEGERS)), np.array(self._reals).reshape(steps, len(_REALS))
        columns = {**{name: integers[:, k] for k, name in enumerate(_INTEGERS)}, **{name: reals[:, k] for k, name in enumerate(_REALS)}}
        out = {f"receipt_{name}": columns[name].astype(kind) for name, kind in RECEIPT_FIGURES.items()}
        out["receipt_outcome"] = np.array([Outcome(outcome).value for outcome in self._outcomes], dtype=np.int32)
        out["state_digest"] = np.array(self._digests, dtype="S16")
        return out


class _BodyColumns:
    """Poses, twists and nodes of all bodies, whose order is always the same."""

    def __init__(self, bodies: Sequence[observation_pb2.BodyObservation], with_surface: Collection[str]) -> None:
        self._names = [body.name for body in bodies]
        self._rows = array("d")
        self._cages = [_PointColumn(body.cage_positions) for body in bodies]
        self._surfaces = {b: _PointColumn(body.surface_positions) for b, body in enumerate(bodies) if body.name in with_surface}

    def add(self, bodies: Sequence[observation_pb2.BodyObservation]) -> None:
        if len(bodies) != len(self._names):
            raise EpisodeError(f"an observation of {len(bodies)} bodies in an episode of {len(self._names)}: step with observe=episode.observe()")
        row: list[float] = []
        for body, cage in zip(bodies, self._cages):
            row += [*_pose(body.pose), *_vector(body.linear_velocity_m_s), *_vector(body.angular_velocity_rad_s)]
            cage.add(body.cage_positions)
        for b, surface in self._surfaces.items():
            surface.add(bodies[b].surface_positions)
        self._rows.extend(row)

    def arrays(self, samples: int) -> Arrays:
        rows = np.array(self._rows).reshape(samples, len(self._names), _POSE + _TWIST)
        out = {"body_names": names_array(self._names), "position_m": rows[:, :, :3], "orientation_wxyz": unit_quaternions(rows[:, :, 3:7]),
               "linear_velocity_m_s": rows[:, :, 7:10], "angular_velocity_rad_s": rows[:, :, 10:]}
        for b, cage in enumerate(self._cages):
            out[f"cage_{b}"] = cage.array(samples)
            if b in self._surfaces:
                out[f"surface_{b}"] = self._surfaces[b].array(samples).astype(np.float32, copy=False)
        return out


class _FrameColumns:
    """Poses of driven frames, whose order is always the same, and readings of those that are sliders."""

    def __init__(self, frames: Sequence[observation_pb2.BoundaryPose]) -> None:
        self._names = [(frame.body, frame.boundary_set) for frame in frames]
        self._sliders = [f for f, frame in enumerate(frames) if frame.HasField("drive")]
        self._rows, self._modes, self._readings = array("d"), array("i"), array("d")

    def add(self, frames: Sequence[observation_pb2.BoundaryPose]) -> None:
        if len(frames) != len(self._names):
            raise EpisodeError(f"an observation of {len(frames)} driven frames in an episode of {len(self._names)}: "
                               "step with observe=episode.observe()")
        row: list[float] = []
        for frame in frames:
            row += [*_pose(frame.achieved), *_pose(frame.commanded), frame.error_m]
        self._rows.extend(row)
        for slider in self._sliders:
            drive = frames[slider].drive
            self._modes.append(drive.mode)
            self._readings.extend([getattr(drive, name) for name in DRIVE_FIGURES])

    def arrays(self, samples: int) -> Arrays:
        rows = np.array(self._rows).reshape(samples, len(self._names), 2 * _POSE + 1)
        readings = np.array(self._readings).reshape(samples, len(self._sliders), len(DRIVE_FIGURES))
        out = {"frame_names": pair_names_array(self._names),
               "frame_position_m": rows[:, :, :3], "frame_orientation_wxyz": unit_quaternions(rows[:, :, 3:7]),
               "frame_target_position_m": rows[:, :, 7:10], "frame_target_orientation_wxyz": unit_quaternions(rows[:, :, 10:14]),
               "frame_error_m": rows[:, :, 14],
               "drive_names": pair_names_array([self._names[slider] for slider in self._sliders]),
               "drive_mode": np.array(self._modes, dtype=np.int32).reshape(samples, len(self._sliders))}
        out.update((f"drive_{name}", readings[:, :, k].astype(kind)) for k, (name, kind) in enumerate(DRIVE_FIGURES.items()))
        return out


class _PairColumns:
    """Rows of pairs of bodies, of those that touch."""

    def __init__(self, kind: str) -> None:
        """kind: type code of the numbers."""
        self._number: dict[tuple[str, str], int] = {}
        self._places, self._values = array("q"), array(kind)

    def add(self, sample: int, pair: tuple[str, str], values: Iterable[Any]) -> None:
        self._places.extend((sample, self._number.setdefault(pair, len(self._number))))
        self._values.extend(values)

    def arrays(self, samples: int, width: int) -> tuple[list[tuple[str, str]], np.ndarray]:
        """The pairs in order, and [samples,pairs,width] with zeros where they did not touch."""
        ordered = sorted(self._number)
        place = np.empty(len(ordered), dtype=np.int64)
        place[[self._number[pair] for pair in ordered]] = np.arange(len(ordered))
        values = np.array(self._values)
        out = np.zeros((samples, len(ordered), width), dtype=values.dtype)
        places = np.array(self._places).reshape(-1, 2)
        out[places[:, 0], place[places[:, 1]]] = values.reshape(-1, width)
        return ordered, out


class _PointColumn:
    """Positions of as many points in each observation."""

    def __init__(self, first: geometry_pb2.NdArray) -> None:
        example = arrays.to_numpy(first)
        self._type, self._dtype, self._shape, self._size = first.dtype, example.dtype, example.shape, example.nbytes
        self._data = bytearray()

    def add(self, points: geometry_pb2.NdArray) -> None:
        data = points.data
        if len(data) != self._size or points.dtype != self._type:
            raise EpisodeError(f"{len(data)} bytes of positions in an episode that has {self._size} bytes of them in every observation")
        self._data += data

    def array(self, samples: int) -> np.ndarray:
        return np.frombuffer(self._data, dtype=self._dtype).reshape(samples, *self._shape)


def _vector(message: geometry_pb2.Vec3) -> tuple[float, float, float]:
    return message.x, message.y, message.z


def _pose(message: geometry_pb2.Pose) -> tuple[float, ...]:
    p, q = message.position_m, message.quaternion
    return p.x, p.y, p.z, q.w, q.x, q.y, q.z
