"""Numbers of a file that no rank, job or clock can have."""

from __future__ import annotations

import pytest
from tables import Gpu, Host, Row, analysis, annotation, reading, step, trace, traces

from commscope.analysis.timeline import timeline_of
from commscope.errors import DataError
from commscope.normalize.impossible import LATEST_NS
from commscope.normalize.ranks import split_ranks

MAX = (1 << 63) - 1


@pytest.mark.parametrize("rank", [-7, -1, 1 << 31, 1 << 40, 1 << 70])
@pytest.mark.parametrize("fact", ["rank", "records_rank"])
def test_rank_that_cannot_be_is_not_known(fact: str, rank: int) -> None:
    found = traces([reading(Gpu(5, 5), file="rank3.json", **{fact: rank})])
    assert found.ranks.column("rank").to_pylist() == [3]
    assert found.ranks.column("source").to_pylist() == ["file"]


def test_largest_rank() -> None:
    found = traces([reading(Gpu(5, 5), rank=(1 << 31) - 1)])
    assert found.ranks.column("rank").to_pylist() == [(1 << 31) - 1]


def test_negative_rank_in_a_merged_file_is_none() -> None:
    parts, notes = split_ranks([reading(Gpu(5, 5, rank=-7), Gpu(6, 5, rank=2))], {})
    assert [part.rank for part in parts] == [2]
    assert "1 activity names no rank" in notes[0].says


def test_file_of_negative_ranks_only_is_of_one_process() -> None:
    parts, _ = split_ranks([reading(Gpu(5, 5, rank=-7), Host(4, 1, rank=-7), rank=1)], {})
    assert [part.tables.events.column("rank").to_pylist() for part in parts] == [[1]]


@pytest.mark.parametrize("world", [0, -1, 1 << 30, 1 << 40, 1 << 70])
def test_size_that_no_job_has(world: int) -> None:
    rows = [Gpu(5, 5), Gpu(9, 5), Gpu(5, 5, device=1)]
    found = traces([reading(*rows, world_size=world, rank=0)])
    assert found.ranks.column("rank").to_pylist() == [0, 1]
    assert found.ranks.column("world_size").to_pylist() == [None, None]


def test_large_job() -> None:
    rows = [Gpu(5, 5), Gpu(9, 5), Gpu(5, 5, device=1)]
    found = traces([reading(*rows, world_size=1 << 24, rank=0)])
    assert found.ranks.column("rank").to_pylist() == [0, 1 << 24]


@pytest.mark.parametrize("pid", [1 << 63, -(1 << 70)])
def test_process_id_beyond_64_bits(pid: int) -> None:
    assert traces([reading(Gpu(5, 5), pid=pid)]).ranks.column("pid").to_pylist() == [None]


@pytest.mark.parametrize("base", [LATEST_NS + 1, -LATEST_NS - 1, 8 * 10**18, 1 << 70])
def test_base_that_cannot_be_is_not_used_and_said(base: int) -> None:
    found = traces([reading(Gpu(5, 5), base_ns=base)])
    assert found.events.column("start_ns").to_pylist() == [5]
    assert any(f"its base time {base} ns cannot be" in note.says for note in found.notes)


def test_latest_times_do_not_wrap() -> None:
    rows = [Gpu(LATEST_NS, 5, launched=LATEST_NS - 1), step(1, LATEST_NS - 9, 10)]
    found = traces([reading(*rows, base_ns=LATEST_NS)])
    assert found.events.column("start_ns").to_pylist() == [2 * LATEST_NS]
    assert found.steps.column("host_end_ns").to_pylist() == [2 * LATEST_NS + 1]


def test_activity_too_late_is_broken() -> None:
    found = trace(Gpu(5, 5), Gpu(LATEST_NS + 1, 5))
    assert [repair.broken for repair in found.repairs] == [1]


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        (Host(MAX, 1), 0), (Host(-MAX, 1), 0), (Host(7, MAX), 1), (Host(7, -5), 1),
        (annotation("ProfilerStep#9", MAX - 1, MAX), 0),
    ],
)  # fmt: skip
def test_calls_of_the_host_with_impossible_times(row: Host, kept: int) -> None:
    rows: list[Row] = [step(1, 10, 10), Gpu(15, 5), row]
    found = traces([reading(*rows, base_ns=LATEST_NS)])
    assert found.host.num_rows == 1 + kept
    assert all(0 <= dur <= 10 for dur in found.host.column("dur_ns").to_pylist())
    (note,) = (n.says for n in found.notes if "impossible" in n.says)
    assert note.startswith("trace.json: 1 call or annotation of the host has impossible times")


def test_the_time_of_a_launch_of_impossible_length_is_kept() -> None:
    found = trace(Gpu(15, 5, correlation=4), Host(7, -5, correlation=4))
    assert found.events.column("launch_ns").to_pylist() == [7]


def test_captures_too_far_apart_for_one_axis() -> None:
    files = [
        reading(Gpu(at, 5), file=f"{rank}-{at}", rank=rank)
        for rank in range(2) for at in (5, 3 * 10**18)
    ]  # fmt: skip
    together = traces(files, capture="all")
    with pytest.raises(DataError, match="the captures of 2 ranks span 69,444 days"):
        timeline_of(together)


def test_ids_of_two_ranks_are_not_mixed_up() -> None:
    rows = [
        Gpu(15, 5, rank=0, correlation=5), Host(4, 1, rank=0, correlation=5),
        Gpu(15, 5, rank=1, correlation=6), Host(4, 1, rank=1, correlation=6),
        Host(5, 1, rank=1, correlation=5 ^ (1 << 40)),
    ]  # fmt: skip
    coverage = analysis(*rows).coverage.to_pylist()
    whole = [(r["launches"], r["found"]) for r in coverage if r["step"] is None]
    assert whole == [(1, 1), (2, 1)]
