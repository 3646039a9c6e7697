"""Observations of many worlds as arrays with the world as first axis, out of the answer to a batch: arrays of all worlds, or a message
of each where more is observed than comes stacked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from .. import arrays
from ..errors import EipcError, error_from_number
from ..observation import Observe
from ..shown import brief
from ..stacked import stack_request, stacked_from_message
from ..v1 import observation_pb2, service_pb2

_POSE = attrgetter("pose.position_m.x", "pose.position_m.y", "pose.position_m.z",
                   "pose.quaternion.w", "pose.quaternion.x", "pose.quaternion.y", "pose.quaternion.z")
_TWIST = attrgetter(*(f"{name}.{axis}" for name in ("linear_velocity_m_s", "angular_velocity_rad_s") for axis in "xyz"))
_WRENCH = attrgetter(*(f"{name}.{axis}" for name in ("normal_force_n", "friction_force_n", "normal_moment_nm", "friction_moment_nm")
                       for axis in "xyz"))
_COUNTS = attrgetter("point_triangle", "edge_edge")


@brief
@dataclass
class WorldArrays:
    """State of W worlds with B bodies and P pairs of bodies; rows of worlds that have not been observed yet are zero.

    position [W,B,3] m and orientation [W,B,4] w x y z of body frames; velocity [W,B,6]: linear m/s, angular rad/s;
    wrench [W,P,4,3]: normal force N, friction force N, normal moment Nm, friction moment Nm of the pair's second body on
    its first, moments about the first's centre of mass; contacts [W,P,2]: active point-triangle and edge-edge contacts;
    cage[body] [W,n,3] m; time_s [W]; digest [W]: of the state, 16 hex digits.
    """

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    wrench: np.ndarray
    contacts: np.ndarray
    time_s: np.ndarray
    digest: np.ndarray
    cage: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def empty(cls, worlds: int, bodies: int, pairs: int) -> "WorldArrays":
        return cls(np.zeros((worlds, bodies, 3)), np.zeros((worlds, bodies, 4)), np.zeros((worlds, bodies, 6)),
                   np.zeros((worlds, pairs, 4, 3)), np.zeros((worlds, pairs, 2), dtype=np.int32), np.zeros(worlds),
                   np.full(worlds, "", dtype=object))

    def put(self, worlds: np.ndarray, rows: "WorldArrays") -> None:
        """Replaces the rows of some worlds."""
        for name in ("position", "orientation", "velocity", "wrench", "contacts", "time_s", "digest"):
            getattr(self, name)[worlds] = getattr(rows, name)
        for body, cage in rows.cage.items():
            if body not in self.cage:
                self.cage[body] = np.zeros((len(self.time_s), *cage.shape[1:]))
            self.cage[body][worlds] = cage

    def rows(self, worlds: np.ndarray) -> "WorldArrays":
        """Copies of some worlds' rows."""
        names = ("position", "orientation", "velocity", "wrench", "contacts", "time_s", "digest")
        arrays_of: dict[str, Any] = {name: getattr(self, name)[worlds] for name in names}
        return WorldArrays(**arrays_of, cage={body: cage[worlds] for body, cage in self.cage.items()})


@brief
@dataclass(frozen=True)
class BatchAnswer:
    """worlds [k]: those that stepped, with their rows; errors: of the worlds that did not. observations: the worlds' messages, where
    there was one of each. solver_s [k]: what the solver took, where it was asked for."""

    worlds: np.ndarray
    rows: WorldArrays
    errors: Mapping[int, EipcError]
    observations: Sequence[Any] = ()
    solver_s: Optional[np.ndarray] = None


