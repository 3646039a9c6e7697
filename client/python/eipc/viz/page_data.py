"""The form in which a recording travels to the viewer's page; docs/reference/viewer_recording.md describes it."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ..recorded_scene import RecordedScene
from ..scene_mesh import cage_tets

MAGIC = b"EIPCVIEW"
FORMAT = 1
_ALIGNMENT = 8
_KINDS: dict[str, np.dtype[Any]] = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8"), "i32": np.dtype("<i4"), "u32": np.dtype("<u4")}
_EDGES_OF_A_TET = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])

Arrays = Mapping[str, np.ndarray]


def pack(arrays: Arrays, scene: RecordedScene, title: str, facts: Sequence[tuple[str, str]],
         compared: Optional[Mapping[str, Any]] = None) -> bytes:
    """arrays: as an episode's file has them (docs/reference/episodes.md), of which some may lack; step_wall_s [T], the time of computing
    each step, is shown where it is given. facts: names and values for the reader. compared: of one of two runs, goes into the header."""
    file = _File()
    bodies = [_add_body(file, b, name, arrays, scene) for b, name in enumerate(arrays["body_names"].tolist())]
    samples, pairs = len(arrays["time_s"]), len(arrays["wrench_pairs"])
    file.add("time_s", "f64", arrays["time_s"])
    for name in ("normal_force_n", "friction_force_n", "normal_moment_nm", "friction_moment_nm"):
        file.add(name, "f32", arrays[name].reshape(samples, pairs, 3))
    file.add("position_m", "f32", arrays["position_m"])
    file.add("contacts", "i32", arrays["contacts"])
    file.add("min_distance_m", "f32", arrays["min_distance_m"])
    if "receipt_newton_iterations" in arrays:
        file.add("newton_iterations", "i32", _from_the_start(arrays["receipt_newton_iterations"], 0))
    if "receipt_outcome" in arrays:
        file.add("converged", "i32", _from_the_start(arrays["receipt_outcome"] == 1, 1))
    if "step_wall_s" in arrays:
        file.add("step_wall_s", "f32", _from_the_start(arrays["step_wall_s"], 0))
    _add_touch(file, arrays)
    return file.bytes({"format": FORMAT, "title": title, "facts": [list(fact) for fact in facts], "bodies": bodies,
                       "pairs": arrays["wrench_pairs"].tolist(), **({"compared": dict(compared)} if compared else {})})


def _add_touch(file: "_File", arrays: Arrays) -> None:
    """What page_touch.touch_arrays made, where it is there; stresses are added with the elements that they are of."""
    kinds = {"traction_begin": "u32", "traction_vertices": "u32", "normal_traction_pa": "f32", "friction_traction_pa": "f32", "slip_speed_m_s": "f32"}
    for b in range(len(arrays["body_names"])):
        for name, kind in kinds.items():
            if f"{name}_{b}" in arrays:
                file.add(f"{name}_{b}", kind, arrays[f"{name}_{b}"])
    for name in ("slip_m_s", "sticking"):
        if name in arrays:
            file.add(name, "f32", arrays[name])


def _from_the_start(of_steps: np.ndarray, start: float) -> np.ndarray:
    """Over the samples: the start has no step before it."""
    return np.concatenate([[start], of_steps])


def _add_body(file: "_File", b: int, name: str, arrays: Arrays, scene: RecordedScene) -> dict[str, Any]:
    topology = scene.topology[name]
    file.add(f"triangles_{b}", "u32", topology.triangles)
    kind = scene.bodies[name].kind if name in scene.bodies else ""
    if f"surface_{b}" in arrays:
        file.add(f"cage_{b}", "f32", arrays[f"surface_{b}"])
        return {"name": name, "kind": kind, "map": "points"}
    if name not in scene.embeddings:
        file.add(f"cage_{b}", "f32", topology.positions)
        return {"name": name, "kind": kind, "map": "still"}
    embedding = scene.embeddings[name]
    file.add(f"cage_{b}", "f32", arrays[f"cage_{b}"])
    file.add(f"nodes_{b}", "u32", embedding.nodes)
    file.add(f"weights_{b}", "f32", embedding.weights)
    tets = next((cage_tets(body, scene.message) for body in scene.message.bodies if body.name == name), None)
    if tets is not None:
        file.add(f"edges_{b}", "u32", np.unique(np.sort(tets[:, _EDGES_OF_A_TET].reshape(-1, 2), axis=1), axis=0))
        if f"von_mises_pa_{b}" in arrays:
            file.add(f"elements_{b}", "u32", tets)
            file.add(f"von_mises_pa_{b}", "f32", arrays[f"von_mises_pa_{b}"])
    direct = (embedding.nodes == embedding.nodes[:, :1]).all()
    return {"name": name, "kind": kind, "map": "nodes" if direct else "embedded"}


class _File:
    """A header and arrays while they are put together."""

    def __init__(self) -> None:
        self._headers: dict[str, dict[str, Any]] = {}
        self._data = bytearray()

    def add(self, name: str, kind: str, values: np.ndarray) -> None:
        data = np.ascontiguousarray(values, dtype=_KINDS[kind])
        self._headers[name] = {"kind": kind, "shape": list(data.shape), "offset": len(self._data)}
        self._data += data.tobytes()
        self._data += bytes(-len(self._data) % _ALIGNMENT)

    def bytes(self, header: dict[str, Any]) -> bytes:
        text = json.dumps({**header, "arrays": self._headers}, separators=(",", ":")).encode()
        begin = MAGIC + len(text).to_bytes(4, "little") + text
        return begin + bytes(-len(begin) % _ALIGNMENT) + bytes(self._data)
