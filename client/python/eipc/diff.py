"""Where two recorded episodes part: the first step, and in it the first quantity, in the order of cause and effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Optional

import numpy as np

from .episode import Episode

_PER_BODY = ("position_m", "orientation_wxyz", "linear_velocity_m_s", "angular_velocity_rad_s")
_FRAMES = ("frame_target_position_m", "frame_target_orientation_wxyz", "frame_position_m", "frame_orientation_wxyz", "frame_error_m")
_DRIVES = ("drive_mode", "drive_commanded", "drive_position_m", "drive_velocity_m_s", "drive_effort_n", "drive_saturated", "drive_blocked")
_WRENCHES = ("normal_force_n", "friction_force_n", "normal_moment_nm", "friction_moment_nm")
_RECEIPT = ("receipt_outcome", "receipt_newton_iterations", "receipt_residual_m_s", "receipt_target_error_m", "receipt_min_ccd_fraction",
            "receipt_min_distance_m", "receipt_missed_targets", "receipt_inverted_elements")


@dataclass(frozen=True)
class Difference:
    """step: 0 for the start, n for what the n-th step was asked or gave; time_s: at its end, of the first episode. field: such as
    "cage of 'teddy'". at: the index of the first element that differs, words where it has a name. first, second: its values.
    largest: the largest difference within the field at this step, 0 where it has no size. also: other fields that differ at this
    step."""

    step: int
    time_s: float
    field: str
    at: str
    first: str
    second: str
    largest: float
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        size = f" (largest difference {self.largest:.3g})" if self.largest else ""
        also = f"; also {_listed(self.also)}" if self.also else ""
        return f"step {self.step} ({self.time_s:.6g} s): {self.field}{self.at} is {self.first} and {self.second}{size}{also}"


@dataclass(frozen=True)
class _Field:
    """One quantity of both episodes: rows [n,...] from step `from_step` on."""

    name: str
    first: np.ndarray
    second: np.ndarray
    from_step: int
    columns: tuple[str, ...] = ()


def first_difference(first: Episode, second: Episode, tolerance: float = 0.0) -> Optional[Difference]:
    """None when they are the same in all that both hold: what was asked, the states, forces and receipts.

    tolerance: in the unit of each quantity, up to which numbers are equal; 0: bit for bit but for the sign of zeros. Seeds, tasks
    and builds are no part of a run and not compared; the number of steps is.
    """
    found: list[Difference] = []
    for field in _fields(first, second, tolerance == 0):
        difference = _in_field(field, first, tolerance)
        if difference is not None:
            found.append(difference)
    if not found:
        return _length(first, second)
    step = min(difference.step for difference in found)
    here = [difference for difference in found if difference.step == step]
    one = here[0]
    also = tuple(other.field for other in here[1:])
    return Difference(one.step, one.time_s, one.field, one.at, one.first, one.second, one.largest, also)


def _length(first: Episode, second: Episode) -> Optional[Difference]:
    if first.steps == second.steps:
        return None
    shared = min(first.steps, second.steps)
    longer = first if first.steps > second.steps else second
    return Difference(shared + 1, float(longer["time_s"][shared + 1]), "the number of steps", "", str(first.steps), str(second.steps), 0.0)


def _fields(first: Episode, second: Episode, exact: bool) -> Iterator[_Field]:
    """Causes before effects, so that the first of a step says most."""
    yield _Field("the scene", np.array([first.scene_name]), np.array([second.scene_name]), 0)
    names = tuple(first.action_names) if first.action_names == second.action_names else ()
    yield _Field("the action", first["action"], second["action"], 1, names)
    for name in ("time_s", *_FRAMES[:2]):
        yield _plain(first, second, name, "frame_names" if name in _FRAMES else None)
    for body in first.bodies:
        if body in second.bodies:
            yield _Field(f"the cage of '{body}'", first.cage(body), second.cage(body), 0)
    for name in _PER_BODY:
        yield _plain(first, second, name, "body_names")
    for name in _FRAMES[2:]:
        yield _plain(first, second, name, "frame_names")
    for name in _DRIVES:
        yield _plain(first, second, name, "drive_names")
    # Contacts and forces at the start are of what came before the episode, and none after a world was put back there.
    yield _Field("the contacts", first["contacts"][1:], second["contacts"][1:], 1)
    for name in _WRENCHES:
        yield _by_pair(first, second, name)
    for name in _RECEIPT:
        yield _Field(_words(name), first[name], second[name], 1)
    if exact:
        yield _plain(first, second, "state_digest")
    yield _Field("the reward", first["reward"], second["reward"], 1)
    yield _Field("the end of the task (done)", first["done"], second["done"], 1)


def _plain(first: Episode, second: Episode, name: str, columns: Optional[str] = None) -> _Field:
    labels: tuple[str, ...] = ()
    if columns is not None and first[columns].tolist() == second[columns].tolist():
        labels = tuple(_label(one) for one in first[columns].tolist())
    return _Field(_words(name), first[name], second[name], 0, labels)


def _by_pair(first: Episode, second: Episode, name: str) -> _Field:
    """Forces of the pairs that touched in either run; a pair that did not touch has none."""
    pairs = sorted({tuple(pair) for episode in (first, second) for pair in episode["wrench_pairs"].tolist()})

    def spread(episode: Episode) -> np.ndarray:
        out = np.zeros((episode.steps + 1, len(pairs), 3))
        for column, pair in enumerate(episode["wrench_pairs"].tolist()):
            out[:, pairs.index(tuple(pair))] = episode[name][:, column]
        return out[1:]

    return _Field(_words(name), spread(first), spread(second), 1, tuple(_label(list(pair)) for pair in pairs))


def _in_field(field: _Field, first: Episode, tolerance: float) -> Optional[Difference]:
    """The first row in which the two differ."""
    if field.first.shape[1:] != field.second.shape[1:]:
        one, other = (f"of shape {list(rows.shape[1:])}" for rows in (field.first, field.second))
        return Difference(field.from_step, float(first["time_s"][0]), field.name, "", one, other, 0.0)
    rows = min(len(field.first), len(field.second))
    a, b = field.first[:rows], field.second[:rows]
    unequal = _unequal(a, b, tolerance)
    wrong = np.flatnonzero(unequal.reshape(rows, -1).any(axis=1))
    if len(wrong) == 0:
        return None
    row = int(wrong[0])
    index = tuple(int(i) for i in np.argwhere(unequal[row])[0]) if unequal.ndim > 1 else ()
    step = row + field.from_step
    largest = float(np.max(np.abs(a[row].astype(float) - b[row].astype(float)))) if a.dtype.kind == "f" else 0.0
    return Difference(step, float(first["time_s"][step]), field.name, _place(field, index), _value(a[(row, *index)]),
                      _value(b[(row, *index)]), largest if np.isfinite(largest) else 0.0)


def _unequal(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    if a.dtype.kind != "f" or tolerance == 0:
        return np.asarray((a != b) & ~_both_nan(a, b))
    with np.errstate(invalid="ignore"):
        return np.asarray((a != b) & ~(np.abs(a - b) <= tolerance) & ~_both_nan(a, b))


def _both_nan(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else np.zeros(a.shape, dtype=bool)


def _place(field: _Field, index: tuple[int, ...]) -> str:
    if not index:
        return ""
    if field.columns:
        rest = f" {list(index[1:])}" if len(index) > 1 else ""
        return f" of {field.columns[index[0]]}{rest}"
    return f" {list(index)}"


def _value(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def _label(name: object) -> str:
    return "/".join(part for part in name if part) if isinstance(name, list) else str(name)


def _words(name: str) -> str:
    """"linear_velocity_m_s" in words, without the unit."""
    words = name.removeprefix("receipt_")
    for unit in ("_rad_s", "_m_s", "_wxyz", "_nm", "_m", "_n", "_s"):
        if words.endswith(unit):
            words = words[:-len(unit)]
            break
    return "the " + words.replace("_", " ")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