class Layout:
    """Which bodies and pairs are observed, in which order, and with cages of which bodies."""

    def __init__(self, bodies: Sequence[str], pairs: Sequence[tuple[str, str]], cages: Sequence[str] = ()) -> None:
        """bodies: in the order of the scene. pairs: (body, other). cages: of `bodies`, those whose cage positions are read."""
        self.bodies, self.pairs, self.cages = tuple(bodies), tuple(pairs), tuple(cages)
        self._recorded: Optional[Observe] = None
        self._timed = False
        self._observed = self.bodies
        self._pair = {pair: p for p, pair in enumerate(self.pairs)}
        self._pair_of_count = {frozenset(pair): p for p, pair in enumerate(self.pairs)}

    def __repr__(self) -> str:
        return f"Layout({', '.join(self.bodies)}; {len(self.pairs)} pairs)"

    def with_cages(self, cages: Sequence[str]) -> "Layout":
        """The same with cage positions of these bodies."""
        layout = Layout(self.bodies, self.pairs, cages)
        layout._recorded, layout._observed, layout._timed = self._recorded, self._observed, self._timed
        return layout

    def with_all(self, observe: Observe, bodies: Sequence[str]) -> "Layout":
        """The same, for steps that observe more: what a recorder keeps, of all bodies of the scene."""
        layout = self.with_cages(self.cages)
        layout._recorded, layout._observed = observe, tuple(bodies)
        return layout

    def with_solver_times(self) -> "Layout":
        """The same, with BatchAnswer.solver_s."""
        layout = self.with_cages(self.cages)
        layout._timed = True
        return layout

    @property
    def stack(self) -> Optional[observation_pb2.StackRequest]:
        """What a batch is asked for that is answered by arrays; None where a message of each world is needed."""
        return stack_request(self.observe, self.pairs) if self._recorded is None else None

    @property
    def observe(self) -> Observe:
        """What a step is asked for."""
        least = Observe(twists=True, contact_wrenches=True, contact_counts=True, solver_report=self._timed, state_digest=True,
                        cage_positions=bool(self.cages), bodies=self.bodies)
        if self._recorded is None:
            return least
        groups = {one.name: True for one in dataclasses.fields(Observe) if getattr(least, one.name) is True}
        return dataclasses.replace(self._recorded, **groups)

    def read(self, worlds: np.ndarray, answer: service_pb2.StepBatchResponse) -> BatchAnswer:
        """worlds [k]: of the requests, in their order."""
        if answer.HasField("stacked"):
            return self._read_stacked(worlds, answer.stacked)
        codes = np.fromiter(map(attrgetter("status_code"), answer.responses), dtype=np.int64, count=len(worlds))
        failed = np.flatnonzero(codes)
        errors = {int(worlds[k]): error_from_number(int(codes[k]), answer.responses[k].status_message) for k in failed}
        observations = list(map(attrgetter("observation"), answer.responses))
        if len(failed):
            observations = [observation for observation, code in zip(observations, codes) if code == 0]
        solver_s = None
        if self._timed:
            solver_s = np.fromiter(map(attrgetter("solver_report.wall_time_s"), observations), dtype=np.float64, count=len(observations))
        return BatchAnswer(worlds[codes == 0], self.rows(observations), errors, observations, solver_s)

    def _read_stacked(self, worlds: np.ndarray, message: observation_pb2.StackedObservations) -> BatchAnswer:
        seen = stacked_from_message(message)
        self._check_bodies(seen.bodies)
        assert seen.poses is not None and seen.twists is not None and seen.state_digest is not None
        assert seen.contact_wrenches is not None and seen.contact_counts is not None
        rows = WorldArrays(seen.poses[..., :3], seen.poses[..., 3:], seen.twists, seen.contact_wrenches, seen.contact_counts, seen.time_s,
                           seen.state_digest.astype(object), {name: seen.cage_positions[name] for name in self.cages})
        solver_s = None if seen.solver_reports is None else seen.solver_reports.wall_time_s
        if not seen.errors:
            return BatchAnswer(worlds, rows, {}, solver_s=solver_s)
        stepped = seen.stepped
        errors = {int(worlds[row]): error for row, error in seen.errors.items()}
        return BatchAnswer(worlds[stepped], rows.rows(stepped), errors, solver_s=None if solver_s is None else solver_s[stepped])

    def _check_bodies(self, names: Sequence[str]) -> None:
        if tuple(names) != self._observed:
            raise ValueError(f"the server observed {list(names)}, not {list(self._observed)}")

    def rows(self, observations: Sequence[Any]) -> WorldArrays:
        """Arrays of some worlds' observations (messages)."""
        k, b = len(observations), len(self.bodies)
        rows = WorldArrays.empty(k, b, len(self.pairs))
        if k == 0:
            return rows
        bodies = list(chain.from_iterable(map(attrgetter("bodies"), observations)))
        n = len(self._observed)
        self._check_bodies([body.name for body in bodies[:len(bodies) // k]])
        if self._observed != self.bodies:
            places = [self._observed.index(name) for name in self.bodies]
            bodies = [bodies[world * n + place] for world in range(k) for place in places]
        pose = _table(_POSE, bodies, 7).reshape(k, b, 7)
        rows.position, rows.orientation = pose[..., :3], pose[..., 3:]
        rows.velocity = _table(_TWIST, bodies, 6).reshape(k, b, 6)
        rows.time_s = np.fromiter(map(attrgetter("time_s"), observations), dtype=np.float64, count=k)
        rows.digest[:] = list(map(attrgetter("state_digest"), observations))
        self._read_wrenches(observations, rows)
        self._read_counts(observations, rows)
        for name in self.cages:
            rows.cage[name] = _cages(bodies[self.bodies.index(name)::b])
        return rows

    def _read_wrenches(self, observations: Sequence[Any], rows: WorldArrays) -> None:
        wrenches, world = _flat(map(attrgetter("contact_wrenches"), observations))
        pair = np.array([self._pair.get(names, -1) for names in map(attrgetter("body", "other"), wrenches)], dtype=np.int64)
        wanted = pair >= 0
        rows.wrench[world[wanted], pair[wanted]] = _table(_WRENCH, wrenches, 12).reshape(-1, 4, 3)[wanted]

    def _read_counts(self, observations: Sequence[Any], rows: WorldArrays) -> None:
        counts, world = _flat(map(attrgetter("contact_counts.pairs"), observations))
        names: Iterable[tuple[str, str]] = map(attrgetter("body_a", "body_b"), counts)
        pair = np.array([self._pair_of_count.get(frozenset(name), -1) for name in names], dtype=np.int64)
        wanted = pair >= 0
        rows.contacts[world[wanted], pair[wanted]] = _table(_COUNTS, counts, 2)[wanted]


def _flat(lists: Iterable[Any]) -> tuple[list[Any], np.ndarray]:
    """Elements of lists, and the number of the list that each comes from."""
    lists = list(lists)
    return list(chain.from_iterable(lists)), np.repeat(np.arange(len(lists)), list(map(len, lists)))


def _table(numbers: Any, messages: Sequence[Any], columns: int) -> np.ndarray:
    flat = chain.from_iterable(map(numbers, messages))
    return np.fromiter(flat, dtype=np.float64, count=columns * len(messages)).reshape(-1, columns)


def _cages(bodies: Sequence[Any]) -> np.ndarray:
    first = arrays.to_numpy(bodies[0].cage_positions)
    data = b"".join(map(attrgetter("cage_positions.data"), bodies))
    return np.frombuffer(data, dtype=first.dtype).reshape(len(bodies), *first.shape)
