"""`eipc replay`: takes the steps of recorded episodes, or of what a session recorded, again."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

from ..episode import Episode
from ..errors import EpisodeError
from ..recorder import Recorder
from ..replay import replay
from .episodes import SESSION_LOG, paths_of, take_log_again
from .servers import add_server_option, client_of


def add_commands(commands: Any) -> None:
    again = commands.add_parser("replay", help="take the steps of recorded episodes again, and compare every state",
                                description="Puts a world where each episode began, takes its steps again, and says whether the same states "
                                "come of them. Exit status 1 when one does not. What the viewer's page saved of a session (.eipcrec) becomes an "
                                "episode in the folder of --out.")
    again.add_argument("episodes", nargs="+", type=Path, metavar="EPISODE", help="a file, or a folder of a recorder")
    again.add_argument("--out", type=Path, metavar="FOLDER", help="record the new runs here, for example for `eipc diff`")
    again.add_argument("--threads", type=int, default=1, help="inside a step (default 1)")
    add_server_option(again)
    again.set_defaults(command=_replay)


def _replay(options: argparse.Namespace) -> int:
    same = True
    paths = paths_of(options.episodes)
    if options.out is None and any(path.suffix == SESSION_LOG for path in paths):
        raise EpisodeError(f"{SESSION_LOG}: give --out FOLDER, where it becomes an episode; `eipc verify FILE` compares its states without one")
    with client_of(options) as client, contextlib.ExitStack() as open_things:
        recorder = open_things.enter_context(Recorder(options.out)) if options.out else None
        for path in paths:
            if recorder is not None and path.suffix == SESSION_LOG:
                print(take_log_again(path, client, recorder, options.threads))
                continue
            found = replay(Episode.load(path), client, recorder, threads=options.threads)
            same = same and found.same
            if found.same:
                print(f"{path}: {found.steps} steps, every state the same")
            else:
                other = "" if found.build == found.recorded_build else f"; the server is of build {found.build}, not {found.recorded_build}"
                print(f"{path}: {found.steps} steps, another state from step {found.parted_at} on, bodies up to "
                      f"{1e3 * found.position_error_m:.3g} mm elsewhere{other}")
    return 0 if same else 1
