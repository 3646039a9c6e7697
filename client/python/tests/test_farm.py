"""Statistics, storage and engines of evaluations, without a server."""

import json
import math
import os
import random
import shlex
import sys
import types

import pytest
from awaiting import wait_until

from eipc.farm import Backoff, EvaluationError, Plan, Result, Results
from eipc.farm.cli import Progress
from eipc.farm.engines import engine_named
from eipc.farm.engines.agones import AgonesEngine
from eipc.farm.engines.base import Ended, feeder_of, last_words, submit_all
from eipc.farm.engines.local import LocalEngine
from eipc.farm.evaluation import Evaluation
from eipc.farm.evaluation import evaluate as run_evaluation
from eipc.farm.statistics import mcnemar, mean_interval, wilson
from eipc.farm.worker import NO_SERVER, cases_of


def folder_of(path, episodes=6):
    Plan.make("m", ["eipc/Grasp-v0"], episodes).write(path)
    return Results(path)


def result(case, outcome="success"):
    return Result(case.index, case.scene, case.seed, outcome, build="b", digests=(f"d{case.seed}",))


def test_wilson_is_the_set_of_rates_that_the_score_test_does_not_reject():
    for successes, count in ((0, 10), (3, 10), (81, 263), (10, 10)):
        for rate in wilson(successes, count):
            if 0 < rate < 1:
                assert abs(successes / count - rate) / math.sqrt(rate * (1 - rate) / count) == pytest.approx(1.959964, abs=1e-6)
    assert wilson(0, 10)[0] == 0 and wilson(10, 10)[1] == 1 and wilson(0, 0) == (0, 1)


def test_mcnemar_is_the_binomial_test_of_the_pairs_that_differ():
    assert mcnemar(0, 0) == 1 and mcnemar(5, 5) == 1
    assert mcnemar(0, 6) == pytest.approx(2 / 64) and mcnemar(2, 8) == mcnemar(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)


def test_mean_interval():
    assert mean_interval([1.0, 2.0, 3.0]) == pytest.approx((2, 2 - 1.959964 / math.sqrt(3), 2 + 1.959964 / math.sqrt(3)))
    assert all(map(math.isnan, mean_interval([]))) and mean_interval([4.0]) == (4, 4, 4)


def test_an_episode_has_exactly_one_result(tmp_path):
    results = folder_of(tmp_path)
    case = results.plan.case(2)
    assert results.put(result(case)) and not results.put(result(case, "failure"))
    assert results.get(2) == result(case) and results.finished() == {2}
    results.path(2).rename(results.path(3))
    with pytest.raises(EvaluationError, match="not the result of episode 3"):
        results.get(3)


def test_a_result_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """One synchronization for each, and one of the folder for all."""
    results = folder_of(tmp_path, 3)
    calls, fsync, link = [], os.fsync, os.link
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append(os.readlink(f"/proc/self/fd/{handle}")), fsync(handle)))
    monkeypatch.setattr(os, "link", lambda scratch, path: (calls.append(("link", str(scratch), scratch.read_text())), link(scratch, path)))
    results.put(result(results.plan.case(1)))
    (synced, linked) = calls
    assert linked == ("link", synced, results.path(1).read_text()) and results.get(1).seed == 1
    run_evaluation(tmp_path, Disturbed(results), say=lambda words: None, wait=lambda s: None)
    assert results.finished() == {0, 1, 2} and len(calls) == 3 * 2 + 1 and calls[-1] == str(tmp_path / "episodes")


class Disturbed:
    """An engine whose workers run in poll, and are lost every second time after their first case."""

    name, capacity = "disturbed", 2

    def __init__(self, results, ended=None):
        self.results, self.jobs, self.ended, self.runs = results, 0, ended, []

    def submit(self, folder, cases):
        self.jobs += 1
        return self.jobs, list(cases)

    def poll(self, job):
        if self.ended:
            return self.ended
        number, cases = job
        for case in cases[:1] if number % 2 else cases:
            self.runs.append(case)
            self.results.put(result(self.results.plan.case(case)))
        return Ended(None, "the node was drained") if number % 2 else Ended(0)

    def cancel(self, job):
        pass

    def close(self):
        pass


def test_what_lost_workers_left_is_run_once(tmp_path):
    results = folder_of(tmp_path, 40)
    engine, notes = Disturbed(results), []
    Evaluation(results, engine, say=notes.append, wait=lambda s: None).run()
    assert sorted(engine.runs) == list(range(40)) and results.finished() == set(range(40))
    assert "the node was drained" in notes[0]


