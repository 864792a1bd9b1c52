"""Pieces that pages are put together from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from commscope.sanitize import shortened

_MOST_TEXT = 2_000
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[num]?s\b|[kMG]?B\b))")
Content = Component | str | None


def page(title: str, *content: Content) -> html.Div:
    """A page under its heading."""
    return html.Div([html.H1(title), *present(content)], className="page")


def section(name: str, title: str, *content: Content) -> html.Section:
    """A part of a page under its heading; ``name`` is its own on the page."""
    heading = f"{name}-heading"
    named: Any = {"aria-labelledby": heading}
    return html.Section([html.H2(title, id=heading), *present(content)], id=name, **named)


def present(content: Sequence[Content]) -> list[Any]:
    """What there is of it."""
    return [each for each in content if each is not None]


def prose(words: str) -> str:
    """Harmless sentences in which no line ends between a number and its unit."""
    return _UNIT.sub("\u00a0", shortened(words, _MOST_TEXT))


def paragraph(words: str, look: str = "") -> html.P:
    """A paragraph."""
    return html.P(prose(words), className=look)


def titled(title: str, chart: Component | None, missing: str, note: str = "") -> html.Section:
    """A chart under its title; a sentence where it cannot be drawn."""
    drawn = empty(missing) if chart is None else chart
    notes = [html.P(note, className="note")] if note and chart is not None else []
    return html.Section([html.H2(title), drawn, *notes])


def empty(words: str) -> html.P:
    """Why there is nothing to see, and what to do about it: what is `typed` between backticks."""
    parts = prose(words).split("`")
    said = [html.Code(part) if place % 2 else part for place, part in enumerate(parts)]
    return html.P(said, className="empty")


def sentence(words: str) -> str:
    """A sentence, of what begins and ends as part of one."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"
