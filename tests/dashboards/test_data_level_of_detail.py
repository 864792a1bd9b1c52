"""What a window shows, against a count of every nanosecond of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_views import simulated, straggler

from commscope.dashboards.data.categories import COMPUTE, EXPOSED_PARTS
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.covered import Covered
from commscope.dashboards.data.lanes import Events, Lane, lane_of
from commscope.dashboards.data.level_of_detail import FULL, LaneView, Window, edges_of, lane_view
from commscope.dashboards.data.names import NameBook
from commscope.dashboards.data.searching import Collectives, Searcher
from commscope.intervals import measure, union

#: (start, length, category, stream)
Event = tuple[int, int, int, int]
NAMES = NameBook(("even", "odd"))

events = st.lists(
    st.tuples(
        st.integers(-300, 300),
        st.one_of(st.just(1), st.integers(0, 60), st.integers(0, 600)),
        st.integers(1, 3),
        st.integers(0, 1),
    ),
    max_size=100,
)
windows = st.tuples(st.integers(-400, 400), st.integers(1, 800), st.integers(1, 90))
clocks = st.builds(RankClock, st.integers(-1000, 1000), st.just(0.0), st.just(0))


@dataclass(frozen=True)
class Found:
    """What brute force finds: rectangles, by category the share of each column, hits a column."""

    bars: list[tuple[int, int, int, int]]  #: event, start since the window's, length, category
    shares: dict[int, list[int]]
    hits: list[int]


def lanes(given_events: list[Event]) -> tuple[Lane, Lane]:
    """A lane of all events, and that of stream 0."""
    columns = np.array(given_events, np.int64).reshape(-1, 4).T
    found = Events.of(
        columns[0], columns[1], (columns[0] % 2).astype(np.uint8),
        columns[2].astype(np.uint8), np.arange(columns.shape[1]),
    )  # fmt: skip
    whole = lane_of(1, (0, "compute", "compute", None), found)
    of_stream = np.flatnonzero(columns[3][found.source.astype(np.int64)] == 0)
    return whole, lane_of(2, (0, "stream", "stream 0", 1), found, of_stream, whole)


def by_hand(lane: Lane, t0: int, t1: int, px: int, offset: int) -> Found:
    edges = [t0 + (t1 - t0) * column // px for column in range(px + 1)]
    shown = [
        (
            event,
            int(lane.events.start[event]) - offset,
            int(lane.events.duration[event]),
            int(lane.events.category[event]),
        )
        for event in lane.places(np.arange(len(lane))).tolist()
    ]
    wide = [of for of in shown if of[2] * px >= t1 - t0]
    bars = [(e, s - t0, d, c) for e, s, d, c in wide if d and s < t1 and s + d > t0]
    shares = {}
    for category in {of[3] for of in shown}:
        left = instants(shown, category) - instants(wide, category)
        columns = [sum(t in left for t in range(a, b)) for a, b in pairwise(edges)]
        if any(columns):
            widths = [b - a for a, b in pairwise(edges)]
            shares[category] = [-(-n * FULL // max(w, 1)) for n, w in zip(columns, widths)]
    narrow_odd = [of for of in shown if of not in wide and (of[1] + offset) % 2]
    hits = [sum(a <= of[1] < b for of in narrow_odd) for a, b in pairwise(edges)]
    return Found(bars, shares, hits)


def instants(shown: list[tuple[int, int, int, int]], category: int) -> set[int]:
    return {t for _, s, d, c in shown if c == category for t in range(s, s + d)}


def found_in(view: LaneView) -> Found:
    bars = zip(
        view.event.tolist(), view.start.astype(int).tolist(), view.duration.astype(int).tolist(),
        view.category.tolist(),
    )  # fmt: skip
    assert view.hits is not None
    return Found(list(bars), dict(zip(view.categories, view.density.tolist())), view.hits.tolist())


@given(events, windows, clocks)
def test_equals_brute_force(given_events: list[Event], of: tuple[int, int, int], clock) -> None:
    t0, length, px = of
    window = Window.of(t0, t0 + length, px, clock)
    odd = Searcher(NAMES, Collectives(np.empty(0, np.uint32), np.empty(0, np.uint32), ())).found(
        "od"
    )
    for lane in lanes(given_events):
        view = lane_view(lane, window, odd)
        assert found_in(view) == by_hand(lane, t0, t0 + length, px, clock.offset_ns)
        assert view.hit is not None
        is_odd = [lane.events.start[event] % 2 for event in view.event.tolist()]
        assert view.hit.tolist() == is_odd
        assert view.density.shape == (len(view.categories), px)


@given(events)
def test_what_shares_a_row_does_not_meet(given_events: list[Event]) -> None:
    for lane in lanes(given_events):
        event = lane.places(np.arange(len(lane)))
        start, end = lane.events.start[event], lane.events.ends(event)
        for row in range(min(lane.depth, 31)):
            mine = lane.row == row
            assert (start[mine][1:] >= end[mine][:-1]).all()
        assert lane.depth == int(lane.row.max(initial=0)) + 1


@given(
    st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(0, 2**35)), max_size=80),
    st.lists(st.integers(-(2**41), 2**41), min_size=2, max_size=30),
)
def test_covered_times(intervals: list[tuple[int, int]], times: list[int]) -> None:
    """Blocks whose starts or sums need more than 32 bits too."""
    start, length = np.array(intervals, np.int64).reshape(-1, 2).T
    found = union(start, start + length)
    covered, edges = Covered.of(found), np.sort(np.array(times))
    spans = list(zip(found.starts.tolist(), found.ends.tolist()))
    before = [sum(max(min(t, b) - a, 0) for a, b in spans) for t in edges.tolist()]
    assert covered.until(edges).tolist() == before
    assert covered.between(edges).tolist() == np.diff(before).tolist()
    assert covered.within(int(edges[0]), int(edges[-1])) == before[-1] - before[0]
    assert [covered.interval(place) for place in range(covered.count)] == spans
    for t in edges.tolist():
        assert covered.begun_before(t) == sum(a < t for a, _ in spans)


@given(st.integers(-(2**53), 2**53 - 1), st.integers(1, 2**53), st.integers(1, 16_384))
def test_columns_are_whole_nanoseconds(t0: int, length: int, px: int) -> None:
    edges = edges_of(t0, t0 + length, px)
    some = sorted({0, 1, px // 2, px - 1, px})
    assert edges[some].tolist() == [t0 + length * column // px for column in some]


@given(st.integers(-(2**45), 2**45), st.floats(-1e-4, 1e-4), st.integers(-(2**50), 2**50))
def test_clocks_lead_back(offset: int, drift: float, common: int) -> None:
    clock = RankClock(offset, drift, 12_345)
    assert abs(clock.common_time(clock.own_time(common)) - common) <= 1


@pytest.mark.parametrize("px", [1, 7, 4096])
def test_an_empty_lane_shows_nothing(px: int) -> None:
    view = lane_view(lanes([])[0], Window.of(0, 100, px, RankClock(0, 0.0, 0)))
    assert (len(view.start), view.categories, view.density.shape) == (0, (), (0, px))


@pytest.mark.parametrize("run", [straggler, simulated], ids=["one host", "four hosts"])
def test_the_minimap_is_the_mean_of_the_ranks(run) -> None:
    found, px = run(), 37
    view, line = found.view, found.analysis.timeline
    t0, t1 = view.layout.t0, view.layout.t1
    (lane,) = view.query(t0, t1, px, [0])
    parts = [
        lane.density[lane.categories.index(of)] for of in EXPOSED_PARTS if of in lane.categories
    ]
    exposed = np.sum(parts, axis=0, dtype=np.int64)
    for category, of in ((COMPUTE, line.compute), (None, line.exposed_comm)):
        sums, width = np.zeros(px, np.int64), np.zeros(px, np.int64)
        for rank, clock in enumerate(view.clocks):
            own = clock.to_own(edges_of(t0, t1, px))
            width += np.diff(own)
            first, last = line.first_ns[rank], line.last_ns[rank]
            axis = np.clip(own + view.layout.origin_ns, first, last) + line.shift_ns[rank]
            sums += measure(of, axis[:-1], axis[1:])
        wanted = -(-sums * FULL // width)
        if category is None:  # each part is rounded up
            assert ((exposed >= wanted) & (exposed < wanted + len(parts))).all()
        else:
            shown = lane.density[lane.categories.index(category)]
            assert shown.tolist() == wanted.tolist()
