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
from commscope.report.markdown_text import cell, prose, table

#: By this a comment is found again.
MARKER = "<!-- commscope compare -->"
#: GitHub refuses longer comments.
MOST_CHARACTERS = 65_536
_MOST_ROWS = 30
_NUMBER = r"[-+>]?[\d,]+(\.\d+)?(e[-+]\d+)?( (ns|us|ms|s|B|kB|MB|GB|%))?|[-?]"
_NUMBERS = re.compile(rf"({_NUMBER})( / ({_NUMBER}))*|")


def comparison_markdown(found: Comparison) -> str:
    """The comparison; whole sections are left out from the end on where it would be too long."""
    each = "a step and rank" if found.unit == "step" else "a trace and rank"
    sections = [
        f"{MARKER}\n**{prose(found.verdict)}**\n",
        f"{prose(found.judged_by)}\n" if found.judged_by else "",
        _table("", part_rows(found)),
        _table("What explains the change", cause_rows(found)),
        _folded(f"Collectives ({each})", collective_rows(found)),
        _folded(f"Kernel families ({each})", kernel_rows(found.families)),
        _folded("Steps in order", step_rows(found)),
        _folded("Environment: what differs", environment_rows(found)),
        _folded("Findings", finding_rows(found)),
        _notes(found.not_compared),
        _folded(f"Kernels ({each})", kernel_rows(found.kernels or ())),
    ]
    return _fitted([section for section in sections if section])


def _table(title: str, rows: Sequence[Line]) -> str:
    if not rows:
        return ""
    heads = [prose(head) for head in rows[0]]
    cells = ([_cell(text) for text in row.values()] for row in rows[:_MOST_ROWS])
    more = len(rows) - _MOST_ROWS
    rest = f"\n{more} more\n" if more > 0 else ""
    return (f"### {title}\n\n" if title else "") + table(heads, cells) + rest


def _cell(text: str) -> str:
    """Numbers as they are; all else may hold names from outside."""
    mark = "\u21b3 " if text.startswith(" ") else ""
    return text if _NUMBERS.fullmatch(text) else mark + cell(text.strip())


def _folded(title: str, rows: Sequence[Line]) -> str:
    body = _table("", rows)
    return body and f"<details><summary>{title}</summary>\n\n{body}\n</details>\n"


def _notes(notes: Sequence[str]) -> str:
    lines = "".join(f"- {prose(note)}\n" for note in notes)
    return lines and f"Not compared:\n\n{lines}"


def _fitted(sections: Sequence[str]) -> str:
    """As many sections as have room, and how many have not."""
    for kept in range(len(sections), 0, -1):
        left_out = len(sections) - kept
        note = f"\n{left_out} sections left out: they have no room here.\n" if left_out else ""
        text = "\n".join(sections[:kept]) + note
        if len(text) <= MOST_CHARACTERS:
            return text
    return f"{MARKER}\n"
