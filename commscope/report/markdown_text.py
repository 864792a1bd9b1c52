"""Text from outside for Markdown: shown as it is, never read as markup, HTML, links or mentions.

Names go into code spans, in which nothing is markup; sentences that hold names have every character
escaped that GitHub's Markdown gives a meaning to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commscope.sanitize import plain, shortened

_BACKTICKS = re.compile("`+")
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#|~!&$])")
#: What GitHub makes a link of without any markup: mentions, issues, commits, addresses.
_LINKED = re.compile(r"@(?=\w)|(?<=\w)://|(?<=www)\.|(?<=[Gg][Hh])-(?=\d)|\b(?=[0-9a-f]{7,40}\b)")
_LISTED = re.compile(r"^(\s*\d+)([.)])|^(\s*)([-+=])")
#: Breaks a word for those who look for links in it, and is not seen.
_BREAK = "<!-- -->"


def code_span(text: str, width: int = 200) -> str:
    """Text as inline code: its fence is longer than any run of backticks in it.

    Outside of tables: there a bar would end the cell, see ``cell``.
    """
    safe = shortened(text, width)
    if not safe.strip():
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(safe)), default=0)
    fence = "`" * (longest + 1)
    # A space on each side is taken away again; without it a backtick would join the fence.
    pad = " " if safe.startswith("`") or safe.endswith("`") else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def prose(text: str) -> str:
    """A sentence in which nothing is markup."""
    escaped = _MARKUP.sub(r"\\\1", plain(text))
    escaped = _LISTED.sub(_unlisted, escaped)
    return _LINKED.sub(lambda found: f"{found[0]}{_BREAK}", escaped)


def _unlisted(found: re.Match[str]) -> str:
    number, dot, space, mark = found.groups()
    return f"{number}\\{dot}" if number is not None else f"{space}\\{mark}"


def cell(text: str, width: int = 200) -> str:
    """Inline code for a cell of a table: GitHub takes the backslash before a bar away."""
    return code_span(text, width).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers_from: int = 1) -> str:
    """A table of cells that are harmless already; columns from a place on are set right."""
    rule = [":--" if place < numbers_from else "--:" for place in range(len(heads))]
    lines = [heads, rule, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
