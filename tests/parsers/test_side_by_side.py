"""Pieces of a file on all cores: in order, and not further ahead than memory allows."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from commscope.parsers import side_by_side as module
from commscope.parsers.side_by_side import side_by_side


def test_in_the_order_of_the_pieces() -> None:
    first_may_end = threading.Event()

    def work(piece: int) -> int:
        if piece == 0:
            assert first_may_end.wait(60)
        if piece == 1:
            first_may_end.set()
        return -piece

    assert list(side_by_side(work, range(2), name="test")) == [0, -1]


def test_no_more_pieces_are_taken_than_threads_and_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "core_count", lambda: 3)
    taken: list[int] = []

    def pieces() -> Iterator[int]:
        for piece in range(50):
            taken.append(piece)
            yield piece

    for done, piece in enumerate(side_by_side(abs, pieces(), name="test")):
        assert piece == done
        assert len(taken) <= done + 3 + 1


def test_an_error_reaches_who_takes_the_pieces() -> None:
    with pytest.raises(ZeroDivisionError):
        list(side_by_side(lambda piece: 1 // piece, [1, 0, 1], name="test"))
    assert not [t for t in threading.enumerate() if t.name.startswith("test")]
