"""Text from outside for Markdown, and documents that have room where they are shown.

Text is shown as it is, never read as markup, HTML, links or mentions: names go into code spans, in
which nothing is markup; sentences that hold names have every character escaped that GitHub's
Markdown gives a meaning to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commscope.sanitize import plain, shortened

#: GitHub refuses a longer comment.
MOST_CHARACTERS = 65_536

_BACKTICKS = re.compile("`+")
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#|~!&$])")
#: After these GitHub would make a link or a picture of a word without any markup: mentions, issues,
#: addresses, emoji. Its names may hold what is escaped by now.
_LINKED = re.compile(r"[@#](?=\w)|(?<=\w)://|(?<=[wW]{3})\.|(?<=[gG][hH])-(?=\d)|:(?=[\w+\\-]+:)")
#: So does it of the number of a commit, which begins anywhere that a word does.
_COMMIT = re.compile(r"\b[0-9a-fA-F]{7,40}\b")
#: The longest piece of one that is too short for a number.
_PIECE = re.compile(r".{1,6}")
_LISTED = re.compile(r"^(\s*\d+)([.)])(?!\S)|^(\s*)([-+=])")
#: Breaks a word for those who look for links in it, and is not seen.
BREAK = "<!-- -->"


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
    apart = _LINKED.sub(lambda found: f"{found[0]}{BREAK}", escaped)
    return _COMMIT.sub(lambda found: BREAK.join(_PIECE.findall(found[0])), apart)


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


def bullets(lines: Iterable[str]) -> str:
    """A list of sentences."""
    return "".join(f"- {prose(line)}\n" for line in lines)


def details(summary: str, body: str) -> str:
    """A part that is folded; both are Markdown, the summary of one line."""
    return f"<details>\n<summary>\n\n{summary}\n\n</summary>\n\n{body}\n</details>\n"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document, left out whole where there is no room; nothing without a body."""

    title: str
    body: str
    is_folded: bool = False

    def __str__(self) -> str:
        if self.is_folded:
            return f"\n{details(self.title, self.body)}"
        return f"\n### {self.title}\n\n{self.body}"


def fitted(marker: str, head: str, sections: Iterable[Section], most: int = MOST_CHARACTERS) -> str:
    """A document of ``most`` characters at most; the last line names what it has no room for.

    Sections are left out from the end. The marker is a comment by which the document is found
    again; it and the head must fit.
    """
    there = [section for section in sections if section.body]
    parts, left_out = [f"{marker}\n{head}"], list[str]()
    room = most - len(parts[0]) - sum(len(section.title) + 4 for section in there) - 80
    for section in there:
        text = str(section)
        if left_out or len(text) > room:
            left_out.append(section.title)
        else:
            room -= len(text)
            parts.append(text)
    if left_out:
        parts.append(f"\nLeft out, as there is no room for more: {', '.join(left_out)}.\n")
    return "".join(parts)
