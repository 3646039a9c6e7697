"""How values are printed in a console: short, with arrays by their shapes."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, TypeVar

import numpy as np

_Class = TypeVar("_Class", bound=type)
_SHORT_ARRAY, _LISTED, _SHORT_REPR = 7, 4, 150


def brief(made: _Class) -> _Class:
    """For dataclasses: a repr in which arrays, bytes and long collections are replaced by their sizes, and what is not there is left
    out."""
    def shown(self: Any) -> str:
        values = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self) if field.repr)
        parts = [f"{name}={in_short(value)}" for name, value in values if not _absent(value)]
        return f"{made.__name__}({', '.join(parts)})"

    setattr(made, "__repr__", shown)
    return made


def in_short(value: Any) -> str:
    """One value, in a few dozen characters."""
    if isinstance(value, np.ndarray):
        if value.size <= _SHORT_ARRAY and value.dtype.kind in "fiub":
            return "[" + ", ".join(_number(element) for element in value.reshape(-1).tolist()) + "]"
        return f"<{'x'.join(map(str, value.shape))} {value.dtype}>"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, Mapping):
        names = ["/".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in value]
        return "{" + _listed(names) + "}"
    if isinstance(value, (list, tuple)) and len(value) > _LISTED:
        return f"<{len(value)} {type(value[0]).__name__}>"
    shown = repr(value)
    return f"<{type(value).__name__}>" if dataclasses.is_dataclass(value) and len(shown) > _SHORT_REPR else shown


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, (Mapping, tuple, list, bytes, str)) and len(value) == 0)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_LISTED]) + (f", ... {len(names)} in all" if len(names) > _LISTED else "")


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
