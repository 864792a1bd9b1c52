"""Text from outside, made harmless."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commscope.sanitize import json_text, plain, shortened

#: Marks that no control category holds but that still change how a line reads.
_REORDERING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def test_no_control_character_survives_of_all_there_are() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    kept = plain(everything)
    assert len(kept) == len(everything)
    assert not [c for c in kept if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(kept) & set(_REORDERING)
    kept.encode("utf-8")


@pytest.mark.parametrize(
    "text", ["gemm<float, 4>", "\u00fcber \u65e5\u672c \U0001f600", "[bold red]x[/]", "a b", ""]
)
def test_ordinary_text_stays(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "\ufffd[31mred"),
        ("a\r\nb\tc", "a\ufffd\ufffdb\ufffdc"),
        ("\x9b31m", "\ufffd31m"),
        ("a\u202eb", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("no\ufffexml\uffff", "no\ufffdxml\ufffd"),
    ],
)
def test_hostile_text_is_replaced_one_to_one(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_json_keeps_any_text_and_shows_none_that_is_hostile(text: str) -> None:
    written = json_text({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert all(plain(line) == line for line in written.split("\n"))


def test_json_has_one_form() -> None:
    assert json_text({"b": 1, "a": ["\x7f\x9b\u202e\U000e0041\u00fc\ud800"]}) == (
        '{\n "a": [\n  "\\u007f\\u009b\\u202e\\udb40\\udc41\u00fc\\ufffd"\n ],\n "b": 1\n}\n'
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_has_no_number_that_json_lacks(value: float) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        json_text([value])


@given(st.text(), st.integers(0, 20))
def test_shortened_never_is_too_long_and_keeps_the_begin(text: str, width: int) -> None:
    short = shortened(text, width)
    assert len(short) <= max(width, 1)
    assert short == plain(text) or (short[-1] == "\u2026" and plain(text).startswith(short[:-1]))


@given(st.text(alphabet=st.characters()))
def test_plain_is_idempotent(text: str) -> None:
    assert plain(plain(text)) == plain(text)
