"""Ranks and time of a trace: what is kept, and that its tables still fit each other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from builders import TraceBuilder
from converted import rows
from small_run import write_run

import commscope
from commscope.columns import int64
from commscope.convert import Selection, select
from commscope.errors import UsageError
from commscope.trace import Trace

US = 1_000
#: The base of the builder's files, and the first kernel.
FIRST_NS = 1_700_000_000 * 10**9 + 1010 * US


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """Two ranks of three steps of 100 us; each has a kernel and an all-reduce behind it."""
    return commscope.load(write_run(tmp_path / "run"))


def _spans(trace: Trace) -> list[tuple[int, int, int]]:
    """Rank, begin and end of each activity, in us after the first."""
    rank, start, length = (int64(trace.events, key) for key in ("rank", "start_ns", "dur_ns"))
    begin = (start - FIRST_NS) // US
    return list(zip(rank.tolist(), begin.tolist(), (begin + length // US).tolist()))


def test_all_is_kept_by_default(trace: Trace) -> None:
    found = select(trace, Selection())
    for name in ("events", "host", "collectives", "steps", "ranks"):
        assert getattr(found, name).equals(getattr(trace, name))


def test_rank(trace: Trace) -> None:
    found = select(trace, Selection(frozenset([1])))
    for name in ("events", "host", "collectives", "steps", "all_steps", "ranks"):
        assert set(getattr(found, name).column("rank").to_pylist()) == {1}
    half = trace.events.slice(trace.events.num_rows // 2)
    assert rows(found.events, "EVENTS") == rows(half, "EVENTS")
    assert len(found.classes.of_event) == found.events.num_rows


def test_time_keeps_whole_what_runs_in_it(trace: Trace) -> None:
    found = select(trace, Selection(frozenset([0]), 45 * US, 101 * US))
    assert _spans(found) == [(0, 40, 60), (0, 100, 140)]
    names = found.events.column("name").to_pylist()
    kernels = np.flatnonzero(["AllReduce" in name for name in names]).tolist()
    assert found.collectives.column("event").to_pylist() == kernels


@pytest.mark.parametrize(
    ("first", "last", "begins"),
    [(40, 41, [40]), (39, 40, [0]), (60, None, [100, 140, 200, 240]), (None, 1, [0])],
)
def test_bounds_are_half_open(
    trace: Trace, first: int | None, last: int | None, begins: list[int]
) -> None:
    bounds = [None if bound is None else bound * US for bound in (first, last)]
    found = select(trace, Selection(frozenset([0]), *bounds))
    assert [begin for _, begin, _ in _spans(found)] == begins


def test_calls_that_launched_what_is_kept_are_kept(trace: Trace) -> None:
    found = select(trace, Selection(frozenset([0]), 45 * US, 50 * US))
    launched = set(found.events.column("correlation").to_pylist())
    host = [row for row in rows(found.host, "HOST") if row["kind"] == "launch"]
    assert {row["correlation"] for row in host} == launched
    assert len(host) == 1


def test_same_correlation_on_another_rank_is_another(trace: Trace) -> None:
    found = select(trace, Selection(frozenset([1]), 45 * US, 50 * US))
    assert set(found.host.column("rank").to_pylist()) == {1}


def test_steps_are_those_that_run_in_the_time(trace: Trace) -> None:
    found = select(trace, Selection(frozenset([0]), 110 * US, 120 * US))
    assert found.steps.column("step").to_pylist() == [1]


def test_impossible_times_are_no_begin(tmp_path: Path) -> None:
    builder = TraceBuilder().launch(5).kernel("broken", -1, 5)
    builder.launch(6).kernel("whole", 10, 5).launch(30).kernel("later", 40, 5)
    file = tmp_path / "rank0.json"
    file.write_text(json.dumps(builder.document()))
    found = select(commscope.load(file), Selection(to_ns=10 * US))
    assert found.events.column("name").to_pylist() == ["whole"]


def test_what_is_not_there(trace: Trace) -> None:
    with pytest.raises(UsageError, match="rank 7: the trace has no such rank; it has 0 to 1"):
        select(trace, Selection(frozenset([0, 7])))
    with pytest.raises(UsageError, match="no activity of these ranks runs"):
        select(trace, Selection(from_ns=10**9))