def test_workers_that_never_find_a_server_end_the_evaluation(tmp_path):
    results = folder_of(tmp_path)
    with pytest.raises(EvaluationError, match="no worker finds its server"):
        Evaluation(results, Disturbed(results, Ended(NO_SERVER, "gone")), say=lambda words: None, wait=lambda s: None).run()
    assert results.finished() == set()


def test_an_episode_is_not_blamed_for_workers_that_were_lost_before_it(tmp_path):
    results = folder_of(tmp_path, 1)
    losses = []

    class Lost(Disturbed):
        def submit(self, folder, cases):
            losses.append(cases)
            return len(losses), cases

        def poll(self, job):
            if len(losses) > 8:
                results.put(result(results.plan.case(0)))
                return Ended(0)
            return Ended(-9)

    Evaluation(results, Lost(results), say=lambda words: None, wait=lambda s: None).run()
    assert results.get(0).outcome == "success" and len(losses) == 9
    results.path(0).unlink()
    losses.clear()
    notes = []
    blamed = Lost(results)
    blamed.submit = lambda folder, cases: (results.begin(0), losses.append(cases), (1, cases))[2]
    Evaluation(results, blamed, say=notes.append, wait=lambda s: None).run()
    assert len(losses) == 3 and results.get(0).reason.startswith("the worker ended 3 times in this episode: (exit status -9)")
    results.path(0).unlink()
    with pytest.raises(EvaluationError, match="workers end before they begin an episode"):
        endless = Lost(results)
        endless.poll = lambda job: Ended(-9)
        Evaluation(results, endless, say=notes.append, wait=lambda s: None).run()


class Fed:
    """An engine whose workers take more cases: each runs one case in a poll, every one of which takes a second of `clock`; the first
    worker is lost after its third case."""

    name, capacity = "fed", 2

    def __init__(self, results):
        self.results, self.now, self.jobs, self.runs = results, 0.0, [], []

    def clock(self):
        return self.now

    def submit(self, folder, cases, more):
        assert more
        self.jobs.append(types.SimpleNamespace(number=len(self.jobs), todo=list(cases), given=list(cases), open=True))
        return self.jobs[-1]

    def feed(self, job, cases):
        assert job.open and not job.todo, "while it has work for long it is given no more"
        job.open = bool(cases)
        job.todo += cases
        job.given += cases

    def poll(self, job):
        self.now += 1
        if job.todo:
            case = job.todo.pop(0)
            if job.number == 0 and self.runs.count(0) == 3:
                self.results.begin(case)
                return Ended(-9)
            self.runs.append(job.number)
            assert self.results.put(result(self.results.plan.case(case))), f"episode {case} is run twice"
        return None if job.todo or job.open else Ended(0)

    def cancel(self, job):
        pass


def test_workers_that_take_more_cases_are_started_once(tmp_path):
    results = folder_of(tmp_path, 40)
    engine, notes = Fed(results), []
    Evaluation(results, engine, say=notes.append, clock=engine.clock, wait=lambda s: None).run()
    assert results.finished() == set(range(40)) and len(engine.runs) == 40
    assert len(engine.jobs) == 3 and len(notes) == 1 and "a worker was lost in episode 3" in notes[0]
    assert not any(job.open for job in engine.jobs[1:]), "all that live are told that there is no more"
    assert min(engine.runs.count(1), engine.runs.count(2)) > 15, "they share what there is"


def test_a_worker_is_given_more_before_it_has_nothing_to_do(tmp_path):
    """Short episodes: two are begun and finished between two looks."""
    results = folder_of(tmp_path, 100)

    class Quick(Fed):
        capacity, idle = 1, 0

        def feed(self, job, cases):
            job.open = bool(cases)
            job.todo += cases

        def poll(self, job):
            self.now += 0.2
            self.idle += job.open and len(job.todo) < 2
            for case in [job.todo.pop(0) for _ in range(min(2, len(job.todo)))]:
                self.results.put(result(self.results.plan.case(case)))
            return None if job.todo or job.open else Ended(0)

    engine = Quick(results)
    Evaluation(results, engine, say=lambda words: None, clock=engine.clock, wait=lambda s: None).run()
    assert results.finished() == set(range(100)) and len(engine.jobs) == 1 and engine.idle == 0


def test_a_worker_is_given_so_many_scenes_in_all(tmp_path):
    Plan.make("m", [f"module:scene_{k}" for k in range(100)], 2).write(tmp_path)
    results = Results(tmp_path)
    engine = Fed(results)
    engine.runs = [0] * 4  # none is lost
    Evaluation(results, engine, say=lambda words: None, clock=engine.clock, wait=lambda s: None).run()
    scenes = [{results.plan.case(case).scene for case in job.given} for job in engine.jobs]
    assert results.finished() == set(range(200)) and 16 < max(map(len, scenes)) <= 32 and len(scenes) <= 8


