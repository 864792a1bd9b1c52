"""The comparison as Markdown: for a comment that is updated in place, or a step summary."""

from __future__ import annotations

import re
from collections.abc import Sequence

from commscope.compare.lines import (
    Line,
    cause_rows,
    collective_rows,
    environment_rows,
    finding_rows,
    kernel_rows,
    part_rows,
    step_rows,
)
from commscope.compare.model import Comparison
from commscope.report.markdown_text import Section, bullets, cell, fitted, prose, table

#: By this a comment is found again.
MARKER = "<!-- commscope:compare -->"
_MOST_ROWS = 30
_NUMBER = r"[-+>]?[\d,]+(\.\d+)?(e[-+]\d+)?( (ns|us|ms|s|B|kB|MB|GB|%))?|[-?]"
_NUMBERS = re.compile(rf"({_NUMBER})( / ({_NUMBER}))*|")


def comparison_markdown(found: Comparison) -> str:
    """The comparison, as far as it has room in a comment."""
    each = "a step and rank" if found.unit == "step" else "a trace and rank"
    folded = (
        (f"Collectives ({each})", collective_rows(found)),
        (f"Kernel families ({each})", kernel_rows(found.families)),
        ("Steps in order", step_rows(found)),
        ("Environment: what differs", environment_rows(found)),
        ("Findings", finding_rows(found)),
    )
    sections = [
        Section("The step and its parts", _table(part_rows(found))),
        Section("What explains the change", _table(cause_rows(found))),
        *(Section(title, _table(rows), is_folded=True) for title, rows in folded),
        Section("Not compared", bullets(found.not_compared)),
        Section(f"Kernels ({each})", _table(kernel_rows(found.kernels or ())), is_folded=True),
    ]
    return fitted(MARKER, _head(found), sections)


def _head(found: Comparison) -> str:
    judged_by = f"\n{prose(found.judged_by)}\n" if found.judged_by else ""
    return f"**{prose(found.verdict)}**\n{judged_by}"


def _table(rows: Sequence[Line]) -> str:
    """A table of the first rows; nothing without rows."""
    if not rows:
        return ""
    heads = [prose(head) for head in rows[0]]
    cells = ([_cell(text) for text in row.values()] for row in rows[:_MOST_ROWS])
    more = len(rows) - _MOST_ROWS
    return table(heads, cells) + (f"\n{more} more\n" if more > 0 else "")


def _cell(text: str) -> str:
    """Numbers as they are; all else may hold names from outside."""
    mark = "\u21b3 " if text.startswith(" ") else ""
    return text if _NUMBERS.fullmatch(text) else mark + cell(text.strip())
