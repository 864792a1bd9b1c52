"""Which parser reads a file, and what is said where none does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commscope.errors import AmbiguousFormat, UnknownFormat, UsageError
from commscope.parsers import detect
from commscope.parsers.appearance import looks_like
from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.detect import all_parsers, choose_parser, opinions
from commscope.parsers.opening import Source
from commscope.parsers.registry import PARSERS

FILE = Source(Path("x.json"), label="x.json", size=10)


@dataclass
class Fake:
    """A parser of one confidence in everything."""

    name: str
    confidence: Confidence
    description: str = "made up"
    suffixes: tuple[str, ...] = ()

    def match(self, head: bytes, source: Source) -> Match:
        return Match(self.confidence, f"{self.name} on {len(head)} bytes")

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        return ()


def use(monkeypatch: pytest.MonkeyPatch, **parsers: Confidence) -> None:
    fakes = tuple(Fake(name, confidence) for name, confidence in parsers.items())
    monkeypatch.setattr(detect, "PARSERS", fakes)


def test_the_most_confident_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, a=Confidence.NAME, b=Confidence.MARKER, c=Confidence.STRUCTURE)
    assert choose_parser(b"x", FILE, None).name == "b"
    assert [o.parser.name for o in opinions(b"x", FILE)] == ["b", "c", "a"]


def test_a_tie_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, a=Confidence.NAME, b=Confidence.MARKER, c=Confidence.MARKER)
    with pytest.raises(AmbiguousFormat, match=r"x\.json: fits b and c; choose with --parser"):
        choose_parser(b"x", FILE, None)


def test_the_users_choice_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, a=Confidence.NONE, b=Confidence.MARKER)
    assert choose_parser(b"x", FILE, "a").name == "a"


def test_unknown_choice_lists_the_known(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, a=Confidence.NONE, b=Confidence.MARKER)
    with pytest.raises(UsageError, match="--parser c: known are a, b"):
        choose_parser(b"x", FILE, "c")


def test_nobody_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, a=Confidence.NONE)
    with pytest.raises(UnknownFormat, match=r"x\.json: is text, not a trace; .*: made up$"):
        choose_parser(b"hello", FILE, None)


def test_an_empty_file_is_not_taken_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, a=Confidence.NAME)
    with pytest.raises(UnknownFormat, match="is empty once unpacked"):
        choose_parser(b"", FILE, None)


def test_plug_ins_are_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "plugins", lambda: (Fake("plugin", Confidence.MARKER),))
    assert [p.name for p in all_parsers()] == [*(p.name for p in PARSERS), "plugin"]
    assert choose_parser(b"x", FILE, None).name == "plugin"


def test_names_of_parsers_are_unique() -> None:
    assert len({parser.name for parser in PARSERS}) == len(PARSERS)


@pytest.mark.parametrize(
    ("head", "stored", "looks"),
    [
        (b"", 0, "empty"),
        (b"", None, "empty"),
        (b"", 53, "empty once unpacked, so cut or damaged"),
        (b" \n", 2, "empty"),
        (b"\xff\xd8\xff\xe0", 4, "a JPEG image"),
        (b"%PDF-1.7", 8, "a PDF document"),
        (b"SQLite format 3\0", 16, "an SQLite database"),
        (b"\x7fELF\x02", 5, "a program or a library"),
        (b"  <html>", 8, "an HTML or XML document"),
        (b'\xef\xbb\xbf{"a": 1}', 11, "JSON without trace events"),
        (b"[[1, 2]]", 8, "JSON without trace events"),
        (b"[INFO] starting", 15, "text"),
        (b"a,b,c\r\n1,2,3\r\n", 14, "a table (CSV)"),
        (b"one line, with a comma", 22, "text"),
        ("\u00fcber".encode(), 5, "text"),
        (b"a\x00b", 3, "binary data"),
        (b"a\x01b", 3, "binary data"),
    ],
)
def test_looks(head: bytes, stored: int | None, looks: str) -> None:
    assert looks_like(head, stored) == looks


@given(st.binary(max_size=200))
def test_any_bytes_look_like_something(head: bytes) -> None:
    assert looks_like(head, None)


@pytest.mark.parametrize("piece", [b"a,", b" ", b"a", b'"', b"\n", b"{"])
def test_looking_takes_no_time_that_grows_with_the_square(piece: bytes) -> None:
    assert looks_like(piece * (65536 // len(piece)), None)
