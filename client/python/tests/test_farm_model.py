"""The simulation of farms against queueing theory and by hand."""

import importlib
import math
import random

import pytest

from conftest import REPOSITORY


@pytest.fixture(autouse=True)
def model(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / "validate"))
    return importlib.import_module("farm_model")


def test_waits_are_those_of_erlangs_formula(model):
    """M/M/c: the share of jobs that wait is Erlang's C (Erlang 1917), their mean wait 1/(c mu - lambda)."""
    servers, load, draw = 8, 6.4, random.Random(2)
    jobs = model.poisson(load, 6000, lambda t: model.Job(t, [draw.expovariate(1.0)], 0.0), seed=1)
    outcome = model.Farm(servers, 1).run(jobs)
    waits = [job.ended - job.arrived - job.parts[0] for job in outcome.jobs]
    waited = [wait for wait in waits if wait > 1e-9]
    blocked = load**servers / math.factorial(servers) * servers / (servers - load)
    erlang_c = blocked / (sum(load**k / math.factorial(k) for k in range(servers)) + blocked)
    assert len(waited) / len(waits) == pytest.approx(erlang_c, rel=0.1)
    assert sum(waited) / len(waited) == pytest.approx(1 / (servers - load), rel=0.1)
    assert outcome.utilization == pytest.approx(load / servers, rel=0.02) and outcome.lost == 0


def test_a_killed_job_does_its_last_part_again(model):
    job = model.Job(0.0, [1.0, 1.0, 1.0], 0.5)
    outcome = model.Farm(1, 1).run([job], kills=[(2.2, 0.0)])  # 0.5 restart, part 1 until 1.5, 0.7 of part 2 lost
    assert job.ended == pytest.approx(2.2 + 0.5 + 2.0) and job.losses == 1 and outcome.lost == pytest.approx(0.7)


def test_failures_lose_work_and_drains_lose_none(model):
    parts = [1.0] * 20
    for disturbances, lost in ((model.Disturbances(mtbf=200, repair=5), True), (model.Disturbances(between_drains=200, grace=5, start=5), False)):
        jobs = [model.Job(float(k), parts, 0.0) for k in range(200)]
        outcome = model.Farm(20, 2, disturbances).run(jobs)
        assert len(outcome.jobs) == 200 and (outcome.failures or outcome.drains) > 0
        assert (outcome.lost > 0) == lost
        assert outcome.busy == pytest.approx(200 * 20.0 + outcome.lost)


def test_slow_servers_make_the_tail(model):
    jobs = [model.Job(float(k), [1.0], 0.0) for k in range(1000)]
    outcome = model.Farm(10, 1, model.Disturbances(slow_share=0.1, slow_factor=5.0)).run(jobs)
    latencies = outcome.latencies()
    assert model.quantile(latencies, 0.5) == 1.0 and latencies[-1] == 5.0


def test_batches_are_those_of_an_evaluation(model):
    take = model.batches([1.0] * 100, 4, 0.0)
    sizes = []
    while (job := take()) is not None:
        sizes.append(len(job.parts))
    assert sizes[0] == 8 and sizes[-1] == 1 and sum(sizes) == 100
    assert model.Farm(4, 1).run([], supply=model.batches([1.0] * 100, 4, 0.0)).end == pytest.approx(25, abs=1.01)
