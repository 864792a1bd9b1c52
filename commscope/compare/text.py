"""The comparison for a terminal: the verdict, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from commscope.compare.lines import (
    Line,
    cause_rows,
    collective_rows,
    environment_rows,
    finding_rows,
    kernel_rows,
    part_rows,
    rank_rows,
    step_rows,
)
from commscope.compare.model import Comparison
from commscope.report.text import drawn_text
from commscope.report.text_tables import Cell, Show, text_table
from commscope.sanitize import plain, shortened

_MOST = 12


def comparison_text(found: Comparison, width: int = 120) -> str:
    """The comparison without colours, as it is written to a file or a pipe."""
    return drawn_text(lambda console: print_comparison(found, console), width)


def print_comparison(found: Comparison, console: Console) -> None:
    """Prints the comparison."""
    width = console.width
    each = "a step and rank" if found.unit == "step" else "a trace and rank"
    sections = [
        Text(plain(found.verdict), "bold"),
        Text(plain(found.judged_by), "dim"),
        _table("The step: means over steps and ranks", part_rows(found), width),
        _table("What explains the change (adds up to it)", cause_rows(found), width),
        _table("Ranks", rank_rows(found), width),
        _table("Steps in order", step_rows(found)[:_MOST], width),
        _table(f"Collectives ({each})", collective_rows(found)[:_MOST], width),
        _table(f"Kernel families ({each})", kernel_rows(found.families)[:_MOST], width),
        _table(f"Kernels ({each})", kernel_rows(found.kernels or ())[:_MOST], width),
        _table("Environment: what differs", environment_rows(found), width),
        _table("Findings", finding_rows(found), width),
        _not_compared(found.not_compared),
    ]
    console.print(Group(*(section for section in sections if section is not None)))


def _table(title: str, rows: Sequence[Line], width: int) -> RenderableType | None:
    """A table of rows that all have the same cells; nothing without rows."""
    if not rows:
        return None
    cells = [
        Cell(name, _shown(name, room), "left" if place == 0 or name in _SENTENCES else "right")
        for place, (name, room) in enumerate(_fitting(rows, width))
    ]
    return text_table(title, cells, rows, width)


def _shown(name: str, room: int) -> Show:
    return lambda row: shortened(row[name], room)


def _fitting(rows: Sequence[Line], width: int) -> Iterator[tuple[str, int]]:
    """The columns that have room, the first ones first, and how much; sentences are cut to it."""
    left = width
    for place, name in enumerate(rows[0]):
        room = max(len(name), *(len(row[name]) for row in rows))
        room = min(room, left - _GAP if name in _SENTENCES else _LONGEST)
        if room < min(_LEAST, len(name)) or (place and room > left):
            return
        left -= room + _GAP
        yield name, room


#: Columns that are worth showing in part.
_SENTENCES = ("what it is", "more than noise")
#: Characters between columns, of the longest name, and of the least that is worth showing.
_GAP, _LONGEST, _LEAST = 2, 60, 20


def _not_compared(notes: Sequence[str]) -> RenderableType | None:
    if not notes:
        return None
    text = Text("Not compared", "bold")
    for note in notes:
        text.append(f"\n  {plain(note)}", "not bold")
    return Padding(text, (1, 0, 0, 0))
