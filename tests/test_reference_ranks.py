"""The reference across ranks against the verified figures of the real cases."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
import reference_ranks
import verified
from reference import Recording
from verified import FACTS


def _all_ranks(path: str) -> list[Recording]:
    folder = Path(path).parent.as_posix()
    return [verified.only(other) for other in FACTS if Path(other).parent.as_posix() == folder]


@pytest.mark.parametrize("path", verified.having("across_ranks"))
def test_waiting_across_ranks(path: str) -> None:
    recordings, facts = _all_ranks(path), FACTS[path]["across_ranks"]
    rank = FACTS[path]["says"]["rank"]
    matched = reference_ranks.instances(recordings)
    skews = [one.end_skew_ns for one in matched]
    arrivals = [one.members[rank].start_ns == one.last_arrival_ns for one in matched]
    assert facts["matched"] == len(matched)
    assert facts["exposed_comm_ns"] == verified.whole(recordings[rank]).exposed_comm_ns
    assert facts["exposed_wait_ns"] == reference_ranks.exposed_wait_ns(recordings, rank)
    assert facts["last_in"] == sum(arrivals)
    assert facts["end_skew_max_ns"] == max(skews)
    assert facts["end_skew_p50_ns"] == pytest.approx(statistics.median(skews), abs=0.5)
    transfers = statistics.median(one.transfer_ns for one in matched)
    assert facts["transfer_p50_ns"] == pytest.approx(transfers, abs=0.5)


@pytest.mark.parametrize("path", verified.having("across_ranks_tracelens"))
def test_waiting_as_tracelens_has_it(path: str) -> None:
    """All waiting, not only what is exposed; and the shortest kernel for the transfer."""
    rank = FACTS[path]["says"]["rank"]
    matched = reference_ranks.instances(_all_ranks(path))
    shortest = [min(one.end_ns - one.start_ns for one in each.members) for each in matched]
    first = [min(one.start_ns for one in each.members) for each in matched]
    last = [each.last_arrival_ns for each in matched]
    skews = [late - early for late, early in zip(last, first, strict=True)]
    ends = [each.end_skew_ns for each in matched]
    expected = verified.figures_of(FACTS[path]["across_ranks_tracelens"])
    found = {
        "wait_ns": sum(each.last_arrival_ns - each.members[rank].start_ns for each in matched),
        "last_in": sum(each.last_arrival_ns == each.members[rank].start_ns for each in matched),
        "collectives": len(matched),
        "transfer_mean_ns": statistics.mean(shortest),
        "transfer_p50_ns": statistics.median(shortest),
        "transfer_min_ns": min(shortest),
        "transfer_max_ns": max(shortest),
        "start_skew_mean_ns": statistics.mean(skews),
        "start_skew_max_ns": max(skews),
        "end_skew_mean_ns": statistics.mean(ends),
        "end_skew_max_ns": max(ends),
    }
    assert found == pytest.approx(expected, abs=50)
