"""`eipc export`: recorded episodes in the formats of others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..episode import Episode
from ..errors import EpisodeError
from ..export import write_episode_page, write_glb, write_hdf5, write_lerobot, write_mcap
from ..export.pictures import default_camera
from .episodes import load_all

_ONE = {"mcap": "an MCAP file for Foxglove and Rerun", "glb": "an animated glTF file", "page": "a web page that plays it"}
_MANY = {"lerobot": "a LeRobot data set (v3.0), a folder", "robomimic": "a data set in robomimic's HDF5 layout"}


def add_commands(commands: Any) -> None:
    listed = "; ".join(f"{name}: {what}" for name, what in {**_MANY, **_ONE}.items())
    export = commands.add_parser("export", help="write recorded episodes in the formats of others", description=listed + ".")
    export.add_argument("format", choices=[*_MANY, *_ONE])
    export.add_argument("episodes", nargs="+", type=Path, metavar="EPISODE", help="a file, or a folder of a recorder")
    export.add_argument("--out", type=Path, required=True, metavar="PATH",
                        help="what to write; of several episodes as mcap, glb or page a folder with a file for each")
    export.add_argument("--every", type=int, default=1, help="of mcap and glb: keep every so many observations")
    export.add_argument("--camera", action="store_true", help="of lerobot: with a video, drawn from the surfaces")
    export.add_argument("--picture-size", type=int, nargs=2, default=(320, 240), metavar=("W", "H"))
    export.add_argument("--valid", type=float, default=0.0, help="of robomimic: share of the episodes under mask/valid")
    export.set_defaults(command=_export)


def _export(options: argparse.Namespace) -> int:
    episodes = list(load_all(options.episodes))
    if options.format == "lerobot":
        cameras = {"front": default_camera(episodes[0])} if options.camera else None
        write_lerobot(options.out, episodes, cameras=cameras, picture_size=(options.picture_size[0], options.picture_size[1]))
    elif options.format == "robomimic":
        write_hdf5(options.out, episodes, valid=options.valid)
    elif len(episodes) == 1 and not options.out.is_dir():
        _write_one(options, episodes[0], options.out)
    else:
        names = [f"{episode.path.stem}.{'html' if options.format == 'page' else options.format}" for episode in episodes]
        if len(set(names)) < len(names):
            raise EpisodeError("episodes of several folders have the same numbers: export one folder at a time")
        options.out.mkdir(parents=True, exist_ok=True)
        for episode, name in zip(episodes, names):
            _write_one(options, episode, options.out / name)
        return 0
    if options.format in _MANY:
        print(f"{options.out}: {len(episodes)} episodes, {sum(episode.steps for episode in episodes)} steps")
    return 0


def _write_one(options: argparse.Namespace, episode: Episode, path: Path) -> None:
    if options.format == "mcap":
        write_mcap(path, episode, options.every)
    elif options.format == "glb":
        write_glb(path, episode, every=options.every)
    else:
        write_episode_page(episode, path)
    print(f"{path}: {episode.steps} steps")
