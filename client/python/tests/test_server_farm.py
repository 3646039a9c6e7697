"""eipc.Farm: against servers with recorded answers, and against real ones that are killed."""

import contextlib
import random

import grpc
import pytest

import eipc
from eipc.farm import Backoff, FarmOptions, OtherBuildError
from eipc.v1 import observation_pb2, service_pb2
from fake_server import FakeServicer, serve
from small_grasp import scene

SCENE = "bodies { name: 'a' }"


class Counting(FakeServicer):
    """States are the number of steps since the start; a snapshot is that number. Refuses as `refusals` says, one after the other."""

    def __init__(self, build="b"):
        super().__init__()
        self.build, self.refusals, self.restored, self.ids = build, [], [], {}
        self.session = True

    def GetServerInfo(self, request, context):
        return service_pb2.ServerInfo(build=self.build)

    def GetSession(self, request, context):
        if not self.session:
            context.abort(grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND: no session")
        return service_pb2.SessionInfo(name=request.session)

    def CreateSession(self, request, context):
        self.session, self.steps = True, 0
        return super().CreateSession(request, context)

    def Step(self, request, context):
        if self.refusals:
            after, code = self.refusals.pop(0)
            if after:
                self._take(request)  # the answer is lost in transit
            context.abort(code, "REFUSED: by the test")
        if not self.session:
            context.abort(grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND: no session")
        return service_pb2.StepResponse(observation=self._take(request))

    def _take(self, request):
        if request.request_id not in self.ids:
            self.steps += 1
            self.ids[request.request_id] = self.steps
        return observation_pb2.Observation(step=self.steps, state_digest=str(self.ids[request.request_id]))

    def Reset(self, request, context):
        self.steps = 0
        return observation_pb2.Observation(state_digest="0")

    def CreateSnapshot(self, request, context):
        return service_pb2.SnapshotInfo(data=str(self.steps).encode())

    def RestoreSession(self, request, context):
        self.steps = int(request.snapshot_data)
        self.restored.append(self.steps)
        return observation_pb2.Observation(step=self.steps)


@pytest.fixture
def farm_of():
    """A farm of servers; waits are kept instead of waited."""
    with contextlib.ExitStack() as stack:
        def make(*servicers, **options):
            addresses = [stack.enter_context(serve(servicer)) for servicer in servicers]
            waits = []
            farm = eipc.Farm(addresses, options=FarmOptions(connect_timeout=2, call_timeout=5, **options),
                             backoff=Backoff(draw=random.Random(0)), wait=waits.append)
            farm.waits, farm.addresses = waits, addresses
            return stack.enter_context(farm)

        yield make


def test_sessions_are_spread_and_stick_by_their_key(farm_of):
    farm = farm_of(Counting(), Counting(), Counting())
    spread = [farm.session(SCENE).address for _ in range(6)]
    assert sorted(spread) == sorted(farm.addresses * 2)
    assert len({farm.session(SCENE, key="robot").address for _ in range(4)}) == 1


def test_a_lost_session_goes_on_elsewhere_from_its_snapshot(farm_of):
    servers = [Counting(), Counting()]
    farm = farm_of(*servers, snapshot_every=5)
    session = farm.session(SCENE)
    first, second = (servers[farm.addresses.index(a)] for a in (session.address, next(a for a in farm.addresses if a != session.address)))
    for _ in range(7):
        session.step(0.01)
    first.session = False
    assert session.step(0.01).state_digest == "8" and session.moves == 1
    assert second.restored == [5] and second.steps == 8
    done = farm.throughput()
    lost = next(t for a, t in done.items() if a != session.address)
    assert lost.lost == 1 and lost.sessions == 0 and done[session.address].sessions == 1
    assert sum(t.steps for t in done.values()) == 7 + 2 + 1 and all(t.steps_per_second > 0 for t in done.values())


def test_a_request_whose_answer_was_lost_is_repeated_and_counts_once(farm_of):
    server = Counting()
    farm = farm_of(server)
    session = farm.session(SCENE)
    server.refusals = [(True, grpc.StatusCode.UNAVAILABLE)]
    assert session.step(0.01).state_digest == "1" and session.moves == 0 and len(farm.waits) == 1
    assert session.step(0.01).state_digest == "2"


def test_a_busy_server_is_asked_again_and_a_wrong_request_is_not(farm_of):
    server = Counting()
    farm = farm_of(server, attempts=4)
    session = farm.session(SCENE)
    server.refusals = [(False, grpc.StatusCode.RESOURCE_EXHAUSTED)] * 3
    assert session.step(0.01).state_digest == "1" and len(farm.waits) == 3
    server.refusals = [(False, grpc.StatusCode.RESOURCE_EXHAUSTED)] * 9
    with pytest.raises(eipc.ResourceExhaustedError):
        session.step(0.01)
    server.refusals = [(False, grpc.StatusCode.INVALID_ARGUMENT)]
    waits = len(farm.waits)
    with pytest.raises(eipc.InvalidArgumentError):
        session.step(0.01)
    assert len(farm.waits) == waits


def test_another_build_is_refused_in_words(farm_of):
    farm = farm_of(Counting("old"), Counting("new"))
    with pytest.raises(OtherBuildError, match="is of build new, and this farm is of build old: their bits differ"):
        farm.check()
    with pytest.raises(OtherBuildError):
        for _ in range(2):
            farm.session(SCENE)


def test_a_state_that_does_not_come_back_is_told(farm_of):
    servers = [Counting(), Counting()]
    farm = farm_of(*servers, snapshot_every=0)
    session = farm.session(SCENE)
    session.step(0.01)
    first = servers[farm.addresses.index(session.address)]
    other = servers[1 - servers.index(first)]
    first.session, other._take = False, lambda request: observation_pb2.Observation(state_digest="another")
    with pytest.raises(eipc.InternalError, match="did not come back to the same state"):
        session.step(0.01)


def test_no_server_at_all(farm_of):
    farm = eipc.Farm(["127.0.0.1:1", "127.0.0.1:2"], options=FarmOptions(attempts=3, connect_timeout=0.05), wait=lambda s: None)
    with pytest.raises(eipc.UnavailableError, match="no server of the farm answers after 3 attempts"):
        farm.session(SCENE)
    with pytest.raises(eipc.UnavailableError, match="none of the servers"):
        farm.check()


@pytest.mark.parametrize("addresses, words", [([], "at least one server"), (["a:1", "a:1"], "given twice")])
def test_servers_that_make_no_farm(addresses, words):
    with pytest.raises(eipc.EipcError, match=words):
        eipc.Farm(addresses)


TARGETS = [{"left": eipc.Pose([0, -0.045 + 0.002 * k, 0.03]), "right": eipc.Pose([0, 0.045 - 0.002 * k, 0.03])} for k in range(12)]


@pytest.mark.parametrize("snapshot_every", [0, 5])
def test_real_servers_that_are_killed_leave_every_state_as_undisturbed(server_binary, snapshot_every):
    with eipc.launch(server_binary) as one, one.client() as client:
        alone = client.create_scene(scene()).create_session()
        expected = [alone.step(0.01, targets, eipc.Observe(state_digest=True)).state_digest for targets in TARGETS]
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(eipc.launch(server_binary)) for _ in range(3)]
        farm = stack.enter_context(eipc.Farm([server.address for server in servers],
                                             options=FarmOptions(connect_timeout=2, snapshot_every=snapshot_every), wait=lambda s: None))
        with farm.session(scene()) as session:
            digests = []
            for k, targets in enumerate(TARGETS):
                if k in (4, 9):
                    victim = next(server for server in servers if server.address == session.address)
                    victim.process.kill()
                    victim.process.wait()
                digests.append(session.step(0.01, targets=targets).state_digest)
            assert session.moves == 2
    assert digests == expected
