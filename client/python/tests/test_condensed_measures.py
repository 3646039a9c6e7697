"""What the study of coarse spaces compares: deflection and contact area do not depend on where the vertices of a surface are dense."""

import importlib

import numpy as np
import pytest

from conftest import REPOSITORY


@pytest.fixture(autouse=True)
def paths(monkeypatch):
    for folder in ("validate", "support"):
        monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / folder))


def _sheet(lines):
    """A rectangle from 0 to 1 in x and y with these lines along x."""
    vertices = np.array([[x, y, 0.0] for y in (0.0, 1.0) for x in lines])
    n = len(lines)
    return vertices, np.array([t for i in range(n - 1) for t in ((i, i + 1, n + i + 1), (i, n + i + 1, n + i))])


def test_deflection_is_by_area_and_free_of_rigid_motions():
    measures = importlib.import_module("condensed_measures")
    found = {}
    for name, lines in {"even": np.linspace(0, 1, 41), "dense at one end": np.concatenate([np.linspace(0, 0.1, 60), np.linspace(0.1, 1, 40)[1:]])}.items():
        vertices, triangles = _sheet(lines)
        areas = measures.vertex_areas(vertices, triangles)
        assert areas.sum() == pytest.approx(1)
        turn = np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1.0]])
        assert measures.mean_square_root(measures.deflection(vertices @ turn.T + [1, 2, 3], vertices, areas), areas) < 1e-14
        bent = vertices + np.column_stack([np.zeros((len(vertices), 2)), 0.01 * np.sin(2 * np.pi * vertices[:, 0])])
        found[name] = measures.mean_square_root(measures.deflection(bent, vertices, areas), areas)
    assert found["dense at one end"] == pytest.approx(found["even"], rel=2e-3)


@pytest.mark.parametrize("level", [2, 3])
def test_contact_area_of_a_ball_on_a_plate(level):
    measures, solids = importlib.import_module("condensed_measures"), importlib.import_module("solids")
    ball, (plate, cells) = solids.geodesic(level), solids.box(0.2, 3, 3)
    plate = plate + [1.1, 0, 0]
    caps = np.array([2 * np.pi * 0.2, 2 * np.pi * 0.3])
    assert measures.contact_areas(ball, [(plate, cells)], (0.2, 0.3)) == pytest.approx(caps, rel=0.1)
    assert measures.contact_areas(ball, [(plate, cells), (plate - [2.2, 0, 0], cells)], (0.2, 0.3)) == pytest.approx(2 * caps, rel=0.1)
    assert measures.contact_areas(ball, [(plate + [0.3, 0, 0], cells)], (0.2,)) == (0,)
    edge = (np.array([[1.02, 0, 0], [1.02, 0, 0.01], [1.02, 0.01, 0]]), np.array([[0, 1, 2]]))  # hardly more than a point
    assert measures.contact_areas(ball, [edge], (0.2,)) == pytest.approx([np.pi * (0.2**2 - 0.02**2) / 1.02], rel=0.1)


def test_the_study_judges_force_deflection_and_area_and_cages_of_many_vertices(tmp_path, monkeypatch):
    study, meshes, solids = (importlib.import_module(name) for name in ("study_condensed", "refined_meshes", "solids"))
    block = solids.tet_grid(0.1, 0.06, 0.04, (4, 3, 3))
    monkeypatch.setattr(study, "objects", lambda data: {"block": block})
    monkeypatch.setattr(importlib.import_module("condensed_measures"), "CUTS", 2)
    monkeypatch.setattr(importlib.import_module("condensed_objects"), "PAD_CELL_M", 0.03)
    monkeypatch.setattr(study, "CUT_ONCE_MORE", (("block", study.LOADS[0]), ("not there", study.LOADS[0])))
    force = {"full": 10.0, "plain": 14.0, "calibrated": 9.0, "condensed": 10.7}
    thickness = {"full": 0.9, "plain": 0.91, "calibrated": 0.9, "condensed": 0.893}

    def made(context, runs):
        results = []
        for run in runs:
            words = run.name.split(", ")
            load_name, (space, _, vertices, pads) = ", ".join(words[1:-4]), words[-4:]
            load = next(load for load in (*study.LOADS, study.PLATES) if load.name == load_name)
            turned = study.turned_to_x(block, load.axis)
            surface, side = meshes.boundary(turned)[0], np.ptp(turned[0], axis=0)
            pad = study.pad_mesh(side, load, int(pads.split()[-1]))
            pad_surface = meshes.boundary(pad)[0] if load.pad else pad[0]
            pressed = surface * [thickness[space], 1, 1]
            away = thickness["full"] * side[0] / 2 + np.ptp(pad[0][:, 0]) / 2
            bodies = np.concatenate([pressed, pad_surface - [away, 0, 0], pad_surface + [away, 0, 0]])
            normal = {"normal_n": [force[space] + 0.3 * (pads == "pads 2") if vertices == "34" else 10.1, 0, 0]}
            results.append({"measured": bodies.tolist(), "contact_forces": {"object/left": normal, "object/right": normal}, "inverted_elements": {"most": 0},
                            "newton_iterations": {"mean": 4.0}})
        return results

    monkeypatch.setattr(study, "run_scenes", made)

    class Context:
        figures, data = tmp_path, None

    records = {record.name: record for record in study.run(Context())}
    assert records["condensed.force_median"].value == pytest.approx(0.07) and not records["condensed.force_median"].passed
    assert records["condensed.force_worst"].passed and records["plain.force_worst"].passed  # of the plain space nothing is asked
    assert records["condensed.deflection_median"].value == pytest.approx(0.07, abs=1e-6) and not records["condensed.deflection_median"].passed
    assert records["condensed.area_worst"].value == pytest.approx(0, abs=1e-3) and records["condensed.area_worst"].passed
    assert records["condensed.200.force_median"].value == pytest.approx(0.01) and records["condensed.200.force_median"].passed
    assert records["condensed.loads_where_it_is_closer_than_plain"].passed
    pads = {name: record for name, record in records.items() if name.startswith("pads_cut_once_more.")}
    assert [record.value for record in pads.values()] == pytest.approx([0.03, 0.3 / 10.7, 0.07 - 0.7 / 10.3])
    assert [record.passed for record in pads.values()] == [False, False, True]  # the last is of the error, which is only reported
    assert "| block | wide pads | 10.00 |" in (tmp_path / "condensed.md").read_text()
