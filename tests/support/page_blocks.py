"""Blocks of code in the documentation, and a script of those of a page that is to be followed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Iterator, Mapping, NamedTuple, Sequence

BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
SHOWN = {"text", "math"}  # what somebody reads and nobody runs
_FILE = re.compile(r"# (\w+\.\w+)")
_SPENT = re.compile(r"^(\d+) (\d+\.\d+) (\d+\.\d+)$", re.MULTILINE)


class Block(NamedTuple):
    page: str  # relative to the repository
    language: str  # empty: not said
    text: str


class Followed(NamedTuple):
    """What following a page gave: exit status, standard output and error, and the wall time of each block of commands, s."""

    status: int
    printed: str
    errors: str
    seconds: list[float]


def documented_blocks(repository: Path) -> Iterator[Block]:
    """All blocks of README.md and of the pages under docs."""
    for path in [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]:
        for indent, language, text in BLOCK.findall(path.read_text(encoding="utf-8")):
            yield Block(str(path.relative_to(repository)), language, re.sub(f"^{indent}", "", text, flags=re.MULTILINE))


def blocks_of(repository: Path, page: str, language: str) -> list[str]:
    return [block.text for block in documented_blocks(repository) if (block.page, block.language) == (page, language)]


def script(repository: Path, page: str) -> str:
    """One shell script of a page. Blocks that begin with a file's name are saved under it, Python without a name is run, and `./dev`
    has been run. File descriptor 3 gets a line for each block of commands: its number, and when it began and ended."""
    lines = ["set -euo pipefail"]
    commands = 0
    for block in documented_blocks(repository):
        if block.page != page or block.language in SHOWN:
            continue
        named = _FILE.match(block.text)
        if named and block.language != "sh":
            lines.append(f"cat >{named[1]} <<'END OF {named[1]}'\n{block.text}END OF {named[1]}")
        elif block.language == "python":
            lines.append(f"/usr/bin/python3 - <<'END OF BLOCK'\n{block.text}END OF BLOCK")
        elif block.language != "sh":
            raise ValueError(f"{page}: a block of {block.language or 'nothing'} begins without the name of its file")
        elif not block.text.startswith("./dev"):
            lines.append(f"began=$EPOCHREALTIME\n{block.text}echo {commands} $began $EPOCHREALTIME >&3")
            commands += 1
    return "\n".join(lines)


def prepare(repository: Path, programs: Path, folder: Path) -> None:
    """Makes a folder like the root of a checkout after `./dev build`. programs: where eipc, eipc-server and the examples are."""
    binaries = folder / "build" / "release" / "bin"
    binaries.mkdir(parents=True)
    for program in [programs / "eipc", programs / "eipc-server", *programs.glob("example_*")]:
        (binaries / program.name).symlink_to(program)
    for name in ("models", "client"):
        (folder / name).symlink_to(repository / name)


def run_page(repository: Path, page: str, folder: Path, reduced: Sequence[tuple[str, str]] = (), timeout_s: float = 600,
             variables: Mapping[str, str] = {}) -> Followed:
    """Follows a page in a folder that prepare() made. reduced: (words, fewer words) of commands that take long otherwise."""
    text = script(repository, page)
    for words, fewer in reduced:
        if words not in text:
            raise ValueError(f"{page} has no '{words}'")
        text = text.replace(words, fewer)
    environment = {**os.environ, "EIPC_CACHE": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    times = folder / "block_times.txt"
    done = subprocess.run(["bash", "-c", f"exec 3>'{times}'\n{text}"], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=timeout_s, check=False)
    seconds = [float(end) - float(begin) for _, begin, end in _SPENT.findall(times.read_text(encoding="utf-8"))]
    return Followed(done.returncode, done.stdout, done.stderr, seconds)
