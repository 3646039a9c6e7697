"""Scenes with drawn numbers: bounds, seeds, what is recorded, and paths that lead nowhere."""

import numpy as np
import pytest

from eipc.variation import Range, drawn_values, vary

SCENE = """
description: "a cube"
bodies { name: "cube" full_space { mesh { file: "cube.mesh" } } material { density_kg_m3: 500 youngs_modulus_pa: 1e5 } }
bodies { name: "floor" static_body { surface { file: "cube.mesh" scale: 2 } } }
contact { friction_coefficient: 0.5 }
contact_pairs { body_a: "cube" body_b: "floor" }
"""
RANGES = {
    "bodies[cube].material.youngs_modulus_pa": Range(1e4, 1e6, log=True),
    "bodies[0].material.density_kg_m3": Range(0.5, 2, factor=True),
    "bodies[cube].full_space.mesh.scale": Range(0.9, 1.1, factor=True),
    "contact.friction_coefficient": Range(0.3, 0.9),
    "contact_pairs[0].friction_coefficient": Range(0.1, 0.2),
    "gravity_m_s2.z": Range(-9.9, -9.7),
}


def draw(seed, ranges=None):
    return vary(SCENE, ranges or RANGES, seed, inline_meshes=False)


def test_numbers_lie_in_their_ranges_and_spread_over_them():
    drawn = [draw(seed) for seed in range(400)]
    for path, bounds in RANGES.items():
        values = np.array([one.values[path] for one in drawn])
        scale = {"bodies[0].material.density_kg_m3": 500}.get(path, 1) if bounds.factor else 1
        low, high = bounds.low * scale, bounds.high * scale
        assert low <= values.min() < low + 0.05 * (high - low) and high >= values.max() > high - 0.05 * (high - low), path
        shares = (np.log(values / low) / np.log(high / low)) if bounds.log else (values - low) / (high - low)
        assert abs(shares.mean() - 0.5) < 0.06 and abs(shares.var() - 1 / 12) < 0.015, path  # four standard errors
    assert np.abs(np.corrcoef(np.array([list(one.values.values()) for one in drawn]).T) - np.eye(len(RANGES))).max() < 0.2


def test_the_scene_has_what_was_drawn_and_says_so():
    one = draw(3)
    cube = one.scene.bodies[0]
    assert cube.material.youngs_modulus_pa == one.values["bodies[cube].material.youngs_modulus_pa"]
    assert cube.full_space.mesh.scale == one.values["bodies[cube].full_space.mesh.scale"]
    assert one.scene.gravity_m_s2.z == one.values["gravity_m_s2.z"]
    assert one.scene.description.startswith("a cube\n") and drawn_values(one.scene) == one.values
    assert one.scene.bodies[1].static_body.surface.scale == 2
    assert drawn_values(vary(SCENE, {}, 1, inline_meshes=False).scene) == {}


def test_a_scene_that_is_varied_again_says_all_that_was_drawn():
    first = draw(3, {"contact.friction_coefficient": Range(0.3, 0.9)})
    again = vary(first.scene, {"bodies[cube].material.youngs_modulus_pa": Range(1e4, 1e6)}, 4, inline_meshes=False)
    assert drawn_values(again.scene) == {**first.values, **again.values} and len(first.values) == len(again.values) == 1
    again.scene.description += "\ndrawn: by hand\ndrawn: [1]\ndrawn: {\"values\": 3}"
    assert drawn_values(again.scene) == {**first.values, **again.values}


@pytest.mark.parametrize("path", ["gravity_m_s2.z", "contact.friction_velocity_m_s", "bodies[cube].material.rayleigh_beta_s"])
def test_a_factor_needs_a_number_of_the_scene(path):
    """What a scene leaves out has a default that is not 0, and 0 times anything is 0: nothing would be drawn, or gravity be off."""
    with pytest.raises(ValueError, match="which a factor does not change"):
        draw(1, {path: Range(0.5, 2, factor=True)})
    assert draw(1, {path: Range(0.5, 2)}).values[path] >= 0.5


def test_seeds_are_integers():
    assert draw(np.int64(3)).values == draw(3).values and draw(np.int64(3)).scene == draw(3).scene
    with pytest.raises(TypeError):
        draw(3.0)


def test_the_same_seed_gives_the_same_scene_whatever_else_is_drawn():
    assert draw(5).scene == draw(5).scene and draw(5).values != draw(6).values
    alone = draw(5, {"contact.friction_coefficient": RANGES["contact.friction_coefficient"]})
    assert alone.values["contact.friction_coefficient"] == draw(5).values["contact.friction_coefficient"]


def test_paths_with_commas_between_them_are_drawn_as_one():
    together = "bodies[cube].full_space.mesh.scale, bodies[floor].static_body.surface.scale"
    one = draw(4, {together: Range(0.9, 1.1, factor=True), "contact.friction_coefficient": RANGES["contact.friction_coefficient"]})
    factor = one.scene.bodies[0].full_space.mesh.scale
    assert 0.9 < factor < 1.1 and factor != 1 and one.scene.bodies[1].static_body.surface.scale == 2 * factor
    assert one.values["bodies[floor].static_body.surface.scale"] == 2 * factor and drawn_values(one.scene) == one.values
    assert one.values["contact.friction_coefficient"] == draw(4).values["contact.friction_coefficient"]
    same = draw(4, {"gravity_m_s2.x,gravity_m_s2.y": Range(-1, 1)}).scene.gravity_m_s2
    assert same.x == same.y != 0
    named = SCENE.replace('"floor"', '"floor, lower"')
    vary(named, {"bodies[floor, lower].static_body.surface.scale": Range(1, 2)}, 1, inline_meshes=False)
    for twice in ("contact.friction_coefficient,contact.friction_coefficient", "contact.friction_coefficient, "):
        with pytest.raises(ValueError, match="is drawn twice|names no number|is no field"):
            draw(1, {twice: Range(0, 1)})


@pytest.mark.parametrize("path, words", [
    ("bodies[cone].material.density_kg_m3", "bodies has no element 'cone'; it has: cube, floor"),
    ("bodies.material.density_kg_m3", r"bodies is a list; write bodies\[INDEX\]"),
    ("bodies[cube].material.stiffness", "Material has no field 'stiffness'; it has: model, density_kg_m3"),
    ("bodies[cube].affine.surface.scale", "affine is not what the scene has there; it has: full_space"),
    ("bodies[cube].material", "is a message, name one of its numbers"),
    ("bodies[cube].name", "'name' is not a single number"),
    ("contact[0].friction_coefficient", "contact is no list"),
    ("contact..friction", "'' is no field"),
    ("", "'' is no field"),
])
def test_a_path_must_lead_to_a_number(path, words):
    with pytest.raises(ValueError, match=words):
        draw(1, {path: Range(0, 1)})


@pytest.mark.parametrize("bounds", [(2, 1), (float("nan"), 1), (0, float("inf"))])
def test_bounds_must_be_in_order(bounds):
    with pytest.raises(ValueError, match="finite bounds in order"):
        Range(*bounds)
    with pytest.raises(ValueError, match="bounds > 0"):
        Range(0, 1, log=True)
