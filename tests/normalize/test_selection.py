"""Which steps the user wants to see."""

from __future__ import annotations

import numpy as np
import pytest
from tables import Gpu, Row, step, trace

from commscope.errors import UsageError
from commscope.normalize.selection import StepSelection


@pytest.mark.parametrize(
    ("text", "skip", "chosen"),
    [
        (None, 0, [3, 4, 5, 9]),
        ("4", 0, [4]),
        ("4-9", 0, [4, 5, 9]),
        (" 3 , 9 ", 0, [3, 9]),
        ("3-4,4-5", 0, [3, 4, 5]),
        (None, 2, [5, 9]),
        ("3-5", 2, [5]),
        ("7", 0, []),
        (None, 4, []),
    ],
)
def test_chosen(text: str | None, skip: int, chosen: list[int]) -> None:
    numbers = np.array([3, 4, 5, 9])
    assert numbers[StepSelection.parse(text, skip).chosen(numbers)].tolist() == chosen


@pytest.mark.parametrize("text", ["", "a", "3-", "-3", "5-4", "3,,4", "3 4", "1.5", "9" * 19])
def test_text_that_is_no_selection(text: str) -> None:
    with pytest.raises(UsageError, match="--steps"):
        StepSelection.parse(text)


@pytest.mark.parametrize(
    ("text", "skip", "says"),
    [
        ("3-7,9", 0, "--steps 3-7,9"),
        (None, 2, "--skip-first 2"),
        ("4", 1, "--steps 4 --skip-first 1"),
    ],
)
def test_as_text(text: str | None, skip: int, says: str) -> None:
    assert str(StepSelection.parse(text, skip)) == says


STEPS: list[Row] = [
    step(4, 10, 10), step(5, 20, 10), Gpu(40, 5, launched=12), Gpu(60, 5, launched=25),
]  # fmt: skip


def test_other_steps_are_left_out_but_keep_their_activities() -> None:
    found = trace(*STEPS, steps=StepSelection.parse("5"))
    assert found.steps.column("step").to_pylist() == [5]
    assert found.events.column("step").to_pylist() == [4, 5]


@pytest.mark.parametrize(
    ("rows", "selection", "says"),
    [
        (STEPS, StepSelection.parse("6-9"), r"--steps 6-9: .* there are steps 4 to 5$"),
        (STEPS, StepSelection.parse(None, 2), r"--skip-first 2: .* there are steps 4 to 5$"),
        (STEPS[1:], StepSelection.parse("4"), r"there is step 5$"),
        (STEPS[2:], StepSelection.parse("4"), r"no step was found; .*--step-marker REGEX$"),
        (STEPS[2:], StepSelection.parse(None, 1), r"no step was found"),
    ],
)
def test_choosing_nothing_is_an_error(rows: list[Row], selection: StepSelection, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        trace(*rows, steps=selection)
