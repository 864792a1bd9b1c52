"""``--step-time``: the step without the profiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from commscope.errors import UsageError
from commscope.gate.step_times import step_time_ns


@pytest.mark.parametrize(
    ("text", "median_ns"),
    [
        ("27.1\n27.3\n26.9\n27.2\n27.0\n", 27.1e6),
        ("  27.1  \n\n", 27.1e6),
        ('{"step_times_ms": [1, 2, 3, 4, 100]}', 3e6),
        ("[5, 5, 5, 5, 5.5]", 5e6),
        ('{"rank": 0, "unprofiled_step_ms": 27.116}\n', 27_116_000),
    ],
)
def test_files(tmp_path: Path, text: str, median_ns: float) -> None:
    file = tmp_path / "times"
    file.write_text(text)
    assert step_time_ns(str(file)) == median_ns


def test_a_number() -> None:
    assert step_time_ns("27.5") == 27.5e6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has 0 step times"),
        ("1\n2\n3\n", "has 3 step times: at least 5"),
        ("27.1\nfast\n", "line 2: 'fast' is no time in ms"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"step_times_ms": [true]}', "no JSON"),
        ('{"times": [1]}', "no JSON"),
        ("[0]", "0 is no step"),
        ("[NaN]", "nan is no step"),
        ("99999999999", "is no time in ms"),
        ("1\n" * (3 << 20), "larger than 4 MB"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "times"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"--step-time .*times") as caught:
        step_time_ns(str(file))
    assert says in str(caught.value)


def test_no_such_file() -> None:
    with pytest.raises(UsageError, match="neither a number of ms nor a file"):
        step_time_ns("nowhere")
