"""Pages of docs/results that a study writes: paragraphs and tables of what it has just measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence

if TYPE_CHECKING:
    from validation import Record


def number(value: Any, digits: int = 4) -> str:
    """For a cell: a dash stands for what is not there."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value).replace("|", "/")


@dataclass(frozen=True)
class RecordsTable:
    """How the page of a study shows its records: a row for each case, a column for each figure that some case has.

    The record `CASE.FIGURE` is a cell. Records of figures that have no column follow in a table of their own, unless they are `hidden`.
    """

    title: str
    about: str
    columns: Mapping[str, str]  # figure: its heading, with the unit
    case: str = "run"  # heading of the first column
    hidden: frozenset[str] = field(default_factory=frozenset)  # figures that are judged and say nothing more
    pictures: tuple[tuple[str, str], ...] = ()  # file beside the page, caption


class Page:
    """Gathers Markdown."""

    def __init__(self, title: str, command: str) -> None:
        self._parts = [f"# {title}", f"Written by `{command}` from its own runs; nothing here is typed in."]

    @classmethod
    def of_parts(cls, title: str, study: str, parts: Sequence[str], setting: str = "") -> "Page":
        """The page of a study whose parts run alone too: of those named, or of all. setting: NAME=VALUE that the command was run with."""
        named = f": {', '.join(parts).replace('_', ' ')}" if parts else ""
        return cls(title + named, " ".join([*([setting] if setting else []), "./dev validate", *([f"{study}.{part}" for part in parts] or [study])]))

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

    def records(self, layout: RecordsTable, records: Sequence["Record"]) -> None:
        """The table of a study's records, those that have no place in it, and how many met their targets."""
        rows: dict[str, dict[str, Any]] = {}
        others = []
        for record in records:
            figure = next((f for f in (*layout.columns, *layout.hidden) if record.name.endswith("." + f)), None)
            if figure in layout.columns:
                rows.setdefault(record.name[:-len(figure) - 1], {})[figure] = record.value
            elif figure is None and record.name not in layout.hidden:
                others.append([record.name, record.target, f"{number(record.value)} {record.unit}".strip()])
        if rows:
            columns = {figure: title for figure, title in layout.columns.items() if any(figure in cells for cells in rows.values())}
            self.table([layout.case, *columns.values()], [[case, *(cells.get(figure) for figure in columns)] for case, cells in rows.items()])
        if others:
            self.table(["figure", "target", "measured"], others)
        failed = [record.name for record in records if not record.passed]
        self.text(f"{len(records) - len(failed)} of {len(records)} figures meet their targets"
                  + (f"; not met: {', '.join(failed)}." if failed else "."))

    def write_parts(self, folder: Path, study: str, parts: Sequence[str]) -> None:
        """Writes STUDY.md where all parts were run, else STUDY_PART.md."""
        self.write(folder / ("_".join([study, *parts]) + ".md"))

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(self._parts) + "\n")
