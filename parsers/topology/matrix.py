"""Square tables of text: a header of labels, then rows of a label and one cell a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from commscope.parsers.topology.rows import MOST_DEVICES, Rows

#: What stands for a device in such a table: GPU0, NIC0, a bus id.
LABEL = re.compile(
    r"GPU[0-9]{1,4}|NIC[0-9]{1,4}|mlx[45]_[0-9]{1,3}"
    r"|(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
)
_MOST_COLUMNS = 2 * MOST_DEVICES


@dataclass(slots=True)
class MatrixReader:
    """Reads the lines of a table, calling ``cell(row label, column label, text)`` for each.

    A row with fewer cells than the header has columns is remarked on, and what it has is used.
    """

    rows: Rows
    cell: Callable[[str, str, str], None]
    columns: Sequence[str] = ()

    def read(self, line: str) -> list[str] | None:
        """Reads one line; returns what follows the cells of a row, null where it is no row."""
        words = line.split()
        if words and all(map(LABEL.fullmatch, words)):
            self.columns = words[:_MOST_COLUMNS]
            return None
        return self._row(words[0], words[1:]) if self._is_row(words) else None

    def begin(self, columns: Sequence[str]) -> None:
        """Takes these columns, of a header that holds more than labels."""
        self.columns = columns[:_MOST_COLUMNS]

    def _is_row(self, words: Sequence[str]) -> bool:
        return len(words) > 1 and bool(self.columns) and bool(LABEL.fullmatch(words[0]))

    def _row(self, label: str, cells: list[str]) -> list[str]:
        if len(cells) < len(self.columns):
            given = f"{len(cells)} of {len(self.columns)}"
            self.rows.remark(f"the row of {label} has {given} cells")
        for column, text in zip(self.columns, cells):
            self.cell(label, column, text)
        return cells[len(self.columns) :]
