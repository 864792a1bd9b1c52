"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from commscope.wording import counted, distinct_names, listed, on_ranks, rank_list, rank_spans


def test_counted_things_have_their_plural() -> None:
    assert [counted(n, "file") for n in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]
    assert counted(1, "file was", "files were") == "1 file was"
    assert counted(3, "file was", "files were") == "3 files were"


@pytest.mark.parametrize(
    ("words", "text"),
    [([], ""), ("a", "a"), ("abcd", "a, b, c, d"), ("abcde", "a, b, c, d and 1 more")],
)
def test_of_long_lists_the_first_are_named(words: Iterable[object], text: str) -> None:
    assert listed(words) == text


def test_as_many_are_named_as_asked_for() -> None:
    assert listed(range(3000), most=2) == "0, 1 and 2,998 more"


def test_ranks_are_listed_in_the_order_given() -> None:
    assert rank_list(iter([3])) == "rank 3"
    assert rank_list([5, 0, 2], most=2) == "ranks 5, 0 and 1 more"


def test_ranks_are_named_only_where_there_are_several() -> None:
    assert on_ranks([7, 3, 7], 8) == " on ranks 3, 7"
    assert on_ranks([3], 8) == " on rank 3"
    assert (on_ranks([0], 1), on_ranks([], 8)) == ("", "")


@pytest.mark.parametrize(
    ("ranks", "text"),
    [([3], "rank 3"), ([2, 0, 1, 1], "ranks 0-2"), ([0, 2, 4], "ranks 0, 2, 4"), ([], "ranks "),
     (range(0, 40, 2), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more spans")],
)  # fmt: skip
def test_ranks_as_spans(ranks: Iterable[int], text: str) -> None:
    assert rank_spans(ranks) == text


def test_one_rank_waits_and_two_wait() -> None:
    assert rank_spans([3], "wait") == "rank 3 waits"
    assert rank_spans([1, 2], "wait") == "ranks 1-2 wait"


@pytest.mark.parametrize(
    ("names", "distinct"),
    [
        ("a,b,a,a", "a,b,a (2),a (3)"),
        ("a,a (2),a", "a,a (2),a (3)"),
        ("a,a,a (2),a (2)", "a,a (3),a (2),a (2) (2)"),
    ],
)
def test_names_are_told_apart(names: str, distinct: str) -> None:
    assert distinct_names(names.split(",")) == distinct.split(",")
