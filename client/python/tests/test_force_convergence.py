"""Meshes cut finer, limits by extrapolation, and what the study of the grasp's forces judges."""

import collections
import importlib
import itertools

import numpy as np
import pytest

from conftest import REPOSITORY


@pytest.fixture(autouse=True)
def paths(monkeypatch):
    for folder in ("validate", "support"):
        monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / folder))


def _volumes(mesh):
    a, b, c, d = (mesh[0][mesh[1][:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6


def test_a_mesh_cut_finer_is_the_same_solid_and_conforms():
    meshes, solids = importlib.import_module("refined_meshes"), importlib.import_module("solids")
    coarse = solids.layered_ball(1, [0.5, 1.0], middle=True)
    for times in (1, 2):
        fine = meshes.refined(coarse, times)
        assert len(fine[1]) == 8**times * len(coarse[1])
        assert _volumes(fine).min() > 0 and _volumes(fine).sum() == pytest.approx(_volumes(coarse).sum(), rel=1e-12)
        np.testing.assert_array_equal(fine[0][:len(coarse[0])], coarse[0])
        faces = collections.Counter(tuple(sorted(face)) for tet in fine[1].tolist() for face in itertools.combinations(tet, 3))
        assert set(faces.values()) == {1, 2}
        vertices, triangles = meshes.boundary(fine)
        corners = vertices[triangles]
        assert len(triangles) == 4**times * len(meshes.boundary(coarse)[1])
        assert np.einsum("ij,ij->", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]) / 6 == pytest.approx(_volumes(coarse).sum(), rel=1e-12)
        assert meshes.mean_edge(fine) < 0.6 * meshes.mean_edge(meshes.refined(coarse, times - 1))


def test_tetrahedra_are_read_as_they_were_written(tmp_path):
    meshes, solids = importlib.import_module("refined_meshes"), importlib.import_module("solids")
    grid = solids.tet_grid(1.0, 0.7, 0.3, (2, 1, 1))
    solids.write_mesh(tmp_path / "grid.vtk", grid)
    vertices, tets = meshes.read_tets(tmp_path / "grid.vtk")
    np.testing.assert_array_equal(vertices, grid[0])
    np.testing.assert_array_equal(tets, grid[1])
    (tmp_path / "triangles.vtk").write_text("POINTS 3 double\n0 0 0\n1 0 0\n0 1 0\nCELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n")
    with pytest.raises(ValueError, match="no tetrahedra"):
        meshes.read_tets(tmp_path / "triangles.vtk")


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_a_limit_is_found_again_with_its_order(order):
    limit = importlib.import_module("limits_of_refinement").limit
    found = limit([10 + 3 * 2 ** (-order * level) for level in range(4)], 2.0)
    assert found.value == pytest.approx(10) and found.order == pytest.approx(order)
    assert found.error == pytest.approx(3 * 2 ** (-3 * order))


def test_a_limit_claims_no_higher_order_than_the_method_and_no_trend_that_is_not_there():
    limit = importlib.import_module("limits_of_refinement").limit
    fast = limit([10 + 3 * 2 ** (-3 * level) for level in range(3)], 1.0)
    assert fast.order == pytest.approx(3) and fast.value == pytest.approx(10 + 3 * (1 / 64) - 3 * (1 / 8 - 1 / 64)) and fast.error == pytest.approx(3 * (1 / 8 - 1 / 64))
    for values in ([1.0, 2.0, 1.5], [1.0, 1.1, 1.3], [1.0, 2.0, 2.0]):
        assert limit(values, 2.0) == importlib.import_module("limits_of_refinement").Limit(values[-1], max(abs(b - a) for a, b in zip(values, values[1:])), None)
    assert limit([1.0, 1.5], 2.0) == importlib.import_module("limits_of_refinement").Limit(1.5, 0.5, None)
    with pytest.raises(ValueError):
        limit([1.0], 2.0)


def _result(scale, runs, dt_s=0.02, held=1.0):
    """A made run: a hill of force, `held` times as much while holding."""
    times = dt_s * np.arange(1, round(runs.DURATION_S / dt_s) + 1)
    force = scale * 40 * np.clip(np.minimum(times / 1.5, (runs.DURATION_S - times) / 0.6), 0, 1) * np.where((times > 3 + 1e-9) & (times < 4 + 1e-9), held, 1)
    return {"time_s": times.tolist(), "force_n": force.tolist(), "states_audited": len(times), "intersections": 0, "inverted": 0, "most_inverted": 0,
            "not_converged": 0}


def test_errors_are_of_the_phase_and_relative_to_the_peak_compared_with():
    runs = importlib.import_module("force_runs")
    fine, coarse = runs.curve_of(_result(1.0, runs)), runs.curve_of(_result(1.0, runs, dt_s=0.01, held=1.1))
    assert fine.phase("squeeze") == pytest.approx(40 * 1.48 / 1.5) and fine.phase("hold") == pytest.approx(40) and coarse.phase("hold") == pytest.approx(44)
    assert [coarse.largest_error(fine, phase) for phase in runs.PHASES] == pytest.approx([0, 0, 0.1, 0], abs=1e-12)
    assert fine.largest_error(coarse, "hold") == pytest.approx(0.1 / 1.1)
    with pytest.raises(ValueError, match="does not divide"):
        runs.curve_of(_result(1.0, runs, dt_s=0.03))


def test_the_study_judges_cages_by_full_space_and_full_space_by_the_finest(tmp_path, monkeypatch):
    study, runs = importlib.import_module("study_force_convergence"), importlib.import_module("force_runs")
    held = {study.LOW: 1.06, study.FULL: 1.0, study.FINEST: 0.97}
    monkeypatch.setattr(study, "grasp_force", lambda context, one: _result(1.0, runs, one.dt_s, held.get(one.name, 1.0)))
    monkeypatch.setattr(study, "edges_of", lambda one: (0.01, 0.02))

    class Context:
        figures = tmp_path
        each = staticmethod(lambda calls, names: [call() for call in calls])

    records = {record.name: record for record in study.run(Context())}
    failed = [name for name, record in records.items() if not record.passed]
    assert failed == ["34 vertices against full space.hold_error", "full space against both refined twice.hold_error"]
    assert records[failed[0]].value == pytest.approx(0.06) and records[failed[1]].value == pytest.approx(0.03)
    page = (tmp_path / "force_convergence.md").read_text()
    assert "| hold | 40.0 ± 0.0 | 40.0 (+0 %) | 40.0 (+0 %) | 42.4 (+6 %) | 40.0 (+0 %) | 38.8 ± 1.2 |" in page and (tmp_path / "force_convergence_mesh.png").stat().st_size > 10000
