"""Numbers that no trace can mean: they are unknown, and change nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import TraceBuilder, read_bytes, torch2

from commscope.columns import int64
from commscope.parsers.base import Confidence, Facts, Reading
from commscope.parsers.kineto import KinetoParser
from commscope.parsers.opening import Source
from commscope.schema import Flag

NO_RANKS = [-7, 2**31, 5_000_000_000, 2**40, 2**63, 2**80, "9" * 5000, "no", None]
#: Microseconds: as ns, two of them or one and a base go beyond 64 bits.
FAR_US = 5 * 10**15
WALL_NS = 1_700_000_000_000_000_000


def reading_of(trace: TraceBuilder, folder: Path, **header: Any) -> Reading:
    return read_bytes(torch2({**trace.document(), **header}), folder)


@pytest.mark.parametrize("rank", NO_RANKS)
def test_rank_of_a_row(rank: Any, tmp_path: Path) -> None:
    trace = TraceBuilder().kernel("a", 1, rank=rank).collective("all_reduce", 2, rank=rank)
    trace.step(1).kernel("b", 3, rank=2**31 - 1)

    reading = reading_of(trace, tmp_path)

    assert reading.events["rank"].to_pylist() == [None, None, 2**31 - 1]
    assert reading.collectives["rank"].to_pylist() == [None]


@pytest.mark.parametrize("rank", NO_RANKS)
def test_rank_of_a_file(rank: Any, tmp_path: Path) -> None:
    trace = TraceBuilder().kernel("a", 1).record("all_reduce", 7, Rank=rank)
    info = {"rank": rank, "world_size": rank, "backend": "nccl"}

    facts = reading_of(trace, tmp_path, distributedInfo=info).facts

    assert (facts.rank, facts.records_rank, facts.world_size) == (None, None, None)
    assert facts.backend == "nccl"


def test_largest_rank_of_a_file(tmp_path: Path) -> None:
    info = {"rank": 2**31 - 1, "world_size": str(2**31 - 1)}

    facts = reading_of(TraceBuilder().kernel("a", 1), tmp_path, distributedInfo=info).facts

    assert facts.rank == facts.world_size == 2**31 - 1


def test_devices_that_do_not_fit_stay_apart(tmp_path: Path) -> None:
    trace = TraceBuilder().kernel("a", device=None)
    trace.events[0]["pid"] = "GPU"
    for device in (0, 2**32, 2**33, 7, 2**32, -3):
        trace.kernel("a", device=device)

    reading = reading_of(trace, tmp_path)

    assert reading.events["device"].to_pylist() == [-1, 0, -3, -4, 7, -3, -2]
    assert set(reading.facts.gpus) == {-4, -3, -2, -1, 0, 7}


@pytest.mark.parametrize(
    ("start", "dur"), [(FAR_US, 1), (-1, 1), (1, FAR_US), (1, -1), ("?", 1), (1, "?")]
)
def test_impossible_times(start: Any, dur: Any, tmp_path: Path) -> None:
    trace = TraceBuilder().kernel("far", start, dur).kernel("a", 10)
    trace.span("user_annotation", "far", start, dur).step(1, 3, 4)

    reading = reading_of(trace, tmp_path)

    assert reading.events["flags"].to_pylist() == [Flag.BROKEN, 0]
    assert reading.events["start_ns"].to_pylist() == [0, 10_000]
    assert reading.host["name"].to_pylist() == ["ProfilerStep#1"]


@pytest.mark.parametrize("base", [-1, 3 * 10**18 + 1, 8 * 10**18, 2**70, "no", None])
def test_impossible_base(base: Any, tmp_path: Path) -> None:
    trace = TraceBuilder().kernel("a", 1)

    assert reading_of(trace, tmp_path, baseTimeNanoseconds=base).facts.base_ns == Facts().base_ns
    assert reading_of(trace, tmp_path, baseTimeNanoseconds=WALL_NS).facts.base_ns == WALL_NS


def test_what_is_kept_adds_up_within_64_bits(tmp_path: Path) -> None:
    largest = 3 * 10**15
    trace = TraceBuilder().kernel("a", largest, largest).step(1, largest, largest)

    reading = reading_of(trace, tmp_path, baseTimeNanoseconds=3 * 10**18)

    for table in (reading.events, reading.host):
        ends = int64(table, "start_ns") + int64(table, "dur_ns") + reading.facts.base_ns
        assert ends.tolist() == [9 * 10**18]


@pytest.mark.parametrize("cut", [False, True])
def test_last_good_time_is_that_of_the_last_event_before_a_cut(cut: bool, tmp_path: Path) -> None:
    trace = TraceBuilder().kernel("late", 900).kernel("early", 10).kernel("timeless", "?", 1)
    text = torch2(trace.document()).removesuffix(b"}\n")

    health = read_bytes(text if cut else text + b"}", tmp_path).health

    assert (health.cut is not None, health.last_good_ns) == (cut, 10_000 if cut else None)


@pytest.mark.parametrize(
    ("label", "confidence"),
    [
        ("a.pt.trace.json", Confidence.NAME),
        ("a.pt.trace.json.gz", Confidence.NAME),
        ("a.json", Confidence.NONE),
    ],
)
def test_only_names_that_no_other_format_has_tell_it(label: str, confidence: Confidence) -> None:
    assert KinetoParser().match(b"x", Source(Path(label), label=label)).confidence == confidence


@pytest.mark.parametrize("behind", [b"", b"x", b']}{"ph"'])
def test_white_space_as_long_as_a_file_ends(behind: bytes, tmp_path: Path) -> None:
    """A search that goes over it once for each place would take hours."""
    text = torch2(TraceBuilder().kernel("gemm", 1).document())
    whole = read_bytes(text, tmp_path)
    spaced = read_bytes(text.rstrip() + b" " * 400_000 + behind, tmp_path)
    assert spaced.events.equals(whole.events)
