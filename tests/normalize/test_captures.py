"""Several files of one rank: which of them are one capture, and which is shown."""

from __future__ import annotations

import pytest
from tables import Gpu, reading, step, traces

from commscope.errors import RankConflict, UsageError
from commscope.normalize.captures import choose_captures
from commscope.normalize.parts import Part
from commscope.normalize.ranks import split_ranks
from commscope.normalize.selection import StepSelection
from commscope.trace import Note

Span = tuple[int, int]


def _parts(spans: dict[str, Span]) -> list[Part]:
    """Parts of files named ``rank_letter`` that cover these times."""
    readings = [
        reading(Gpu(start, end - start), file=name, rank=int(name[0]))
        for name, (start, end) in spans.items()
    ]
    return split_ranks(readings, {})[0]


def _chosen(spans: dict[str, Span], wanted: int | str | None) -> tuple[list[list[str]], list[Note]]:
    captures, notes = choose_captures(_parts(spans), wanted)
    return [sorted(part.file for part in capture) for capture in captures], notes


ITERATIONS = {"0a": (10, 20), "1a": (11, 21), "0b": (50, 60), "1b": (51, 61)}
#: Rank 1 began later and was recorded once more.
SHIFTED = {"0a": (10, 20), "0b": (50, 60), "1b": (51, 61), "1c": (90, 99)}
UNEQUAL = {"0a": (10, 20), "0b": (50, 60), "1a": (11, 21)}
#: Clocks of two hosts that have nothing to do with each other.
STRANGERS = {"0a": (10, 20), "0b": (50, 60), "1a": (1010, 1020), "1b": (1050, 1060)}
LONG = {"0a": (10, 60), "1a": (11, 21), "1b": (50, 59)}


@pytest.mark.parametrize(
    ("spans", "wanted", "files"),
    [
        (ITERATIONS, None, [["0b", "1b"]]),
        (ITERATIONS, 0, [["0a", "1a"]]),
        (ITERATIONS, "all", [["0a", "1a"], ["0b", "1b"]]),
        (SHIFTED, None, [["0b", "1b"]]),
        (SHIFTED, 2, [["1c"]]),
        (UNEQUAL, None, [["0a", "1a"]]),
        (STRANGERS, None, [["0b", "1b"]]),
        (STRANGERS, 0, [["0a", "1a"]]),
        (LONG, None, [["0a", "1a"]]),
        (LONG, 1, [["1b"]]),
        ({"0a": (10, 20), "0b": (30, 40)}, None, [["0b"]]),
        ({"0a": (10, 20), "1a": (900, 999)}, None, [["0a", "1a"]]),
        ({"0a": (10, 20)}, 0, [["0a"]]),
    ],
)
def test_chosen_files(
    spans: dict[str, Span], wanted: int | str | None, files: list[list[str]]
) -> None:
    assert _chosen(spans, wanted)[0] == files


@pytest.mark.parametrize(
    ("spans", "number", "says"),
    [(ITERATIONS, 2, "captures 0 to 1"), ({"0a": (10, 20)}, 1, "capture 0 only")],
)
def test_capture_that_is_not_there(spans: dict[str, Span], number: int, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        _chosen(spans, number)


def test_what_is_left_out_is_said() -> None:
    (note,) = _chosen(UNEQUAL, 1)[1]
    assert note.says == (
        "capture 1 of 0 to 1 is shown, with 1 of 2 ranks; the others are left out "
        "(--capture N or --capture all)"
    )
    assert not _chosen({"0a": (10, 20)}, None)[1]


@pytest.mark.parametrize("later", [(19, 30), (10, 20), (12, 14)])
def test_files_of_one_rank_that_overlap(later: Span) -> None:
    with pytest.raises(RankConflict, match="0a and 0b"):
        _chosen({"0a": (10, 20), "0b": later}, None)


def test_files_that_touch_are_captures() -> None:
    assert _chosen({"0a": (10, 20), "0b": (20, 30)}, "all")[0] == [["0a"], ["0b"]]


def test_impossible_times_are_no_part_of_the_span() -> None:
    files = [
        reading(Gpu(0, 0), Gpu(10**15, 5), file="0a", rank=0),
        reading(Gpu(10**15 + 50, 5), Gpu((1 << 63) - 1, 0), file="0b", rank=0),
    ]
    captures, _ = choose_captures(split_ranks(files, {})[0], "all")
    assert [part.file for capture in captures for part in capture] == ["0a", "0b"]


@pytest.mark.parametrize(
    ("second", "numbers"), [(3, [3, 4, 5, 6]), (7, [3, 4, 7, 8]), (4, [3, 4, 5, 6])]
)
def test_steps_of_all_captures_have_their_own_numbers(second: int, numbers: list[int]) -> None:
    def file(name: str, first: int, at: int) -> object:
        rows = [Gpu(at + 5, 5, launched=at + 1), Gpu(at + 15, 5, launched=at + 11)]
        steps = [step(first, at, 10), step(first + 1, at + 10, 10)]
        return reading(*rows, *steps, file=name, rank=0)

    found = traces([file("a", 3, 100), file("b", second, 900)], capture="all")
    assert found.steps.column("step").to_pylist() == numbers
    assert found.events.column("step").to_pylist() == numbers
    assert found.steps.column("open").to_pylist() == [False, True, False, True]
    assert any("2 captures" in note.says for note in found.notes)


def test_steps_are_skipped_once_a_rank_not_once_a_capture() -> None:
    files = [
        reading(
            step(1, at, 10), Gpu(at + 5, 5, launched=at + 1),
            step(2, at + 10, 10), Gpu(at + 15, 5, launched=at + 11),
            file=f"{rank}-{at}", rank=rank,
        )
        for rank in (0, 1) for at in (100, 900)
    ]  # fmt: skip
    found = traces(files, capture="all", steps=StepSelection.parse(None, 1))
    assert found.steps.column("rank").to_pylist() == [0, 0, 0, 1, 1, 1]
    assert found.steps.column("step").to_pylist() == [2, 3, 4] * 2
