"""The bound of gain and the sentence."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import Gpu, comm, reading, traces

from commscope.report.build import build_report
from commscope.report.summary import upper_bound
from commscope.units import percent, size, span


def steps(rows) -> pa.Table:
    names = ("rank", "step", "window_ns", "exposed_comm_ns")
    return pa.table({n: pa.array([r[i] for r in rows], pa.int64()) for i, n in enumerate(names)})


def test_the_bound_is_the_gain_of_the_slowest_rank():
    bound = upper_bound(steps([(0, 1, 100, 70), (1, 1, 100, 5)]))
    assert bound is not None
    assert bound.exposed_hidden_ns == 5
    assert bound.speedup == pytest.approx(100 / 95)


def test_no_bound_where_a_number_is_withheld():
    assert upper_bound(steps([(0, 1, 100, 70), (1, 1, 100, None)])) is None
    assert upper_bound(steps([])) is None


@pytest.mark.parametrize(
    ("longer", "says"),
    [(0, "10 ns on every rank."), (4, "14 ns on rank 1 (the most), 10 ns on rank 0 (the least).")],
)
def test_ranks_are_told_apart_where_they_differ(longer, says):
    ranks = [
        reading(Gpu(0, 20), comm(30, 10 + more), file=f"rank{rank}.json", rank=rank)
        for rank, more in enumerate((0, longer))
    ]
    assert says in build_report(traces(ranks)).summary.verdict


ROW = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 10**12), st.floats(0, 1)).map(
    lambda r: (r[0], r[1], r[2], int(r[2] * r[3]))
)


@given(st.lists(ROW, min_size=1, max_size=20, unique_by=lambda r: r[:2]))
def test_the_bound_never_exceeds_the_exposed_time(rows):
    bound = upper_bound(steps(rows))
    if bound is not None:
        assert min(slowest_ranks(rows)) <= bound.exposed_hidden_ns <= max(slowest_ranks(rows))
        assert bound.speedup >= 1


def slowest_ranks(rows) -> list[int]:
    """Of every step, what is exposed on the rank with most to do besides (the most, of equals)."""
    exposed = []
    for number in {row[1] for row in rows}:
        of_step = [row for row in rows if row[1] == number]
        most = max(row[2] - row[3] for row in of_step)
        exposed.append([row[3] for row in of_step if row[2] - row[3] == most])
    return [value for equals in exposed for value in equals]


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "0 ns"), (999, "999 ns"), (1_000, "1.00 us"), (27_229_423, "27.2 ms"),
     (123_456_789_012, "123.5 s"), (4_000_000_000_000, "4,000 s")],
)  # fmt: skip
def test_spans(ns, text):
    assert span(ns) == text


@pytest.mark.parametrize(
    ("count", "text"), [(12, "12 B"), (27_287_552, "27.29 MB"), (4096, "4.096 kB")]
)
def test_sizes(count, text):
    assert size(count) == text


def test_shares():
    assert percent(0.3534) == "35.3 %"
    assert percent(None) == "?"
