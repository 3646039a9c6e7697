"""`eipc verify` of recorded episodes: gives the log that an episode carries to the offline verifier, which needs no server."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Sequence

from ..episode import Episode
from ..errors import EpisodeError
from .episodes import paths_of

NAME = "verify-episodes"


def is_of_episode(words: Sequence[str]) -> bool:
    """Whether these are `verify` and an episode's file or a recorder's folder."""
    if len(words) < 2 or words[0] != "verify":
        return False
    return any(word.endswith(".npz") or (Path(word).is_dir() and any(Path(word).glob("episode_*.npz"))) for word in words[1:])


def add_commands(commands: Any) -> None:
    check = commands.add_parser(NAME, help="`verify` of recorded episodes: replay their logs without a server")
    check.add_argument("episodes", nargs="+", type=Path, metavar="EPISODE")
    check.add_argument("--any-build", action="store_true", help="also of another build, whose bits may differ")
    check.add_argument("--threads", type=int, default=1)
    check.set_defaults(command=_verify)


def _verify(options: argparse.Namespace) -> int:
    program, worst = _program(), 0
    for path in paths_of(options.episodes):
        log = Episode.load(path).log
        if not log:
            raise EpisodeError(f"{path} carries no log: record with create_session(record=True), or use `eipc replay`")
        with tempfile.NamedTemporaryFile(suffix=".log") as file:
            file.write(log)
            file.flush()
            words = [program, "verify", file.name, f"--threads={options.threads}", *(["--any-build"] if options.any_build else [])]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        print((done.stdout + done.stderr).replace(file.name, str(path)), end="")
        worst = max(worst, done.returncode)
    return worst


def _program() -> str:
    named = os.environ.get("EIPC_CLI") or shutil.which("eipc")
    if not named:
        raise EpisodeError("the program eipc is not on PATH; name it with EIPC_CLI")
    return named
