"""Tables of text that fit the terminal: columns that have no room are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from commscope.sanitize import plain
from commscope.units import percent, size_range, span

Row = dict[str, Any]
Show = Callable[[Row], str]

#: Rows of a table, or lines, that are enough of one thing where many are shown.
MOST_ROWS = 8


@dataclass(frozen=True, slots=True)
class Cell:
    """A column: its head, what it shows of a row, and the narrowest terminal with room for it."""

    head: str
    show: Show
    justify: Literal["left", "right"] = "right"
    from_width: int = 0


def text_table(
    title: str, cells: Sequence[Cell], rows: Iterable[Row], width: int
) -> RenderableType:
    """A table with a title above it."""
    shown = [cell for cell in cells if cell.from_width <= width]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for cell in shown:
        table.add_column(cell.head, justify=cell.justify, no_wrap=True, header_style="dim")
    for row in rows:
        table.add_row(*(Text(plain(cell.show(row))) for cell in shown))
    grid = Table.grid()
    grid.add_row(Text(plain(title), "bold"))
    grid.add_row(table)
    return Padding(grid, (1, 0, 0, 0))


def first_rows(
    title: str, cells: Sequence[Cell], rows: Sequence[Row], width: int
) -> RenderableType | None:
    """A table of the first rows, whose title says so where there are more; null without rows."""
    if not rows:
        return None
    if len(rows) > MOST_ROWS:
        title += f", the first {MOST_ROWS} of {len(rows):,}"
    return text_table(title, cells, rows[:MOST_ROWS], width)


def text_of(name: str) -> Show:
    """A column as it is; a question mark where it is not known."""
    return lambda row: "?" if row[name] is None else str(row[name])


def count_of(name: str) -> Show:
    """A whole number with separators."""
    return lambda row: "?" if row[name] is None else f"{row[name]:,}"


def time_of(name: str) -> Show:
    """A length of time."""
    return lambda row: "?" if row[name] is None else span(row[name])


def sizes_of(row: Row) -> str:
    """The sizes that a row is of."""
    return size_range(row["min_bytes"], row["max_bytes"])


def share_of(name: str) -> Show:
    """A share as percent."""
    return lambda row: percent(row[name])


def _time_and_share(name: str) -> Show:
    def show(row: Row) -> str:
        if row[name] is None:
            return "?"
        return f"{span(row[name])} {percent(row[name] / max(row['window_ns'], 1)):>7}"

    return show


def partition_cells(width: int, *, waits: bool) -> tuple[Cell, ...]:
    """The parts of a window, with their shares where there is room.

    ``waits``: whether what ranks waited for each other is known of any.
    """
    part = _time_and_share if width >= (126 if waits else 110) else time_of
    return (
        Cell("compute", part("compute_ns")),
        Cell("exposed comm", part("exposed_comm_ns")),
        *([Cell("of it waiting", time_of("exposed_wait_ns"), from_width=90)] if waits else []),
        Cell("exposed copy", part("exposed_copy_ns"), from_width=76),
        Cell("idle", part("idle_ns")),
        Cell("overlap", _overlap, from_width=64),
    )


def _overlap(row: Row) -> str:
    return "-" if row["overlap_ratio"] is None else percent(row["overlap_ratio"])