def test_workers_of_several_servers_are_given_no_more():
    """They go on on another server when their own is lost; the worker after them comes back to that."""
    assert feeder_of(LocalEngine(2)) is not None and feeder_of(LocalEngine(1, ["a:1"])) is not None
    assert feeder_of(LocalEngine(2, ["a:1", "b:1"])) is None


def test_a_worker_that_does_not_end_after_its_last_episode_is_given_up(tmp_path):
    """A policy may have left a thread that keeps its process."""
    results = folder_of(tmp_path, 10)

    class Staying(Fed):
        cancelled = ()

        def poll(self, job):
            super().poll(job)
            assert self.now < 1e4, "the evaluation waits for ever"

        def cancel(self, job):
            self.cancelled += (job.number,)

    engine, notes = Staying(results), []
    engine.runs = [0] * 4  # none is lost
    Evaluation(results, engine, say=notes.append, clock=engine.clock, wait=lambda s: None).run()
    assert results.finished() == set(range(10)) and sorted(engine.cancelled) == [0, 1] and notes == []


def test_last_words_are_read_from_the_end_of_a_log(tmp_path):
    """Whatever a policy has printed before."""
    log = tmp_path / "log"
    with open(log, "wb") as file:
        file.truncate(1 << 40)  # more than any memory holds
        file.seek(0, os.SEEK_END)
        file.write("\none\ntwo\nthree\nfour\nfive\nü \n".encode())
    assert last_words(log) == "two | three | four | five | ü"
    log.write_bytes(b"a single one\n")
    assert last_words(log) == "a single one"
    assert last_words(tmp_path / "none") == ""


def test_a_result_that_goes_away_is_made_again(tmp_path):
    results = folder_of(tmp_path, 10)

    class Removing(Fed):
        def poll(self, job):
            ended = super().poll(job)
            if len(self.runs) == 8:
                results.path(0).unlink(missing_ok=True)
            return ended

    engine = Removing(results)
    engine.runs = [0] * 4
    Evaluation(results, engine, say=lambda words: None, clock=engine.clock, wait=lambda s: None).run()
    assert results.finished() == set(range(10)) and len(engine.runs) == 4 + 11


def fake_ray():
    """ray.init, remote, wait, get and cancel, as they are documented; tasks run in get."""
    ray = types.ModuleType("ray")
    ray.calls = []
    ray.is_initialized = lambda: False
    ray.init = lambda address=None: ray.calls.append(("init", address))
    ray.remote = lambda **options: lambda function: types.SimpleNamespace(remote=lambda *arguments: (function, arguments))
    ray.wait = lambda jobs, timeout: (jobs, [])
    ray.get = lambda job: (_ for _ in ()).throw(RuntimeError("node died")) if job == "dead" else job[0](*job[1])
    ray.cancel = lambda job, force: ray.calls.append(("cancel", job, force))
    return ray


def test_ray_runs_the_worker_and_says_why_a_task_died(tmp_path, monkeypatch):
    ray = fake_ray()
    monkeypatch.setitem(sys.modules, "ray", ray)
    engine = engine_named("ray", 3, (), ("ray://head:10001",))
    ended = engine.poll(engine.submit(tmp_path, [0]))  # a folder without a plan: the worker says so
    assert ended.status == 2 and "holds no evaluation" in ended.words
    assert engine.poll("dead") == Ended(None, "Ray: RuntimeError: node died")
    engine.cancel("dead")
    assert ray.calls == [("init", "ray://head:10001"), ("cancel", "dead", True)] and engine.capacity == 3


def test_dask_runs_the_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False) as client:
        from eipc.farm.engines.dask import DaskEngine
        engine = DaskEngine(1, client=client)
        job = engine.submit(tmp_path, [0])
        distributed.wait(job)
        ended = engine.poll(job)
        assert ended.status == 2 and "holds no evaluation" in ended.words


