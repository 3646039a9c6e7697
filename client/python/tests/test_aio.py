"""The client for asyncio, against a real server and against one that is not there."""

import asyncio

import numpy as np
import pytest

import eipc
import eipc.aio
from test_real_server import cube_scene

DT = 0.01


@pytest.fixture(scope="module")
def server(server_binary):
    with eipc.launch(server_binary) as server:
        yield server


def run(what):
    return asyncio.run(asyncio.wait_for(what, 60))


def test_every_call_does_what_the_other_client_does(server):
    async def use():
        async with eipc.aio.connect(server.address) as client:
            assert repr(client) == f"AsyncClient({server.address})"
            scene = await client.create_scene(cube_scene())
            assert (await client.get_scene(scene.name)).message == scene.message and (await client.server_info()).build
            topology = await scene.topology()
            assert set(topology) == set(scene.bodies) and scene.name in repr(scene)
            async with await scene.create_session(worlds=2, record=True) as session:
                seen = [await session.step(DT, observe=eipc.Observe(state_digest=True, step_receipt=True)) for _ in range(3)]
                kept = await session.snapshot(data=True)
                stepped = await session.step_batch([{"dt": DT, "world": world} for world in (0, 1)])
                assert [result.observation.step for result in stepped] == [4, 1]
                stacked = await session.step_stacked([{"dt": DT, "world": world} for world in (1, 0)], eipc.Observe(solver_report=False))
                assert stacked.step.tolist() == [2, 5]
                back = await session.restore(kept, eipc.Observe(state_digest=True))
                assert back.state_digest == seen[-1].state_digest and (await session.info()).step == 3
                forked = await session.fork(worlds=2)
                assert forked.worlds == 2 and (await forked.state()).step == 3
                await forked.delete()
                assert (await (await client.session(session.name)).reset()).step == 0
                assert len(await session.recording()) > 100
                return [one.state_digest for one in seen]

    digests = run(use())
    with server.client() as client, client.create_scene(cube_scene()).create_session() as session:
        assert [session.step(DT, observe=eipc.Observe(state_digest=True)).state_digest for _ in range(3)] == digests


def test_many_sessions_step_side_by_side(server):
    async def one(client, scene, steps):
        async with await scene.create_session() as session:
            async def requests():
                for _ in range(steps):
                    yield {"dt": DT, "observe": eipc.Observe(state_digest=True)}
            return [seen.state_digest async for seen in session.run(requests())]

    async def use():
        async with eipc.aio.connect(server.address) as client:
            scene = await client.create_scene(cube_scene())
            return await asyncio.gather(*(one(client, scene, steps) for steps in (5, 8, 8)))

    short, long, same = run(use())
    assert long == same and long[:5] == short and len(set(long)) == 8


def test_errors_are_those_of_the_package(server):
    async def use():
        async with eipc.aio.connect(server.address) as client:
            with pytest.raises(eipc.NotFoundError):
                await client.session("sessions/none")
            scene = await client.create_scene(cube_scene())
            async with await scene.create_session() as session:
                with pytest.raises(eipc.AbortedError):
                    await session.step(DT, expected_step=7)

                async def requests():
                    yield {"dt": DT}
                    yield {"dt": -1.0}
                seen = []
                with pytest.raises(eipc.InvalidArgumentError):
                    async for observation in session.run(requests()):
                        seen.append(observation.step)
                assert seen == [1] and (await session.state()).step == 1
                with pytest.raises(eipc.DeadlineExceededError):
                    await session.step(DT, substeps=100000, timeout=0.05)
    run(use())


def test_nobody_there_is_said():
    with pytest.raises(eipc.UnavailableError, match="no eipc server answers at 127.0.0.1:1 within 0.2 s"):
        run(_connect())


async def _connect():
    await eipc.aio.connect("127.0.0.1:1", timeout=0.2)


def test_a_cancelled_step_leaves_a_whole_state(server):
    async def use():
        async with eipc.aio.connect(server.address) as client:
            async with await (await client.create_scene(cube_scene())).create_session() as session:
                stepping = asyncio.ensure_future(session.step(DT, substeps=100000))
                await asyncio.sleep(0)
                stepping.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await stepping
                seen = await session.step(DT)
                assert np.isfinite(seen.bodies["cube"].pose.position).all()
    run(use())
