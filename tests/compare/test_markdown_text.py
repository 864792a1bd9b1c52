"""Hostile text in Markdown."""

from __future__ import annotations

import re

import pytest

from commscope.report.markdown_text import cell, code_span, prose, table

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
    bare = re.sub(r"\\[\\`*_{}\[\]()<>#|~!&$.+=-]", "", prose(text)).replace("<!-- -->", "")
    assert not re.search(r"[`*_\[\]<>#|~!$\n]", bare)
    assert not re.search(r"@\w", bare.replace("@", "@ ") if "<!-- -->" in prose(text) else bare)


@pytest.mark.parametrize("text", ["- a", "1. a", "+ a", "===", "12) a"])
def test_no_sentence_begins_a_list(text: str) -> None:
    assert prose(text).startswith("\\") or re.match(r"\d+\\", prose(text))


def test_links_are_not_made_of_plain_text() -> None:
    assert prose("see http://a.b and www.c.d").count("<!-- -->") == 2


def test_a_table() -> None:
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| :-- | --: |\n| 1 | 2 |\n"


def test_nothing_is_no_code() -> None:
    assert code_span(" ") == ""
