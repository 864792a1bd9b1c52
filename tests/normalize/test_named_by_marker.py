"""Collectives that annotations around their launches name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import ALL_REDUCE, GENERIC, Gpu, Host, Known, Row, annotation, trace

from commscope.intervals import innermost
from commscope.normalize.named_by_marker import op_of_marker


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("nccl:all_reduce", "all_reduce"),
        ("nccl:_all_gather_base", "all_gather"),
        ("nccl:reduce", "reduce"),
        ("nccl:send 0->1", "send"),
        ("c10d::allreduce_", "all_reduce"),
        ("c10d::_allgather_base_", "all_gather"),
        ("ncclReduceScatter", "reduce_scatter"),
        ("all_gather_into_tensor", "all_gather"),
        ("RCCL allreduce", "all_reduce"),
        ("comm: reduce-scatter of bucket 3", "reduce_scatter"),
        ("FSDP::all_gather (layers.1)", "all_gather"),
        ("all_to_all_single | [Caller Func: moe]", "all_to_all"),
        ("vllm::all_reduce", "all_reduce"),
        ("node_allreduce", "all_reduce"),
        ("nccl:coalesced", None),
        ("reduce", None),
        ("scatter", None),
        ("aten::gather", None),
        ("FSDP::post_backward_reduce", None),
        ("wait for allreduce", None),
        ("before all_reduce", None),
        ("overlap all_reduce with backward", None),
        ("all_gather, then reduce_scatter", None),
        ("small_all_reducer", None),
        ("forward", None),
        ("", None),
    ],
)
def test_an_operation_is_named_once_and_plainly(text: str, op: str | None) -> None:
    assert op_of_marker(text) == op


def told(*rows: Row, name: str = GENERIC) -> tuple[str | None, str]:
    """Operation and source of a collective that thread 1 launched at 20."""
    kernel = Gpu(100, 50, name, correlation=7, stream=1)
    (row,) = trace(kernel, Host(20, 2, correlation=7), *rows).collectives.to_pylist()
    return row["op"], row["source"]


@pytest.mark.parametrize(
    ("rows", "op"),
    [
        ([annotation("RCCL allreduce", 10, 30)], "all_reduce"),
        ([annotation("RCCL allreduce", 10, 30), annotation("forward", 15, 20)], "all_reduce"),
        ([annotation("all_gather", 0, 90), annotation("nccl:broadcast", 15, 10)], "broadcast"),
        ([annotation("nccl:broadcast", 10, 10), annotation("all_gather", 10, 90)], "all_gather"),
        ([annotation("nccl:broadcast", 10, 20), annotation("all_gather", 10, 90)], "broadcast"),
        ([annotation("RCCL allreduce", 21, 30)], None),
        ([annotation("RCCL allreduce", 10, 10)], None),
        ([annotation("RCCL allreduce", 10, 30, thread=2)], None),
        ([Host(10, 30, "ncclAllReduce", "runtime")], None),
        ([], None),
    ],
)
def test_the_innermost_annotation_around_the_launch_that_names_one_counts(
    rows: list[Row], op: str | None
) -> None:
    assert told(*rows) == (op, "annotation" if op else "name")


def test_what_a_name_or_a_record_tells_stays() -> None:
    around = annotation("all_gather", 10, 30)
    assert told(around, name=ALL_REDUCE) == ("all_reduce", "name")
    assert told(around, Known(0, "broadcast")) == ("broadcast", "args")


@pytest.mark.parametrize(
    ("name", "label", "op", "size"),
    [
        (GENERIC, "csg.coll;seq=3;op=all_reduce;bytes=4096", "all_reduce", 4096),
        (GENERIC, "csg.coll;op=send;bytes=8", "send", 8),
        (GENERIC, "csg.coll;op=all_reduce;bytes=12345678901234567890", "all_reduce", None),
        (ALL_REDUCE, "csg.coll;seq=3;op=all_reduce;bytes=4096", "all_reduce", 4096),
        (ALL_REDUCE, "csg.coll;seq=3;op=all_gather;bytes=4096", "all_reduce", None),
    ],
)
def test_markers_of_generated_jobs_tell_sizes_too(
    name: str, label: str, op: str, size: int | None
) -> None:
    kernel = Gpu(100, 50, name, correlation=7, stream=1)
    around = annotation(label, 10, 30)
    (row,) = trace(kernel, Host(20, 2, correlation=7), around).collectives.to_pylist()
    assert (row["op"], row["bytes"]) == (op, size)


spans = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8)


@given(spans, st.lists(st.integers(-1, 20), max_size=6))
def test_the_innermost_interval_is_the_last_begun_that_runs(
    found: list[tuple[int, int]], times: list[int]
) -> None:
    begin, dur = (np.array([span[n] for span in found], np.int64) for n in (0, 1))
    rows = innermost(np.array(times, np.int64), begin, begin + dur).tolist()
    for time, row in zip(times, rows):
        running = [(b, -d) for b, d in found if b <= time < b + d]
        assert (row == -1) == (not running)
        if running:
            assert (found[row][0], -found[row][1]) == max(running)
