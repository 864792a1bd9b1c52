"""Hostile text in Markdown."""

from __future__ import annotations

import re

import pytest

from commscope.report.markdown_text import BREAK, cell, code_span, prose, table

HOSTILE = [
    "<img src=x onerror=alert(1)>", "a|b", "`", "``` x `y`", "[a](http://x)", "@team", "#1",
    "a\nb\n\n# head", "\x1b[31mred", "a\u202eb", "![i](x)", "**b**", "<!-- --", "$x$", "\\|", "|`|",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_code_spans_end_where_they_should(text: str) -> None:
    span = code_span(text)
    fence = re.match("`+", span)
    assert fence is not None
    inside = span[len(fence[0]) : -len(fence[0])]
    assert all(run != fence[0] for run in re.findall("`+", inside))
    assert span.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_cells_hold_no_bar(text: str) -> None:
    assert not re.search(r"(?<!\\)\|", cell(text))
    assert "\n" not in cell(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_prose_holds_no_markup(text: str) -> None:
    bare = re.sub(r"\\[\\`*_{}\[\]()<>#|~!&$.+=-]", "", prose(text)).replace(BREAK, "")
    assert not re.search(r"[`*_\[\]<>#|~!$\n]", bare)


@pytest.mark.parametrize("text", ["- a", "1. a", "+ a", "===", "12) a"])
def test_no_sentence_begins_a_list(text: str) -> None:
    assert prose(text).startswith("\\") or re.match(r"\d+\\", prose(text))


#: What GitHub makes a link or a picture of, in text that is no markup.
LINK = re.compile(r"[@#]\w|\bgh-\d|\w://\w|www\.\w|:[\w+-]+:|\b[0-9a-f]{7,40}\b", re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    ["@team", "to a.b@c.example", "job#12", "#1", "GH-12", "see gh-7", "http://a.b", "www.c.d",
     "Www.c.d", ":tada:", "a :+1: b", ":white_check_mark:", "at 10:20:30:", "fix abcdef1",
     "0123456789abcdef0123456789abcdef01234567", "1234567", "x/y@ABCDEF12", "(deadbeef)"],
)  # fmt: skip
def test_links_are_not_made_of_plain_text(text: str) -> None:
    assert LINK.search(text), "or it shows nothing"
    pieces = re.sub(r"\\(\W|_)", r"\1", prose(text)).split(BREAK)
    assert "".join(pieces) == text
    assert [piece for piece in pieces if LINK.search(piece)] == []


@pytest.mark.parametrize("text", ["Q4: 5 ms, 1.2 GB/s", "a: b: c", "e-mail", "facade", "1,234,567"])
def test_other_text_is_not_broken(text: str) -> None:
    assert BREAK not in prose(text)


def test_a_table() -> None:
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| :-- | --: |\n| 1 | 2 |\n"


def test_nothing_is_no_code() -> None:
    assert code_span(" ") == ""
