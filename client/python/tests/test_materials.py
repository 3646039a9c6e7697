"""Resets that give bodies other materials, or draw them, within one compiled scene; what carries them on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import numpy as np
import pytest

import eipc
import eipc.aio
from eipc.variation import Range
from puppet_server import BOX_TRIANGLES, box
from server_client import client  # noqa: F401 (fixture)
from test_real_server import CUBE_TETS, DT, GRAVITY, cube_scene

OBSERVE = eipc.Observe(materials=True, state_digest=True, contact_wrenches=True)
SOFT_OR_STIFF = {"cube": eipc.MaterialRange(youngs_modulus=Range(2e4, 2e6, log=True), poissons_ratio=Range(0.1, 0.45),
                                            density=Range(0.5, 2, factor=True), friction_factor=Range(0.5, 1.5))}


def scene_of_materials():
    """The cube, close above its slab, with one in a condensed cage, one of a given mass, and one on a slider beside it."""
    scene = cube_scene(height=0.052)
    for name, y in (("cage", 0.2), ("link", -0.15), ("sliding", 0.12)):
        body = scene.bodies.add(name=name)
        body.pose.position_m.x, body.pose.position_m.y, body.pose.position_m.z = 0.15, y, 0.2
        body.material.youngs_modulus_pa = 1e5
        shape = eipc.mesh_from_arrays(box([0, 0, 0], [0.04, 0.04, 0.04]), BOX_TRIANGLES)
        if name == "cage":
            body.embedded.surface.CopyFrom(shape)
            body.embedded.cage_mesh.CopyFrom(eipc.mesh_from_arrays(box([0, 0, 0], [0.06, 0.06, 0.06]), CUBE_TETS))
            body.embedded.coarse_space = body.embedded.CONDENSED
            body.material.poissons_ratio = 0.3
        else:
            body.affine.surface.CopyFrom(shape)
        if name == "link":
            body.affine.inertia.mass_kg = 0.1
            body.affine.inertia.xx_kg_m2 = body.affine.inertia.yy_kg_m2 = body.affine.inertia.zz_kg_m2 = 1e-4
        else:
            body.material.density_kg_m3 = 800
    scene.bodies[-1].slider.axis.x = 1
    scene.bodies[-1].slider.max_force_n = 5
    return scene


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch_server(server_binary) as server:
        yield server


@pytest.fixture(scope="module")
def scene(server):
    with server.client() as connection:
        yield connection.create_scene(scene_of_materials())


@pytest.fixture
def session(scene):
    with scene.create_session(worlds=2, record=True) as session:
        yield session


def test_the_answer_says_what_was_drawn_and_the_seed_gives_the_same_bits(session):
    drawn = [session.reset(OBSERVE, materials=SOFT_OR_STIFF, seed=seed) for seed in (1, 2, 1)]
    assert drawn[0].state_digest == drawn[2].state_digest != drawn[1].state_digest
    cube = drawn[0].materials["cube"]
    assert list(drawn[0].materials) == ["cube"] and cube == drawn[2].materials["cube"] != drawn[1].materials["cube"]
    assert 2e4 <= cube.youngs_modulus <= 2e6 and 0.1 <= cube.poissons_ratio <= 0.45 and 500 <= cube.density <= 2000
    assert 0.5 <= cube.friction_factor <= 1.5 and cube.friction_factor != 1
    assert session.reset(materials=SOFT_OR_STIFF, seed=1).materials == drawn[0].materials, "a reset says so unasked"
    assert session.step(DT).materials == {} and session.state(OBSERVE).materials == drawn[0].materials
    ends = [session.step(DT, substeps=20, observe=OBSERVE).state_digest for seed in (1, 2, 1)
            if session.reset(materials=SOFT_OR_STIFF, seed=seed)]
    assert ends[0] == ends[2] != ends[1]
    assert session.reset(OBSERVE).materials == {}


def test_one_number_is_given_and_the_others_are_the_scenes(session):
    seen = session.reset(OBSERVE, world=1, materials={"cube": eipc.BodyMaterial(density=3000), "cage": eipc.BodyMaterial(youngs_modulus=3e5)})
    assert seen.materials == {"cube": eipc.BodyMaterial(1e5, 0.3, 3000, 1), "cage": eipc.BodyMaterial(3e5, 0.3, 800, 1)}
    link = session.reset(materials={"link": eipc.BodyMaterial(2e5, friction_factor=0.5)}).materials["link"]
    assert (link.youngs_modulus, link.poissons_ratio, link.friction_factor) == (2e5, None, 0.5)
    assert link.density == pytest.approx(0.1 / 0.04**3, rel=1e-9)  # what the scene gives as its mass, over the volume of its mesh


def test_a_link_of_given_inertia_weighs_by_its_density_too(scene):
    """It falls onto the slab, turning; with half the mass and half the moments it carries half the weight."""
    loads = {}
    for seed, factor in ((None, 1.0), (7, None)):
        with scene.create_session() as session:
            drawn = {"link": eipc.MaterialRange(density=Range(0.4, 0.6, factor=True))} if factor is None else {}
            seen = session.reset(materials=drawn, seed=seed or 0)
            factor = factor or seen.materials["link"].density / (0.1 / 0.04**3)
            assert 0.4 <= factor <= 1
            with session.stream() as stream:
                *_, seen = stream.run({"dt": DT, "observe": OBSERVE} for _ in range(200))
            loads[factor] = seen.contact_force_on("link")[2]
    assert len(loads) == 2
    for factor, load in loads.items():
        assert load == pytest.approx(factor * 0.1 * GRAVITY, rel=1e-2)


def test_a_body_weighs_by_its_density(session):
    session.reset(materials={"cube": eipc.BodyMaterial(youngs_modulus=1e6, density=3000)})
    with session.stream() as stream:
        *_, seen = stream.run({"dt": DT, "observe": OBSERVE} for _ in range(200))
    assert seen.contact_force_on("cube")[2] == pytest.approx(3 * GRAVITY, rel=1e-2)


def test_friction_is_that_of_the_factor(scene):
    """The cube, pushed along the slab, is slowed in proportion to its factor."""
    slowed = []
    for factor in (1.0, 0.5, 0.0):
        with scene.create_session() as session:
            pushed = {"cube": eipc.Placement(linear_velocity=[1, 0, 0])}
            session.reset(placements=pushed, materials={"cube": eipc.BodyMaterial(1e6, friction_factor=factor)})
            end = session.step(DT, substeps=6, observe=eipc.Observe(twists=True))
            slowed.append(1 - end.bodies["cube"].linear_velocity[0])
    assert slowed[2] == pytest.approx(0, abs=1e-6)
    assert slowed[1] == pytest.approx(slowed[0] / 2, rel=0.05) and slowed[0] > 0.1


def test_snapshots_forks_and_recordings_carry_them(session, scene, eipc_binary, tmp_path):
    session.step(DT, world=1)  # another world has materials of its own, and none
    start = session.reset(OBSERVE, materials=SOFT_OR_STIFF, seed=4)
    snapshot = session.snapshot(data=True)
    end = session.step(DT, substeps=25, observe=OBSERVE)
    with session.fork() as fork, scene.create_session() as other:
        assert fork.state(OBSERVE).materials == start.materials
        assert other.step(DT).step == 1
        for source in (snapshot, snapshot.data):
            assert other.restore(source, OBSERVE).materials == start.materials
            assert other.step(DT, substeps=25, observe=OBSERVE).state_digest == end.state_digest
        assert fork.step(DT, observe=OBSERVE).state_digest == session.step(DT, observe=OBSERVE).state_digest
    (tmp_path / "drawn.log").write_bytes(session.recording())
    done = subprocess.run([str(eipc_binary), "verify", str(tmp_path / "drawn.log")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert session.state(OBSERVE).state_digest in done.stdout


@pytest.mark.parametrize("checkpoint_bytes", [4096, 1 << 30])
def test_they_survive_kill_9(server_binary, tmp_path, checkpoint_bytes):
    args = ("--listen=127.0.0.1:0", f"--state-dir={tmp_path}", f"--journal-checkpoint-bytes={checkpoint_bytes}")
    with eipc.launch_server(server_binary, args) as server, server.client() as client:
        session = client.create_scene(scene_of_materials()).create_session()
        session.reset(materials=SOFT_OR_STIFF, seed=4)
        for _ in range(15):
            before = session.step(DT, observe=OBSERVE)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
    with eipc.launch_server(server_binary, args) as server, server.client() as client:
        again, unharmed = client.session(session.name), client.create_scene(scene_of_materials()).create_session()
        assert again.state(OBSERVE).state_digest == before.state_digest and again.state(OBSERVE).materials == before.materials
        unharmed.reset(materials=SOFT_OR_STIFF, seed=4)
        unharmed.step(DT, substeps=15)
        assert again.step(DT, observe=OBSERVE).state_digest == unharmed.step(DT, observe=OBSERVE).state_digest


@pytest.mark.parametrize("materials, message", [
    ({"nobody": eipc.BodyMaterial(1e5)}, r"materials\[0\].body: no body 'nobody'"),
    ({"slab": eipc.BodyMaterial()}, r"materials\[0\].body: 'slab' is static: a reset cannot change its material"),
    ({"cube": eipc.BodyMaterial(-1)}, r"materials\[0\].youngs_modulus_pa: must be > 0, got -1"),
    ({"cube": eipc.BodyMaterial(np.nan)}, r"materials\[0\].youngs_modulus_pa: must be finite"),
    ({"cube": eipc.BodyMaterial(poissons_ratio=0.5)}, r"materials\[0\].poissons_ratio: must be > -1 and < 0.5"),
    ({"cage": eipc.BodyMaterial(poissons_ratio=0.2)}, "condensed or calibrated for its poissons_ratio; name it anew in a scene"),
    ({"cage": eipc.MaterialRange(poissons_ratio=Range(0.2, 0.3))}, r"randomize.materials\[0\].poissons_ratio: 'cage' has a cage"),
    ({"link": eipc.BodyMaterial(density=0)}, r"materials\[0\].density_kg_m3: must be > 0, got 0"),
    ({"link": eipc.BodyMaterial(poissons_ratio=0.2)}, "'link' is of ABD_ORTHOGONALITY, which has no poissons_ratio"),
    ({"sliding": eipc.BodyMaterial(density=500)}, "'sliding' has a slider"),
    ({"cube": eipc.BodyMaterial(friction_factor=-0.1)}, r"materials\[0\].friction_factor: must be in \[0, 1000\], got -0.1"),
    ({"cube": eipc.MaterialRange(friction_factor=Range(1, 2000))}, "friction_factor: what is drawn must be in"),
    ({"cube": eipc.MaterialRange(poissons_ratio=Range(0.5, 2, factor=True))}, "what is drawn must be > -1 and < 0.5, got 0.6 at an end"),
])
def test_what_a_reset_cannot_change_is_named(session, materials, message):
    session.step(DT)
    with pytest.raises(eipc.InvalidArgumentError, match=message):
        session.reset(materials=materials)
    assert session.state().step == 1


def test_a_server_that_would_ignore_them_is_named(server):
    with server.client() as client, client.create_scene(cube_scene()).create_session() as session:
        client._capabilities = frozenset({"step_batch"})
        with pytest.raises(eipc.UnimplementedError, match="lacks the capability reset_materials"):
            session.reset(materials=SOFT_OR_STIFF)
        assert session.reset(materials={}).step == 0
        client._capabilities = frozenset({"reset_materials"})
        with pytest.raises(eipc.UnimplementedError, match="lacks the capability reset_friction"):
            session.reset(materials={"cube": eipc.BodyMaterial(friction_factor=0.5)})
        assert session.reset(materials={"cube": eipc.BodyMaterial(density=500)}).step == 0

    async def use():
        async with eipc.aio.connect(server.address) as client:
            client._capabilities = frozenset({"step_batch"})
            async with await (await client.create_scene(cube_scene())).create_session() as session:
                with pytest.raises(eipc.UnimplementedError, match="lacks the capability reset_materials"):
                    await session.reset(materials=SOFT_OR_STIFF)
                client._capabilities = None
                assert set((await session.reset(materials=SOFT_OR_STIFF)).materials) == {"cube"}

    asyncio.run(asyncio.wait_for(use(), 60))


def test_ranges_of_the_wire_are_checked(client, session):  # noqa: F811
    from eipc.v1 import service_pb2

    def refused(numbers, again=False):
        request = service_pb2.ResetRequest(session=session.name)
        request.randomize.materials.add(body="cube", youngs_modulus_pa=service_pb2.NumberRange(**numbers))
        if again:
            request.materials.add(body="cube")
        with pytest.raises(eipc.InvalidArgumentError) as error:
            client._call(client._stub.Reset, request, None)
        return str(error.value)

    assert "the minimum must not be above the maximum" in refused({"min": 2e5, "max": 1e5})
    assert "youngs_modulus_pa.min: must be > 0 for its logarithm" in refused({"min": 0, "max": 1e5, "logarithmic": True})
    assert "'cube' is named twice" in refused({"min": 1e5, "max": 2e5}, again=True)
