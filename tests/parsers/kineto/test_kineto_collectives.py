"""Metadata of collectives: whose it is, and what the words of it become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import TraceBuilder, read_bytes, torch2

from commscope.parsers.base import Reading

KERNEL = "ncclDevKernel_Generic"


def reading_of(trace: TraceBuilder, folder: Path) -> Reading:
    return read_bytes(torch2(trace.document()), folder)


def known(trace: TraceBuilder, folder: Path) -> dict[int, Any]:
    """Row of the event -> operation."""
    rows = reading_of(trace, folder).collectives
    return dict(zip(rows["event"].to_pylist(), rows["op"].to_pylist()))


def test_records_of_a_merged_file_belong_to_their_rank(tmp_path: Path) -> None:
    trace = TraceBuilder()
    for rank, op in ((0, "all_gather"), (1, "all_reduce"), (2, "broadcast")):
        trace.record(op, 7, rank=rank)
    for rank in (2, 1, 0, 3):
        trace.kernel(KERNEL, **{"External id": 7, "correlation": 90 + rank, "rank": rank})

    rows = reading_of(trace, tmp_path).collectives

    assert rows["rank"].to_pylist() == [2, 1, 0]
    assert rows["op"].to_pylist() == ["broadcast", "all_reduce", "all_gather"]
    assert set(rows["source"].to_pylist()) == {"record"}


def test_annotations_of_a_merged_file_belong_to_their_rank(tmp_path: Path) -> None:
    trace = TraceBuilder()
    trace.gpu_annotation("nccl:all_gather", 10, 20, rank=0)
    trace.gpu_annotation("nccl:all_reduce", 11, 20, rank=1)
    for rank in (0, 1, 2):
        trace.kernel(KERNEL, 15, rank=rank)

    assert known(trace, tmp_path) == {0: "all_gather", 1: "all_reduce"}


def test_annotations_belong_to_their_device_and_stream(tmp_path: Path) -> None:
    trace = TraceBuilder()
    trace.gpu_annotation("nccl:all_gather", 10, 20, stream=3, device=0)
    trace.gpu_annotation("nccl:all_reduce", 11, 20, stream=3, device=1)
    trace.gpu_annotation("nccl:broadcast", 12, 20, stream=4, device=0)
    for device, stream in ((0, 3), (1, 3), (0, 4), (1, 4)):
        trace.kernel(KERNEL, 15, stream=stream, device=device)

    assert known(trace, tmp_path) == {0: "all_gather", 1: "all_reduce", 2: "broadcast"}


def test_annotation_around_one_that_ended_still_counts(tmp_path: Path) -> None:
    trace = TraceBuilder()
    trace.gpu_annotation("nccl:all_gather", 10, 100).gpu_annotation("nccl:all_reduce", 20, 10)
    for start in (5, 10, 20, 29, 30, 109, 110):
        trace.kernel(KERNEL, start, 1)

    assert known(trace, tmp_path) == {
        1: "all_gather", 2: "all_reduce", 3: "all_reduce", 4: "all_gather", 5: "all_gather",
    }  # fmt: skip


def test_annotation_without_a_possible_time_names_nothing(tmp_path: Path) -> None:
    trace = TraceBuilder().gpu_annotation("nccl:all_gather", 10, 9 * 10**15)
    trace.gpu_annotation("nccl:all_gather", "?", 10).kernel(KERNEL, 15)

    assert known(trace, tmp_path) == {}


@pytest.mark.parametrize(
    ("op", "args", "peer"),
    [
        ("send", {"Src Rank": 0, "Dst Rank": 3}, 3),
        ("recv", {"Src Rank": "4", "Dst Rank": 0}, 4),
        ("all_reduce", {"Src Rank": 0, "Dst Rank": 3}, None),
        ("send", {"Src Rank": 0}, None),
        ("send", {"Dst Rank": -1}, None),
        ("send", {"Dst Rank": 2**31}, None),
    ],
)
def test_peer(op: str, args: dict[str, Any], peer: int | None, tmp_path: Path) -> None:
    by_args = TraceBuilder().collective(op, **args)
    by_record = TraceBuilder().record(op, 7, **args).kernel(KERNEL, **{"External id": 7})

    for trace in (by_args, by_record):
        assert reading_of(trace, tmp_path).collectives["peer"].to_pylist() == [peer]


@pytest.mark.parametrize(
    ("given_sizes", "sizes"),
    [
        ("[1, 0, 30]", [1, 0, 30]),
        ([1, 0, 30], [1, 0, 30]),
        (f"[{10**17}]", [10**17]),
        ("[]", None),
        ([], None),
        ("", None),
        (None, None),
        ("[1, 2, ...]", None),
        ("[1, -2]", None),
        ([1.5], None),
        ([10**19], None),
        ({"a": 1}, None),
    ],
)
def test_split_sizes(given_sizes: Any, sizes: list[int] | None, tmp_path: Path) -> None:
    args = {"In split size": given_sizes, "Out split size": [5, 6]}
    trace = TraceBuilder()
    for _ in range(4):
        trace.collective("all_to_all", **args)

    for block_bytes in (1 << 10, 1 << 19):
        rows = read_bytes(torch2(trace.document()), tmp_path, block_bytes).collectives
        assert rows["send_sizes"].to_pylist() == [sizes] * 4
        assert rows["receive_sizes"].to_pylist() == [[5, 6]] * 4


def test_sizes_beyond_64_bits_are_unknown(tmp_path: Path) -> None:
    trace = TraceBuilder().collective("all_reduce", elements=2**62)

    assert reading_of(trace, tmp_path).collectives["bytes"].to_pylist() == [None]


def test_members_beyond_the_largest_rank_are_unknown(tmp_path: Path) -> None:
    cut = {"Process Group Ranks": "[0, 1, ...]", "Group size": 3, "Global rank start": 0}
    strides = (4, 2**30)
    trace = TraceBuilder()
    for stride in strides:
        trace.collective("all_reduce", **cut, **{"Global rank stride": stride})

    rows = reading_of(trace, tmp_path).collectives

    assert rows["members"].to_pylist() == [[0, 4, 8], None]


def test_json_of_a_list_is_kept_as_it_is(tmp_path: Path) -> None:
    trace = TraceBuilder().collective("all_reduce", **{"Process Group Ranks": [3, 5]})

    rows = read_bytes(json.dumps(trace.document()).encode(), tmp_path).collectives

    assert rows["members"].to_pylist() == [[3, 5]]
