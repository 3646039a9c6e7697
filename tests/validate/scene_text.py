"""Writes scenes (text protos of eipc.v1.Scene) with their meshes into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Sequence

from solids import Mesh, write_mesh

Vector = Sequence[float]
STIFF = {"youngs_modulus_pa": 1e8, "density_kg_m3": 1000.0}  # an affine body that hardly deforms


def _vector(name: str, value: Vector) -> str:
    return f"{name} {{ x: {float(value[0])!r} y: {float(value[1])!r} z: {float(value[2])!r} }}"


def pose(position: Vector, rpy: Vector = (0, 0, 0)) -> str:
    return f"{{ {_vector('position_m', position)} {_vector('rpy_rad', rpy)} }}"


def trajectory(keys: Sequence[tuple[float, Vector, Vector]]) -> str:
    """keys: (time, position, roll-pitch-yaw)."""
    return "trajectory { " + " ".join(f"keyframes {{ time_s: {t!r} pose {pose(p, r)} }}" for t, p, r in keys) + " }"


class SceneText:
    """Gathers bodies and settings; write() puts the scene and its meshes into a folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.gravity: Vector = (0, 0, -9.81)
        self._lines = [f'display_name: "{name}"']
        self._meshes: dict[str, Mesh] = {}

    def _body(self, name: str, kind: str, mesh: Mesh, position: Vector, rpy: Vector, more: Sequence[str], inner: str = "") -> None:
        file = f"{self.name}_{name}.{'obj' if mesh[1].shape[1] == 3 else 'vtk'}"
        self._meshes[file] = mesh
        field = "mesh" if kind in ("full_space", "shell") else "surface"
        self._lines.append(f'bodies {{ name: "{name}" {kind} {{ {field} {{ file: "{file}" }} {inner} }} pose {pose(position, rpy)} '
                           + " ".join(more) + " }")

    def static(self, name: str, mesh: Mesh, position: Vector = (0, 0, 0), rpy: Vector = (0, 0, 0)) -> None:
        self._body(name, "static_body", mesh, position, rpy, [])

    def kinematic(self, name: str, mesh: Mesh, keys: Sequence[tuple[float, Vector, Vector]]) -> None:
        self._body(name, "kinematic", mesh, keys[0][1], keys[0][2], [], trajectory(keys))

    def moving(self, name: str, kind: str, mesh: Mesh, position: Vector = (0, 0, 0), rpy: Vector = (0, 0, 0), *,
               youngs_modulus_pa: float, density_kg_m3: float, poissons_ratio: float = 0.3, model: str = "",
               velocity: Vector = (0, 0, 0), spin: Vector = (0, 0, 0), force: Vector = (0, 0, 0), extra: str = "", material: str = "",
               cage: Optional[Mesh] = None, coarse: str = "") -> None:
        """kind: affine, full_space or embedded (in `cage`, else in one of 20 vertices unless `coarse`, more fields of it, says otherwise).
        material: more fields of it."""
        fields = f"material {{ density_kg_m3: {density_kg_m3!r} youngs_modulus_pa: {youngs_modulus_pa!r} "
        stiff = kind == "affine" and not model
        fields += f"poissons_ratio: {0.0 if stiff else poissons_ratio!r} {f'model: {model}' if model else ''} {material} }}"
        motion = [_vector("linear_velocity_m_s", velocity), _vector("angular_velocity_rad_s", spin), _vector("external_force_n", force)]
        self._body(name, kind, mesh, position, rpy, [fields, *motion, extra], self._cage(name, cage, coarse) if kind == "embedded" else "")

    def shell(self, name: str, mesh: Mesh, position: Vector = (0, 0, 0), rpy: Vector = (0, 0, 0), *, fields: str, material: str = "",
              extra: str = "", rest: Optional[Mesh] = None) -> None:
        """fields: of ShellBody; material: of Material; rest: the shape without stress."""
        inner = fields
        if rest is not None:
            file = f"{self.name}_{name}_rest.obj"
            self._meshes[file] = rest
            inner += f' rest_mesh {{ file: "{file}" }}'
        self._body(name, "shell", mesh, position, rpy, [f"material {{ {material} }}", extra], inner)

    def _cage(self, name: str, cage: Optional[Mesh], coarse: str) -> str:
        if cage is None:
            return coarse or "cage_vertices: 20"
        file = f"{self.name}_{name}_cage.vtk"
        self._meshes[file] = cage
        return f'cage_mesh {{ file: "{file}" }} {coarse}'

    def contact(self, friction: float = 0.0, dhat: float = 1e-3, eps_v: float = 1e-3, more: str = "") -> None:
        self._lines.append(f"contact {{ dhat_m: {dhat!r} friction_coefficient: {friction!r} friction_velocity_m_s: {eps_v!r} {more} }}")

    def line(self, text: str) -> None:
        self._lines.append(text)

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for file, mesh in self._meshes.items():
            write_mesh(folder / file, mesh)
        path = folder / f"{self.name}.textproto"
        path.write_text("\n".join([*self._lines, _vector("gravity_m_s2", self.gravity)]) + "\n")
        return path


def held(name: str, low: Vector, high: Vector, keys: Optional[Sequence[tuple[float, Vector, Vector]]] = None) -> str:
    """A boundary set by a box in the authored frame, for moving(extra=...)."""
    motion = trajectory(keys) if keys else ""
    return f'boundary_sets {{ name: "{name}" box {{ {_vector("min_m", low)} {_vector("max_m", high)} }} {motion} }}'
