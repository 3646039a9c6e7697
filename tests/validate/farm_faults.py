"""What goes wrong with single episodes and results: each fault is planted in an evaluation of its own, and must be named, not counted."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable

from validation import Context, Record, equal, reported

_EPISODES = 4
_SCENE = "varied_grasps:cube"


def run(context: Context) -> list[Record]:
    faults: dict[str, tuple[Callable[[Context, Path], str], str]] = {
        "corrupted_result": (_corrupted, "does not match its checksum"), "truncated_log": (_truncated, "is damaged"),
        "worker_of_another_build": (_other_build, "their bits differ"), "full_disk": (_full_disk, "No space left on device"),
        "policy_that_throws": (_throws, "no grasp is known"), "policy_that_hangs": (_hangs, "does the policy hang?")}
    records: list[Record] = []
    for name, (plant, words) in faults.items():
        message = plant(context, context.scratch / "faults" / name)
        if message.startswith("skipped"):
            context.say(f"{name}: {message}")
            continue
        records += [equal(f"faults.{name}.named", words in message, True)]
        if words not in message:
            records.append(reported(f"faults.{name}.said", message[-300:], ""))
    return records


def _evaluate(folder: Path, policy: str, *options: str) -> tuple[int, str]:
    """Exit status, and everything that was said."""
    from eipc.cli import __main__ as cli

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = cli.main(["evaluate", "--policy", f"farm_policies:{policy}", "--scenes", _SCENE, "--episodes", str(_EPISODES), "--workers", "1",
                           "--out", str(folder), *options])
    return status, out.getvalue()


def _report(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "report.json").read_text()))


def _damaged(folder: Path, change: Callable[[bytes], bytes]) -> str:
    """Damages a result; the words of a report that is made of what is there, and of the evaluation that goes on."""
    from eipc.farm import Results
    from eipc.farm.report import write_report

    _evaluate(folder, "Grasp")
    path = folder / "episodes" / "000002.json"
    path.write_bytes(change(path.read_bytes()))
    before = write_report(Results(folder))
    if before["finished"] != _EPISODES - 1:
        return "the damaged result is counted"
    status, said = _evaluate(folder, "Grasp")
    after = _report(folder)
    if status or not after["complete"] or after["run_again"] != ["000002.damaged"]:
        return f"the episode is not run again: {said}"
    return " ".join(before["problems"])


def _corrupted(context: Context, folder: Path) -> str:
    def flip(data: bytes) -> bytes:
        return data.replace(b'"outcome": "success"', b'"outcome": "failure"') if b'"success"' in data else data.replace(b'"failure"', b'"success"', 1)

    return _damaged(folder, flip)


def _truncated(context: Context, folder: Path) -> str:
    return _damaged(folder, lambda data: data[:len(data) // 2])


def _other_build(context: Context, folder: Path) -> str:
    """A worker whose server is of another build is refused; a result that one has left there all the same is not counted."""
    from dataclasses import replace

    from eipc.farm import Results
    from eipc.farm.report import write_report

    _evaluate(folder, "Grasp")
    results = Results(folder)
    left = results.get(1)
    results.path(1).unlink()
    results.put(replace(left, build="of-another-compiler"))
    report = write_report(results)
    if report["finished"] != _EPISODES - 1 or "was run by a server of build of-another-compiler" not in " ".join(report["problems"]):
        return f"a result of another build is counted: {report['problems']}"
    fresh = folder.with_name("worker_of_another_build_refused")
    results.plan.write(fresh)
    (fresh / "build.json").write_text(json.dumps({"build": "of-another-compiler"}))
    status, said = _evaluate(fresh, "Grasp")
    return said if status == 2 and not Results(fresh).finished() else f"a worker of another build has run: {said}"


def _full_disk(context: Context, folder: Path) -> str:
    if os.geteuid() != 0:
        return "skipped: a small file system is mounted by root only"
    folder.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, text=True, check=False)
    if mounted.returncode:
        return f"skipped: {mounted.stderr.strip()}"
    try:
        out = folder / "out"
        (folder / "filling").write_bytes(b"x" * 36864)
        status, said = _evaluate(out, "Grasp")
        whole = [path.name for path in (out / "episodes").glob("*.json")]
        if status == 0:
            return "an evaluation on a full disk succeeded"
        (folder / "filling").unlink()
        from eipc.farm import Results
        for name in whole:
            Results(out).get(int(name.split(".")[0]))  # what is there is whole
        return said
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def _throws(context: Context, folder: Path) -> str:
    status, _ = _evaluate(folder, "Throws")
    report = _report(folder)
    return " ".join(report["problems"]) if status == 1 and report["all"]["errors"] == 1 and report["all"]["episodes"] == _EPISODES - 1 else "counted"


def _hangs(context: Context, folder: Path) -> str:
    status, _ = _evaluate(folder, "hangs_once", "--episode-timeout", "5")
    report = _report(folder)
    return " ".join(report["problems"]) if status == 1 and report["all"]["errors"] == 1 and report["all"]["episodes"] == _EPISODES - 1 else "counted"
