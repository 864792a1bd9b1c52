"""One value of a trace replaced by anything: a result, or an error that is meant for users."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_run import trace

import commscope

pytestmark = pytest.mark.long

DOCUMENT = json.loads(trace(0))
for number, found in enumerate(DOCUMENT["traceEvents"]):
    found["args"] |= {"External id": number, "Collective name": "allreduce", "In msg nelems": 8}
    found["args"] |= {"dtype": "BFloat16", "Group size": 2, "Process Group Name": "0", "Rank": 0}

POWERS = [2**n for n in (7, 31, 32, 53, 62, 63, 64, 100)]
EXTREMES = st.one_of(
    st.sampled_from(
        [sign * power + more for power in POWERS for sign in (1, -1) for more in (-1, 0)]
    ),
    st.sampled_from([0, 1e308, -1e308, 1e-308, 0.1, None, True, [], {}, "", "-1", "x", "1e400"]),
    st.sampled_from([str(power) for power in POWERS]),
    st.integers(-(2**70), 2**70),
    st.text(max_size=5),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every scalar below a value."""
    if isinstance(value, (dict, list)):
        keys = value.keys() if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from places(value[key], (*at, key))
    else:
        yield at


def replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = value.copy()
    copy[at[0]] = replaced(value[at[0]], at[1:], new)
    return copy


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run") / "rank0.json"


@given(place=st.sampled_from(list(places(DOCUMENT))), new=EXTREMES)
@example(place=("distributedInfo", "rank"), new=2**40)
@example(place=("distributedInfo", "world_size"), new=2**31 - 1)
@example(place=("baseTimeNanoseconds",), new=8 * 10**18)
@example(place=("traceEvents", 3, "args", "device"), new=2**32)
@example(place=("traceEvents", 3, "ts"), new=2**62)
@example(place=("traceEvents", 3, "dur"), new=2**62)
@settings(max_examples=150, deadline=None)
def test_any_value_gives_a_result_or_an_error_for_users(
    file: Path, place: tuple[Any, ...], new: Any
) -> None:
    file.write_text(json.dumps(replaced(DOCUMENT, place, new)))
    with suppress(commscope.CommscopeError):
        report = commscope.analyze(commscope.load(file))
        assert json.loads(report.to_json())["summary"]["ranks"] >= 1


def test_the_trace_itself_gives_a_result(file: Path) -> None:
    file.write_text(json.dumps(DOCUMENT))
    assert commscope.analyze(commscope.load(file)).summary.steps == 3
