"""Du et al. 2025, IV-A: what a second thread brings to the grasp."""

from __future__ import annotations

from statistics import median
from typing import Any

from eipc_cli import SCENES
from page import Page
from paper_records import Claim, PaperRecord
from validation import Context

TURNS, STEP_S, THREADS = 5, 0.02, 2
CASES = ("bubble_teddy_low", "bubble_teddy_full")


def in_turns(context: Context, name: str) -> dict[str, Any]:
    """Seconds of the whole grasp on one thread and on two, one run after the other, TURNS times each."""
    scene = SCENES / f"{name}.textproto"

    def run() -> dict[str, Any]:
        seconds: dict[int, list[float]] = {1: [], THREADS: []}
        for _ in range(TURNS):
            for threads, of in seconds.items():
                report = context.cli.run(scene, STEP_S, threads=threads)
                of.append(report["wall_s"])
        return {"one": seconds[1], "more": seconds[THREADS], "steps": report["steps"], "iterations": report["newton_iterations"]["total"]}

    return dict(context.kept.get([scene], ["threads", THREADS, TURNS, STEP_S], run))


def run_threads(context: Context, page: Page) -> list[PaperRecord]:
    """A sentence of section IV-A; neither the number of threads nor the processor is published."""
    records, rows = [], []
    for name in CASES:
        found = in_turns(context, name)
        gains = [a / b for a, b in zip(found["one"], found["more"])]
        gain, milliseconds = median(gains), 1e3 * median(found["one"]) / found["iterations"]
        why = f"""the paper's number of threads is not published and it puts the modest gain down to the small scale of the problem; a Newton iteration of ours takes {milliseconds:.2g} ms on one
            thread. Where its time goes with two was not measured here"""
        records.append(Claim("Du et al. 2025, Section IV-A", "1.4 times faster with threads than with one", "the paper's gain; that it holds for two threads is our choice",
                             "" if gain >= 1.4 else " ".join(why.split())).at_least(f"threads.{name}.gain", gain, 1.4))
        rows.append([name, median(found["one"]), median(found["more"]), gain, min(gains), max(gains), milliseconds])
    page.section("Du et al. 2025: gain by threads (IV-A)")
    page.text(f"The grasp at h = {STEP_S} s, {THREADS} threads, {TURNS} runs of each in turns: medians, and the spread of the gain.")
    page.table(["scene", "one thread (s)", f"{THREADS} threads (s)", "gain", "least", "most", "ms per Newton iteration on one"], rows)
    return records
