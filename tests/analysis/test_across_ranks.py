"""Collectives matched across ranks on real cases, against an independent reference."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matched import Matched, match_case
from support import case

from commscope.analysis.stragglers import straggler_verdicts
from commscope.analysis.waiting import call_waits, waiting_of
from commscope.columns import codes, int64

CASES = (
    "a2a", "blocking_stdout", "ddp_default", "ddp_nosteps", "ddp_small_buckets", "ddp_straggler",
    "fsdp", "tp", "kineto/dlrm8_v100",
)  # fmt: skip
each_case = pytest.mark.parametrize("name", CASES)


def _path(name: str) -> str:
    return name if "/" in name else f"h200/{name}"


def _table(name: str) -> list[list[str]]:
    """The rows of a case in the table "Across ranks"."""
    text = case("h200/README.md").read_text(encoding="utf-8").split("## Across ranks")[1]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    return [row for row in rows if row and row[0] == name]


def _ns(microseconds: str) -> int:
    return round(float(microseconds) * 1000)


def _skews_us(found: Matched) -> np.ndarray:
    """How far the ends of each instance are apart."""
    matching = found.matching
    count, ok = len(matching.first_row), matching.instance >= 0
    first, last = np.full(count, 1 << 62), np.full(count, -(1 << 62))
    np.minimum.at(first, matching.instance[ok], matching.finish_ns[ok])
    np.maximum.at(last, matching.instance[ok], matching.finish_ns[ok])
    return (last - first) / 1000


@each_case
def test_ranks_equal_the_reference(name: str) -> None:
    found = match_case(_path(name))
    matching = found.matching
    ranks = found.analysis.ranks.to_pylist()
    caused = np.zeros(len(ranks), np.int64)
    ok = matching.instance >= 0
    np.add.at(caused, matching.straggler[matching.instance[ok]], matching.wait_ns[ok])
    expected = _table(name)
    assert [int(row[3]) for row in expected] == [row["rank"] for row in ranks]
    for index, (_, _, _, _, exposed, wait, last_in, share, transfer) in enumerate(expected):
        row = ranks[index]
        assert abs(row["exposed_comm_ns"] - _ns(exposed)) <= 1
        assert abs(row["exposed_wait_ns"] - _ns(wait)) <= 1
        last, count = map(int, re.findall(r"\d+", last_in))
        assert ((matching.straggler == index).sum(), len(matching.first_row)) == (last, count)
        assert round(100 * caused[index] / caused.sum()) == int(share.rstrip(" %"))
        assert abs(np.median(matching.transfer_of_ns) - _ns(transfer)) <= 1
        assert (
            row["exposed_wait_ns"] + row["exposed_transfer_ns"] + row["exposed_unmatched_ns"]
            == row["exposed_comm_ns"]
        )


@each_case
def test_matched_collectives_and_skews_equal_the_reference(name: str) -> None:
    found = match_case(_path(name))
    matching, (_, matched, skews, *_) = found.matching, _table(name)[0]
    instances, *collectives = map(int, re.findall(r"\d+", matched))
    assert len(matching.first_row) == instances
    assert np.bincount(found.rank).tolist() == collectives
    assert sum(matching.left_out.values()) == (matching.instance < 0).sum()
    middle, most = (float(text) for text in skews.split("/"))
    assert np.median(_skews_us(found)) == pytest.approx(middle, abs=0.001)
    assert _skews_us(found).max() == pytest.approx(most, abs=0.001)


@each_case
def test_the_ranks_of_one_machine_share_a_clock(name: str) -> None:
    clocks = match_case(_path(name)).matching.clocks
    assert set(clocks.host.tolist()) == set(clocks.part.tolist()) == {0}
    assert all(c.offset_ns == 0 == c.drift for c in clocks.corrections)
    assert 0 < clocks.error_ns.max() < 10_000


@pytest.mark.parametrize(
    ("name", "straggler"),
    [
        ("ddp_straggler", 1), ("tp", 1), ("blocking_stdout", 0), ("a2a", 0), ("ddp_default", None),
        ("fsdp", None), ("ddp_small_buckets", None), ("ddp_nosteps", None),
        ("kineto/dlrm8_v100", None),
    ],
)  # fmt: skip
def test_a_straggler_is_named_only_where_one_rank_is_to_blame(
    name: str, straggler: int | None
) -> None:
    found = match_case(_path(name))
    a = found.analysis
    (verdict,) = straggler_verdicts(a.timeline, found.matching, a.collectives, a.steps)
    assert verdict.straggler == straggler
    says = "the waiting moves" in verdict.says or "no rank causes 80%" in verdict.says
    assert says == (straggler is None)
    assert sum(verdict.shares.values()) == pytest.approx(1)


def test_rank_3_of_a_job_on_four_amd_gpus_is_last_in_every_all_reduce() -> None:
    found = match_case("amd/kineto/ddp4_unmerged")
    matching = found.matching
    code, words = codes(found.analysis.collectives, "op")
    op = np.array(words, object)[code]
    reduces = op[matching.first_row] == "all_reduce"
    assert reduces.sum() == 15
    assert set(matching.straggler[reduces].tolist()) == {3}
    assert (op[matching.first_row] == "broadcast").sum() == 6
    # Who ended a broadcast before the last one came did not wait for it.
    for row in np.flatnonzero((matching.instance >= 0) & (op == "broadcast")):
        last = matching.last_arrival_ns[matching.instance[row]]
        stayed = matching.finish_ns[row] > last
        expected = last - matching.arrival_ns[row] if stayed else 0
        assert matching.wait_ns[row] == expected


@pytest.mark.parametrize(("name", "instances"), [("ddp", 24), ("serial", 24), ("kin", 16)])
def test_a_generated_job_on_real_gpus_is_matched_wholly(name: str, instances: int) -> None:
    matching = match_case(f"generator_h200/{name}").matching
    assert len(matching.first_row) == instances
    assert (matching.instance >= 0).all()


def test_collectives_that_only_look_like_it_are_not_matched() -> None:
    found = match_case("generator_h200/mock")
    assert (found.matching.instance < 0).all()
    assert found.matching.left_out["no clear order"] == len(found.rank) == 48


@each_case
def test_exposed_waits_of_calls_add_up_on_one_stream(name: str) -> None:
    found = match_case(_path(name))
    timeline, times = found.analysis.timeline, found.times
    waiting = waiting_of(timeline, times, found.matching)
    calls = call_waits(times, timeline, found.matching, waiting)
    sums = np.zeros(timeline.ranks.size, np.int64)
    known = found.matching.instance >= 0
    np.add.at(sums, found.rank[known], int64(calls, "exposed_wait_ns")[known])
    assert sums.tolist() == found.analysis.ranks.column("exposed_wait_ns").to_pylist()
