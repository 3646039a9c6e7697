"""Blocks of code in the documentation, and a script of those of a page that is to be followed.

    page_blocks.py [--quick] script PAGE           prints the script of a page for a machine with the wheel and no checkout
    page_blocks.py [--quick] minutes PAGE TIMES    prints the minutes of its blocks of commands; TIMES: the file that the script wrote
                                                   through file descriptor 3

--quick: policies learn from rewards for one generation.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Mapping, NamedTuple, Sequence

BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
SHOWN = {"text", "math"}  # what somebody reads and nobody runs
CHECKOUT, WHEEL = "In a checkout", "With the wheel"  # the first line of a block that is for one of them alone says which
_START = re.compile(rf"# ({CHECKOUT}|{WHEEL})\b")
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


def followed_blocks(repository: Path, page: str, start: str = CHECKOUT) -> Iterator[Block]:
    """What somebody does who follows a page in a checkout after `./dev build`, or with the wheel: start is CHECKOUT or WHEEL."""
    for block in documented_blocks(repository):
        if block.page != page or block.language in SHOWN or (block.language == "sh" and block.text.startswith("./dev")):
            continue
        only = _START.match(block.text)
        if only is None or only[1] == start:
            yield block


def commands_of(repository: Path, page: str, start: str = CHECKOUT) -> list[str]:
    """The blocks of commands of a page, in order, as the times of run_page count them."""
    return [block.text for block in followed_blocks(repository, page, start) if block.language == "sh"]


def first_words(commands: str, most: int = 90) -> str:
    """The last line of a block of commands, shortened, as code."""
    line = commands.strip().splitlines()[-1]
    return "`" + (line if len(line) <= most else line[:most - 3] + "...") + "`"


def script(repository: Path, page: str, start: str = CHECKOUT) -> str:
    """One shell script of a page. Blocks that begin with a file's name are saved under it, Python without a name is run, and `./dev`
    has been run. File descriptor 3 gets a line for each block of commands: its number, and when it began and ended."""
    lines = ["set -euo pipefail"]
    commands = 0
    for block in followed_blocks(repository, page, start):
        named = _FILE.match(block.text)
        if block.language == "sh":
            lines.append(f"began=$EPOCHREALTIME\n{block.text}echo {commands} $began $EPOCHREALTIME >&3")
            commands += 1
        elif named:
            lines.append(f"cat >{named[1]} <<'END OF {named[1]}'\n{block.text}END OF {named[1]}")
        elif block.language == "python":
            lines.append(f"/usr/bin/python3 - <<'END OF BLOCK'\n{block.text}END OF BLOCK")
        else:
            raise ValueError(f"{page}: a block of {block.language or 'nothing'} begins without the name of its file")
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
             variables: Mapping[str, str] = {}, start: str = CHECKOUT) -> Followed:
    """Follows a page in a folder that prepare() made. reduced: (words, fewer words) of commands that take long otherwise."""
    text = script(repository, page, start)
    for words, fewer in reduced:
        if words not in text:
            raise ValueError(f"{page} has no '{words}'")
        text = text.replace(words, fewer)
    environment = {**os.environ, "EIPC_CACHE": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    times = folder / "block_times.txt"
    done = subprocess.run(["bash", "-c", f"exec 3>'{times}'\n{text}"], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=timeout_s, check=False)
    return Followed(done.returncode, done.stdout, done.stderr, seconds_of(times))


def seconds_of(times: Path) -> list[float]:
    """The wall time of each block of commands, s, of the file that a script wrote through file descriptor 3."""
    return [float(end) - float(begin) for _, begin, end in _SPENT.findall(times.read_text(encoding="utf-8"))]


def minutes(repository: Path, page: str, seconds: Sequence[float]) -> str:
    """A line for each block of commands with the wheel, and one for all. Raises ValueError where some were not reached."""
    commands = commands_of(repository, page, WHEEL)
    if len(commands) != len(seconds):
        raise ValueError(f"{page}: {len(seconds)} of {len(commands)} blocks of commands were run to their end")
    lines = [f"{spent / 60:7.2f} min  {first_words(text)}" for text, spent in zip(commands, seconds)]
    return "\n".join([*lines, f"{sum(seconds) / 60:7.2f} min  {page}"])


def main(arguments: Sequence[str]) -> int:
    repository = Path(__file__).resolve().parents[2]
    quick = "--quick" in arguments
    words = [word for word in arguments if word != "--quick"]
    if len(words) == 2 and words[0] == "script":
        text = script(repository, words[1], WHEEL)
    elif len(words) == 3 and words[0] == "minutes":
        text = minutes(repository, words[1], seconds_of(Path(words[2])))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print(re.sub(r"--generations \d+", "--generations 1", text) if quick else text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
