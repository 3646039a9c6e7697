"""Pages of docs/validation that a study writes: paragraphs and tables of what it has just measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence


def number(value: Any, digits: int = 4) -> str:
    """For a cell: a dash stands for what is not there."""
    if value is None:
        return "–"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


class Page:
    """Gathers Markdown."""

    def __init__(self, title: str, command: str) -> None:
        self._parts = [f"# {title}", f"Written by `{command}` from its own runs; nothing here is typed in."]

    def section(self, title: str) -> None:
        self._parts.append(f"## {title}")

    def text(self, words: str) -> None:
        self._parts.append(" ".join(words.split()))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        lines += ["| " + " | ".join(number(cell) for cell in row) + " |" for row in rows]
        self._parts.append("\n".join(lines))

    def figure(self, file: str, caption: str) -> None:
        self._parts.append(f"![{caption}]({file})")

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(self._parts) + "\n")
