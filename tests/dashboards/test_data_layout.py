"""Lanes, ranks and groups of a run."""

from __future__ import annotations

import json

import pytest
from run_views import CLOCKS, SECOND, Shown, real, simulated, straggler

from commscope.classify import FAMILIES
from commscope.dashboards.data.categories import CATEGORIES, number_of

KINDS = ("steps", "compute", "communication", "copy", "exposed")


def test_every_rank_has_every_lane() -> None:
    layout = straggler().view.layout
    for rank in layout.ranks:
        kinds = [layout.lanes[number - 1].kind for number in rank.lanes]
        assert [kind for kind in kinds if kind in KINDS] == list(KINDS)
        assert {"stream", "thread"} <= set(kinds)
    assert [lane.id for lane in layout.lanes] == list(range(1, len(layout.lanes) + 1))


def test_parts_stand_behind_what_they_are_part_of() -> None:
    run = straggler()
    lanes = run.view.layout.lanes
    for lane in lanes:
        if lane.parent is not None:
            parent = lanes[lane.parent - 1]
            assert parent.id < lane.id
            assert parent.rank == lane.rank
            wanted = ("steps",) if lane.kind == "thread" else ("compute", "communication", "copy")
            assert parent.kind in wanted
    for parent in (lane for lane in run.view.lanes if lane.kind == "communication"):
        parts = [lane for lane in run.view.lanes if lane.parent == parent.id]
        assert sum(len(part) for part in parts) == len(parent)


def test_events_are_on_exactly_one_lane() -> None:
    run = real("kineto/dlrm8_v100")
    rows = [
        row
        for lane in run.view.lanes
        if lane.kind in ("compute", "communication", "copy")
        for row in lane.events.source.tolist()
    ]
    assert sorted(rows) == run.analysis.timeline.activities.row.tolist()
    calls = [len(lane) for lane in run.view.lanes if lane.kind == "thread"]
    assert sum(calls) == run.analysis.trace.host.num_rows


def test_layout_is_json_that_browsers_can_hold() -> None:
    document = straggler().view.numbered(3).layout.to_dict()
    read = json.loads(json.dumps(document))
    assert read["run"] == 3
    assert int(read["origin_ns"]) == straggler().view.layout.origin_ns
    assert read["categories"][1] == {"id": 1, "name": "gemm", "label": "gemm"}
    assert set(read["clocks"]) == {"method", "error_ns", "text"}
    assert read["t0"] < 0 < read["t1"]


def test_categories_have_fixed_numbers() -> None:
    assert [category.id for category in CATEGORIES] == list(range(len(CATEGORIES)))
    assert {category.name for category in CATEGORIES} > set(FAMILIES)
    assert (number_of("step"), number_of("communication"), number_of("copy")) == (0, 13, 17)


def test_the_late_rank_has_least_exposed() -> None:
    (group,) = straggler().view.layout.groups
    assert (group.by, group.least, group.most) == ("host", 1, 0)


@pytest.fixture(scope="module")
def grid() -> Shown:
    """32 ranks: two that share layers, eight copies, two stages."""
    return simulated(ranks=32, per_host=8, steps=1)


def test_many_ranks_are_grouped_by_host_and_role(grid: Shown) -> None:
    groups = grid.view.layout.groups
    sizes = {
        by: {len(group.ranks) for group in groups if group.by == by} for by in ("tp", "dp", "pp")
    }
    assert sizes == {"tp": {2}, "dp": {8}, "pp": {2}}
    for by in ("host", "tp", "dp", "pp"):
        ranks = [rank for group in groups if group.by == by for rank in group.ranks]
        assert sorted(ranks) == list(range(32))
    assert len({group.id for group in groups}) == len(groups)


def test_groups_know_their_extremes(grid: Shown) -> None:
    share = {rank.rank: rank.exposed_share for rank in grid.view.layout.ranks}
    for group in grid.view.layout.groups:
        shares = sorted((share[rank], rank) for rank in group.ranks)
        found = (group.least, group.median, group.most)
        assert found == tuple(shares[place][1] for place in (0, len(shares) // 2, -1))


def test_clocks_of_hosts_are_brought_together() -> None:
    run = simulated()
    layout = run.view.layout
    assert layout.t1 - layout.t0 < SECOND // 5
    offsets = [clock.offset_ns for clock in run.view.clocks]
    planted = [0, *(CLOCKS[f"host{number}"].offset_ns for number in (1, 2, 3))]
    for number, wanted in enumerate(planted):
        assert abs(offsets[2 * number] - wanted) < 10**6
    assert layout.clocks.error_ns is not None
    assert layout.clocks.text.startswith(layout.clocks.method)
