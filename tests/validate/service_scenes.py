"""Scenes that a server has to bear: as many unknowns, as fine a surface and as many bodies as its figures are promised for."""

from __future__ import annotations

from pathlib import Path

from scene_text import STIFF, SceneText
from solids import box, geodesic, tet_grid

SOFT = {"youngs_modulus_pa": 5e4, "density_kg_m3": 1000.0, "poissons_ratio": 0.4}
# Millimetres above what is below: contact begins within a few steps.
GAP = 0.002


def pile(folder: Path, linear_solver: str = "AUTO", equilibrium: bool = False) -> Path:
    """Two soft blocks of 1,000 nodes each, 6,000 unknowns: one on a slab, the other turned and on top of it. equilibrium: at rest."""
    scene = SceneText("pile" if linear_solver == "AUTO" else f"pile_{linear_solver.lower()}")
    scene.line(f"start_in_equilibrium: {str(equilibrium).lower()}")
    scene.line(f"solver {{ linear_solver: {linear_solver} }}")
    block = tet_grid(0.1, 0.1, 0.1, (9, 9, 9))
    scene.moving("lower", "full_space", block, (0, 0, 0.05 + GAP), **SOFT)
    scene.moving("upper", "full_space", block, (0.02, 0.01, 0.15 + 2 * GAP), (0, 0, 0.3), velocity=(0, 0, -1), **SOFT)
    return _on_a_slab(scene, folder)


def fine_surface(folder: Path, level: int = 5) -> Path:
    """Two balls of 20,480 triangles each, edges of 1.7 mm, in cages of 27 vertices, thrown on a slab and one another. level: each more
    has four times the triangles."""
    scene = SceneText("fine_surface" if level == 5 else f"fine_surface_{level}")
    sphere, triangles = geodesic(level)
    for name, x, z in (("lower", 0.0, 0.05 + GAP), ("upper", 0.03, 0.145 + 2 * GAP)):
        scene.moving(name, "embedded", (0.05 * sphere, triangles), (x, 0, z), velocity=(0, 0, -1), spin=(3, 5, 0),
                     cage=tet_grid(0.11, 0.11, 0.11, (2, 2, 2)), **SOFT)
    return _on_a_slab(scene, folder, dhat=2.5e-4)


def sliders(folder: Path, linear_solver: str) -> Path:
    """Four soft blocks of 512 vertices, 256 of which slide together."""
    scene = SceneText(f"sliders_{linear_solver.lower()}")
    scene.line(f"solver {{ linear_solver: {linear_solver} }}")
    drive = "slider { axis { x: 1 } max_force_n: 1 damping_n_s_m: 1 motion { mode: FORCE keys { value: 0.5 } } }"
    held = "boundary_sets { name: 'held' " + " ".join(f"vertices: {v}" for v in range(256)) + f" {drive} }}"
    for i in range(4):
        scene.moving(f"block{i}", "full_space", tet_grid(0.1, 0.1, 0.1, (7, 7, 7)), (0.2 * i, 0, 0.1), extra=held, **SOFT)
    return _on_a_slab(scene, folder)


def affine_bin(folder: Path) -> Path:
    """64 affine boxes, four by four by four, that fall on a slab."""
    scene = SceneText("affine_bin")
    for i in range(64):
        x, y, z = i % 4, i // 4 % 4, i // 16
        scene.moving(f"box{i}", "affine", box(0.02, 0.02, 0.02), (0.03 * x, 0.03 * y, 0.01 + GAP + 0.025 * z), (0, 0, 0.2 * z), **STIFF)
    return _on_a_slab(scene, folder)


def _on_a_slab(scene: SceneText, folder: Path, dhat: float = 1e-3) -> Path:
    scene.static("slab", box(2, 2, 0.1), (0, 0, -0.05))
    scene.contact(friction=0.5, dhat=dhat)
    return scene.write(folder)
