"""Options of environments on a command line: --env-option mesh=mug.obj."""

from __future__ import annotations

import json
from typing import Any, Sequence

from ..errors import EpisodeError


def add_env_option(parser: Any) -> None:
    parser.add_argument("--env-option", action="append", default=[], metavar="NAME=VALUE",
                        help="of the environment, such as mesh=mug.obj or gripper_scale=1.2; may be repeated")


def env_options(words: Sequence[str]) -> dict[str, Any]:
    """Values are JSON where they can be read as such, else text. Raises EpisodeError."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise EpisodeError(f"--env-option is {word!r}; it is NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
