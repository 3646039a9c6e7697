"""Tables, and their form for terminals."""

from __future__ import annotations

from typing import NamedTuple, Sequence


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left_columns: int = 1) -> str:
    """Aligned columns; the first `left_columns` to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) if i < left_columns else cell.rjust(width)
                         for i, (cell, width) in enumerate(zip(cells, widths))).rstrip()

    return "\n".join([line(header), "  ".join("-" * width for width in widths), *map(line, rows)])


class Table(NamedTuple):
    """Header and rows, whatever they are shown on."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_columns: int = 1

    def text(self) -> str:
        return text_table(self.header, self.rows, self.left_columns)
