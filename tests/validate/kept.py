"""Results of runs that are kept between calls, so that a study that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Callable, Sequence


class Kept:
    """A folder of results by what they were made from: a program, input files and words. Another of any of them is another result."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        self._program = hashlib.sha256(program.read_bytes()).hexdigest()

    def get(self, inputs: Sequence[Path], words: Sequence[object], make: Callable[[], Any]) -> Any:
        """What make() returned (JSON), now or in an earlier call."""
        digest = hashlib.sha256(self._program.encode())
        for path in inputs:
            digest.update(path.read_bytes())
        digest.update(repr(list(words)).encode())
        path = self.folder / f"{digest.hexdigest()[:32]}.json"
        if path.is_file():
            return json.loads(path.read_text())
        result = make()
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(result))
        partial.replace(path)
        return result
