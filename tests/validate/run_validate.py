#!/usr/bin/python3
"""Compares the program with known answers: runs the studies in tests/validate and prints one record a figure.

Exit status 0 when every record met its target, 1 when one did not (or a study failed), 2 when the call was wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any, Sequence

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))
from eipc_cli import REPOSITORY, EipcCli, RunError, default_cli, default_data, default_server  # noqa: E402
from page import Page, RecordsTable  # noqa: E402
from text_table import text_table  # noqa: E402
from validation import Context, Record  # noqa: E402


def discover(folder: Path) -> dict[str, ModuleType]:
    """Every study_*.py of a folder, by its NAME."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    studies = {}
    for path in sorted(folder.glob("study_*.py")):
        module = importlib.import_module(path.stem)
        if hasattr(module, "NAME"):  # helpers such as study_plots have none
            studies[module.NAME] = module
    return studies


def run_study(study: ModuleType, context: Context, part: str = "") -> tuple[list[Record], str]:
    """The study's records, and why it failed (empty when it did not). A study that fails does not stop the others. `part`: one of
    PARTS, of a study that has them."""
    try:
        return study.run(context, [part]) if part else study.run(context), ""
    except Exception as error:  # a study is a program of its own; whatever stops it is a failed record
        reason = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
        return [Record("ran", reason, "", "== no error", False)], reason


def is_study(studies: dict[str, ModuleType], name: str) -> bool:
    """Whether this names a study, or as STUDY.PART one part of it."""
    study, _, part = name.partition(".")
    return study in studies and (not part or part in getattr(studies[study], "PARTS", ()))


def write_page(study: ModuleType, records: Sequence[Record], folder: Path, part: str = "") -> None:
    """The page of a study that says how its records are to be shown (PAGE, or PAGES by part); others write their own or have none. A part has a page of its own."""
    layout: RecordsTable | None = getattr(study, "PAGES", {}).get(part) or getattr(study, "PAGE", None)
    if layout is None:
        return
    page = Page(layout.title + (f": {part.replace('_', ' ')}" if part else ""), f"./dev validate {study.NAME}{'.' * bool(part)}{part}")
    page.text(layout.about)
    for file, caption in layout.pictures:
        page.figure(file, caption)
    page.records(layout, records)
    page.write(folder / f"{study.NAME}{'_' * bool(part)}{part}.md")


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def records_table(records: Sequence[Record]) -> str:
    return text_table(["figure", "value", "unit", "target", "pass"],
                      [[r.name, _text(r.value), r.unit, r.target, "yes" if r.passed else "NO"] for r in records])


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="studies to run (default: all), or STUDY.PART; see --list")
    parser.add_argument("--list", action="store_true", help="say which studies there are")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the records here as well")
    parser.add_argument("--figures", type=Path, default=REPOSITORY / "docs" / "results",
                        help="folder for pages and pictures")
    parser.add_argument("--keep", type=Path, default=REPOSITORY / "build" / "validate", metavar="FOLDER",
                        help="results of runs, so that a study that was interrupted goes on (remove it to measure anew)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (times are not compared)")
    parser.add_argument("--eipc", type=Path, default=default_cli(), help="the eipc program")
    parser.add_argument("--server", type=Path, default=default_server(), help="the eipc-server program")
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real meshes (default: EIPC_DATA)")
    parser.add_argument("--studies", type=Path, default=HERE, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    studies = discover(arguments.studies)
    if arguments.list:
        print(text_table(["study", "what it compares"], [[name, study.DESCRIPTION] for name, study in studies.items()], 2))
        return 0
    unknown = [name for name in arguments.names if not is_study(studies, name)]
    if unknown:
        print(f"validate: no study named {', '.join(unknown)} (there are: {', '.join(studies)})", file=sys.stderr)
        return 2
    cli = EipcCli(arguments.eipc, arguments.data)
    try:
        cli.check()
    except RunError as error:
        print(f"validate: {error}", file=sys.stderr)
        return 2
    document: dict[str, Any] = {"records": [], "studies": {}}
    with tempfile.TemporaryDirectory(prefix="eipc-validate-") as scratch:
        context = Context(cli, arguments.server, arguments.figures, Path(scratch), max(arguments.jobs, 1),
                          lambda words: print(f"    {words}", file=sys.stderr, flush=True), arguments.keep)
        for name in arguments.names or list(studies):
            study, _, part = name.partition(".")
            print(f"{name}: {studies[study].DESCRIPTION}", flush=True)
            start = time.monotonic()
            records, failure = run_study(studies[study], context, part)
            if not failure:
                write_page(studies[study], records, context.figures, part)
            records = [dataclasses.replace(r, name=f"{study}.{r.name}") for r in records]
            seconds = time.monotonic() - start
            print(records_table(records) + f"\n{sum(r.passed for r in records)} of {len(records)} pass, {seconds:.0f} s\n",
                  flush=True)
            document["records"] += [record.to_json() for record in records]
            document["studies"][name] = {"description": studies[study].DESCRIPTION, "seconds": seconds, "failure": failure}
    document["passed"] = all(record["pass"] for record in document["records"])
    failed = [record["name"] for record in document["records"] if not record["pass"]]
    if arguments.data is None:
        print("The runs on real meshes need EIPC_DATA.")
    print("all passed" if not failed else f"{len(failed)} FAILED: " + ", ".join(failed))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0 if document["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
