"""Resets that place bodies elsewhere, by given amounts or by drawn ones."""

from __future__ import annotations

import numpy as np
import pytest

import eipc
from server_client import client  # noqa: F401 (fixture)
from test_real_server import DT, cube_scene


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch_server(server_binary) as server:
        yield server


@pytest.fixture
def session(client):  # noqa: F811
    with client.create_scene(cube_scene()).create_session(worlds=2, record=True) as session:
        yield session


RANGES = {"cube": eipc.PlacementRange(translation=([-0.05, -0.05, 0], [0.05, 0.05, 0.2]), axis=[0, 0, 1], max_angle=3,
                                      linear_velocity=([0, 0, -1], [0, 0, 0]))}
OBSERVE = eipc.Observe(twists=True, state_digest=True)


def test_a_body_starts_where_it_is_placed(session):
    turned = eipc.Placement([0.01, 0.02, 0.3], [np.cos(0.25), np.sin(0.25), 0, 0], linear_velocity=[1, 0, 0])  # about its centre
    now = session.reset(OBSERVE, world=1, placements={"cube": turned}).bodies["cube"]
    np.testing.assert_allclose(now.pose.position, [0.01, 0.02, 0.5], atol=1e-12)
    np.testing.assert_allclose(now.pose.orientation, [np.cos(0.25), np.sin(0.25), 0, 0], atol=1e-12)
    np.testing.assert_allclose(now.linear_velocity, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(session.state(world=0).bodies["cube"].pose.position, [0, 0, 0.2], atol=1e-12)
    fallen = session.step(DT, world=1, observe=OBSERVE).bodies["cube"]
    np.testing.assert_allclose(fallen.linear_velocity, [1, 0, -9.81 * DT], atol=1e-7)
    np.testing.assert_allclose(session.reset(world=1).bodies["cube"].pose.position, [0, 0, 0.2], atol=1e-12)


def test_the_same_seed_draws_the_same_bits(session):
    digests = [session.reset(OBSERVE, ranges=RANGES, seed=seed).state_digest for seed in (1, 2, 1, 2**64 - 1)]
    assert digests[0] == digests[2] and len(set(digests)) == 3
    drawn = session.reset(OBSERVE, ranges=RANGES, seed=5).bodies["cube"]
    assert (np.abs(drawn.pose.position[:2]) <= 0.05).all() and 0.2 <= drawn.pose.position[2] <= 0.4
    assert -1 <= drawn.linear_velocity[2] <= 0


def test_a_start_that_is_not_free_is_refused_and_changes_nothing(session):
    session.step(DT, substeps=3)
    with pytest.raises(eipc.FailedPreconditionError, match='NO_FREE_START: "cube" intersects "slab"'):
        session.reset(placements={"cube": eipc.Placement([0, 0, -0.2])})
    with pytest.raises(eipc.FailedPreconditionError, match="in the last of 3 draws"):
        session.reset(ranges={"cube": eipc.PlacementRange(translation=([0, 0, -0.2], [0, 0, -0.2]))}, attempts=3)
    assert session.state().step == 3


@pytest.mark.parametrize("options, message", [
    ({"placements": {"slab": eipc.Placement()}}, r"placements\[0\].body: 'slab' is static"),
    ({"placements": {"pusher": eipc.Placement()}}, r"placements\[0\].body: 'pusher' is kinematic"),
    ({"placements": {"nobody": eipc.Placement()}}, r"placements\[0\].body: no body 'nobody'"),
    ({"placements": {"cube": eipc.Placement(rotation=[2, 0, 0, 0])}}, r"placements\[0\].rotation"),
    ({"placements": {"cube": eipc.Placement([np.nan, 0, 0])}}, r"placements\[0\].translation_m.x: must be finite"),
    ({"placements": {"cube": eipc.Placement()}, "ranges": RANGES}, "'cube' is named twice"),
    ({"ranges": {"cube": eipc.PlacementRange(translation=([1, 0, 0], [0, 0, 0]))}}, r"ranges\[0\].translation_min_m"),
    ({"ranges": {"cube": eipc.PlacementRange(max_angle=4)}}, r"ranges\[0\].rotation_max_rad"),
    ({"ranges": {"cube": eipc.PlacementRange(axis=[0, 0, 0], max_angle=1)}}, r"ranges\[0\].rotation_axis"),
    ({"ranges": RANGES, "attempts": -1}, "attempts: must be in"),
])
def test_what_cannot_be_placed_is_named(session, options, message):
    with pytest.raises(eipc.InvalidArgumentError, match=message):
        session.reset(**options)


@pytest.mark.parametrize("make", [lambda: eipc.Placement([0, 0]).to_message("cube"),
                                  lambda: eipc.PlacementRange(translation=[0, 0, 0]).to_message("cube")])
def test_a_wrong_shape_is_named(make):
    with pytest.raises(ValueError, match="translation"):
        make()


def test_placed_starts_are_recorded(session, eipc_binary, tmp_path):
    import subprocess
    session.reset(ranges=RANGES, seed=3)
    session.step(DT, substeps=10)
    (tmp_path / "placed.log").write_bytes(session.recording())
    done = subprocess.run([str(eipc_binary), "verify", str(tmp_path / "placed.log")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