SLURM = {"sbatch": 'cat > "$HERE/script"; echo "$@" > "$HERE/words"; echo "17;cluster"',
         "scontrol": 'cat "$HERE/state"', "scancel": 'echo "$1" > "$HERE/cancelled"'}


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Stand-ins for Slurm's commands that keep their arguments."""
    for name, body in SLURM.items():
        (tmp_path / name).write_text(f"#!/bin/sh\nHERE={tmp_path}\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_slurm_submits_the_worker_and_reads_its_state(slurm):
    engine = engine_named("slurm", 4, (), ("--partition=short",))
    job = engine.submit(slurm, [3, 4])
    assert "eipc.farm.worker" in (slurm / "script").read_text() and "--cases 3,4" in (slurm / "script").read_text()
    assert {"--requeue", "--partition=short"} <= set((slurm / "words").read_text().split())
    for state, ended in (("RUNNING", None), ("REQUEUED", None), ("COMPLETED", Ended(0)), ("NODE_FAIL", Ended(None, "Slurm: NODE_FAIL None"))):
        (slurm / "state").write_text(f"JobId=17 JobState={state} Reason=None ExitCode=0:0 Command=(null)\n")
        assert engine.poll(job) == ended
    (slurm / "state").write_text("JobId=17 JobState=FAILED Reason=RaisedSignal:9(Killed) ExitCode=0:9\n")
    assert engine.poll(job).status == -9
    engine.cancel(job)
    assert (slurm / "cancelled").read_text() == "17\n"


def test_engines_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EvaluationError, match="sbatch is not on PATH"):
        engine_named("slurm", 1)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EvaluationError, match="Ray is not installed"):
        engine_named("ray", 1)
    with pytest.raises(EvaluationError, match="no engine is called 'pbs'"):
        engine_named("pbs", 1)


def test_progress_says_how_much_time_is_left():
    class Out(list):
        isatty = lambda self: True
        write = list.append
        flush = lambda self: None

    out, now = Out(), [0.0]
    progress = Progress(out, clock=lambda: now[0])
    progress(10, 40)
    now[0] = 20.0
    progress(20, 40)
    assert "20 of 40 episodes, 40 s left" in "".join(out)


ALLOCATED = {"state": "Allocated", "gameServerName": "eipc-1", "address": "10.1.2.3", "nodeName": "n",
             "ports": [{"name": "health", "port": 8080}, {"name": "grpc", "port": 7123}]}


@pytest.fixture
def kubectl(tmp_path, monkeypatch):
    """A stand-in that keeps the request and answers with `answer`."""
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\ncat > {tmp_path}/request\necho \"$@\" > {tmp_path}/words\ncat {tmp_path}/answer\n")
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def answer(status):
        (tmp_path / "answer").write_text(json.dumps({"kind": "GameServerAllocation", "status": status}))

    answer({"state": "UnAllocated"})
    return answer


def test_agones_hands_out_a_server_once_one_is_ready(kubectl, tmp_path):
    now = [0.0]
    engine = AgonesEngine(2, ("fleet=arms", "--context=test"), clock=lambda: now[0])
    job = engine.submit(tmp_path, [5])
    request = json.loads((tmp_path / "request").read_text())
    assert request == engine.request() and request["spec"]["selectors"][0]["matchLabels"] == {"agones.dev/fleet": "arms"}
    assert (tmp_path / "words").read_text().split() == ["--context=test", "create", "-f", "-", "-o", "json"]
    assert engine.poll(job) is None and job.worker is None
    kubectl(ALLOCATED)
    now[0] = 60.0
    assert engine.poll(job) is None and job.worker.server == "10.1.2.3:7123"
    ended = wait_until(lambda: engine.poll(job), "the job of the server that was allocated ends")
    assert ended.status == 2 and "holds no evaluation" in ended.words


def test_agones_without_a_server_is_named(kubectl, tmp_path):
    now = [0.0]
    engine = AgonesEngine(1, clock=lambda: now[0])
    job = engine.submit(tmp_path, [0])
    now[0] = 1e4
    assert engine.poll(job) == Ended(NO_SERVER, "Agones gave no server of the fleet eipc: UnAllocated")
    kubectl({"state": "Allocated"})
    with pytest.raises(EvaluationError, match="has not the form of Agones' documentation"):
        engine.submit(tmp_path, [0])
    with pytest.raises(EvaluationError, match="there are fleet=NAME"):
        AgonesEngine(1, ("flee=arms",))


def test_slurm_submits_jobs_together_as_an_array(slurm):
    engine = engine_named("slurm", 4)
    (slurm / "state").write_text("JobId=19 JobState=COMPLETED Reason=None ExitCode=0:0\n")
    jobs = submit_all(engine, slurm, [[3, 4], [5]])
    assert [job.id for job in jobs] == ["17_0", "17_1"] and "--array=0-1" in (slurm / "words").read_text().split()
    words = shlex.split((slurm / "script").read_text().splitlines()[1])
    place = words[words.index("--cases") + 1].replace("$SLURM_ARRAY_TASK_ID", "1")
    assert cases_of(place) == [5] and engine.poll(jobs[1]) == Ended(0)


def test_back_off_doubles_up_to_a_limit_and_draws_below_it():
    backoff = Backoff(0.1, 2.0, random.Random(1))
    longest = [max(backoff.delay(attempt) for _ in range(2000)) for attempt in range(7)]
    assert longest == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0], rel=0.02)
    assert sum(backoff.delay(3) for _ in range(4000)) / 4000 == pytest.approx(0.4, rel=0.05)
