"""Runs episodes again, anywhere, from their actions, and compares every state's digest."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable, Optional

from ..client import Client
from ..errors import EipcError
from .errors import EvaluationError, OtherBuildError
from .results import Result, Results
from .runner import Runner, make_runner


@dataclass(frozen=True)
class Verified:
    """parts_at: the action after which the states first differ; None where none does. problem: why it could not be run again."""

    result: Optional[Result]
    index: int
    parts_at: Optional[int] = None
    problem: str = ""

    @property
    def same(self) -> bool:
        return self.parts_at is None and not self.problem


def choose(results: Results, sample: Optional[int], seed: int = 0) -> list[int]:
    """Which episodes are run again: all, or so many drawn at random."""
    indices = sorted(results.finished())
    if sample is None or sample >= len(indices):
        return indices
    return sorted(random.Random(seed).sample(indices, sample))


def verify(results: Results, client: Client, indices: list[int], say: Callable[[str], None] = lambda words: None) -> list[Verified]:
    """client: of a server of the evaluation's build. Raises OtherBuildError for another one."""
    build = client.server_info().build
    if results.build and build != results.build:
        raise OtherBuildError(f"this server is of build {build}, and the evaluation is of build {results.build}: bits are not compared")
    runners: dict[str, Runner] = {}
    done = []
    try:
        for index in indices:
            done.append(_again(results, client, runners, index))
            say(_words(results, done[-1]))
    finally:
        for runner in runners.values():
            runner.close()
    return done


def _again(results: Results, client: Client, runners: dict[str, Runner], index: int) -> Verified:
    try:
        result = results.get(index)
        if not result.digests:
            return Verified(result, index, problem=f"nothing of it was kept: {result.reason}")
        if result.scene not in runners:
            runners[result.scene] = make_runner(result.scene, client, results)
        digests = runners[result.scene].repeat(result)
    except (EvaluationError, EipcError) as error:
        return Verified(None, index, problem=str(error))
    if digests == result.digests:
        return Verified(result, index)
    parts = next((k for k, (now, then) in enumerate(zip(digests, result.digests)) if now != then), min(len(digests), len(result.digests)))
    return Verified(result, index, parts)


def _words(results: Results, verified: Verified) -> str:
    case = results.plan.case(verified.index)
    if verified.problem:
        return f"{case}: {verified.problem}"
    if verified.parts_at is not None:
        return f"{case}: differs from state {verified.parts_at} on"
    return f"{case}: the same {len(verified.result.digests) if verified.result else 0} states"
