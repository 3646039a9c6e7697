"""Tests under sanitizers: address and undefined behaviour with the server, threads without gRPC.

Builds the presets asan and tsan (some hours on two cores when nothing is cached). The environment narrows that: EIPC_SANITIZERS chooses
presets (default "asan tsan"), EIPC_SANITIZER_TESTS test programs by a regular expression; with it the Python client's tests are left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from eipc_cli import REPOSITORY, RunError
from service_page import ServicePage
from validation import Context, Record, at_least, equal, reported

NAME = "sanitizers"
DESCRIPTION = "service tests under address and undefined-behaviour sanitizers, simulation, sessions and calls under the thread sanitizer"

# Begins what a sanitizer reports.
REPORT = re.compile(r"ERROR: (?:Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error: ")
# A hundredth of the release's counts (tests/server/rpc/handlers/storm_test.cc).
STORM = {"EIPC_STORM_SNAPSHOTS": "1000", "EIPC_STORM_CALLS": "10000", "EIPC_STORM_REPLAYS": "10", "EIPC_STORM_WIRE_CALLS": "300"}


@dataclass(frozen=True)
class Pass:
    """A preset, what to build, and which of its tests (ctest's names) to run."""

    preset: str
    title: str
    targets: tuple[str, ...]
    tests: str
    python: bool


PASSES = (
    Pass("asan", "Address and undefined-behaviour sanitizers", ("eipc-server", "eipc"),
         r"^(session_|convert_|rpc_|server_|client_cpp|conformance|base_|linalg_|contact_|solver_|dynamics_test)", True),
    # Over Debian's gRPC, which is not instrumented, it reports hundreds of races that are none: the preset builds nothing that links it.
    Pass("tsan", "Thread sanitizer", (), r"^(rpc_|convert_|session_|base_|linalg_|geometry_|mesh_embedding|contact_|energy_|solver_|dynamics_test|scene_|sensor_)", False),
)


def run(context: Context) -> list[Record]:
    wanted = os.environ.get("EIPC_SANITIZERS", "asan tsan").split()
    records, page = [], ServicePage(context.figures)
    for each in PASSES:
        if each.preset in wanted:
            seen = _pass(each, context)
            records += seen
            page.keep(f"sanitizers.{each.preset}", "direct", each.title, _command(each.preset), seen)
    page.write()
    return records


def _command(preset: str) -> str:
    only = os.environ.get("EIPC_SANITIZER_TESTS")
    return " ".join([f"EIPC_SANITIZERS={preset}", *([f"EIPC_SANITIZER_TESTS='{only}'"] if only else []), "./dev validate sanitizers"])


def _test_names(preset: str, tests: str) -> list[str]:
    listed = subprocess.run(["ctest", "--test-dir", str(REPOSITORY / "build" / preset), "-N", "-R", tests], capture_output=True, text=True)
    return re.findall(r"Test +#\d+: (\S+)", listed.stdout)


def _build(preset: str, targets: list[str]) -> None:
    built = subprocess.run([str(REPOSITORY / "dev"), "build", preset, *targets], capture_output=True, text=True)
    if built.returncode:
        raise RunError((built.stdout + built.stderr)[-3000:])


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, **STORM, "EIPC_SOURCE_DIR": str(REPOSITORY), "EIPC_BINARY_DIR": str(folder),
            "EIPC_SERVER": str(folder / "bin" / "eipc-server"), "EIPC_CLI": str(folder / "bin" / "eipc"),
            "UBSAN_OPTIONS": "print_stacktrace=1"}


def _pass(each: Pass, context: Context) -> list[Record]:
    folder = REPOSITORY / "build" / each.preset
    context.say(f"configuring {each.preset}")
    subprocess.run(["cmake", "--preset", each.preset], cwd=REPOSITORY, capture_output=True, check=False)
    only = os.environ.get("EIPC_SANITIZER_TESTS", "")
    names = [name for name in _test_names(each.preset, each.tests) if re.search(only, name)]
    if not names:
        raise RunError(f"the preset {each.preset} has no test like {each.tests}")
    context.say(f"building {each.preset}: {len(names)} test programs")
    _build(each.preset, [*names, *(() if only else each.targets)])
    results = context.scratch / f"{each.preset}.xml"
    context.say(f"running {each.preset}")
    done = subprocess.run(["ctest", "--test-dir", str(folder), "-R", f"^({'|'.join(names)})$", "--output-on-failure", "--output-junit",
                           str(results)], capture_output=True, text=True, env=_environment(folder))
    output = done.stdout + done.stderr
    run_count, failed = _counts(results)
    if each.python and not only:
        more, more_failed, text = _python_tests(folder, context)
        run_count, failed, output = run_count + more, failed + more_failed, output + text
    reports = len(REPORT.findall(output))
    if failed or reports:
        context.say(output[-4000:])
    return [at_least(f"{each.preset}.tests_run", run_count, len(names)), equal(f"{each.preset}.tests_failed", failed, 0),
            equal(f"{each.preset}.reports", reports, 0), reported(f"{each.preset}.test_programs", len(names))]


def _counts(path: Path) -> tuple[int, int]:
    """Tests run and failed of a JUnit file."""
    suites = ElementTree.parse(path).getroot().iter("testsuite")
    run_count = failed = 0
    for suite in suites:
        run_count += int(suite.get("tests", 0)) - int(suite.get("skipped", 0)) - int(suite.get("disabled", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return run_count, failed


def _python_tests(folder: Path, context: Context) -> tuple[int, int, str]:
    """The Python client's tests of the service, against the sanitized server."""
    results = context.scratch / "python.xml"
    tests = [str(REPOSITORY / "client" / "python" / "tests" / name) for name in ("test_service.py", "test_real_server.py")]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", str(results), *tests],
                          capture_output=True, text=True, env=_environment(folder))
    return *_counts(results), done.stdout + done.stderr
