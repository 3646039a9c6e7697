"""Draws what comes on standard input until it ends; answers on standard output: a picture, or in words why there is none."""

from __future__ import annotations

import os
import sys

from .display import start_display
from .frames import receive, send


def main() -> None:
    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.environ["DISPLAY"] = start_display()
    os.environ["LIBGL_ALWAYS_SOFTWARE"] = "1"  # the same picture on every machine
    from .stage import Stage

    stage = Stage()
    while True:
        try:
            order = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer: object = stage.draw(**order)
        except Exception as error:  # pylint: disable=broad-except
            answer = f"{type(error).__name__}: {error}"
        send(answers, answer)


if __name__ == "__main__":
    main()
