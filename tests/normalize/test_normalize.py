"""From readings to a trace: what all ranks share."""

from __future__ import annotations

import pytest
from tables import ALL_REDUCE, COMPUTE, Gpu, Host, Known, comm, reading, trace, traces

from commscope.errors import NoDeviceEvents
from commscope.parsers.base import Health
from commscope.schema import TABLES, conform


def test_tables_keep_the_schema() -> None:
    found = trace(Gpu(9, 5, launched=2), comm(12, 5), Known(1, "all_reduce"))
    for name, schema in TABLES.items():
        conform(getattr(found, name.lower()), schema, name)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([Host(5, 1)], r"trace\.json: no GPU activity was recorded \(1 calls"),
        ([Gpu(0, 0), Gpu(0, 5)], "none of the 2 GPU activities has a possible time and a length"),
        ([Gpu(5, 0)], "none of the 1 GPU activities"),
    ],
)
def test_nothing_that_counts(rows: list[Gpu | Host], says: str) -> None:
    with pytest.raises(NoDeviceEvents, match=says):
        trace(*rows)


def test_rank_without_activity_is_left_out_and_said() -> None:
    found = traces([reading(Gpu(5, 5), file="a", rank=0), reading(Host(5, 1), file="b", rank=1)])
    assert found.ranks.column("rank").to_pylist() == [0]
    assert "b: holds no GPU activity and is left out (rank 1)" in [n.says for n in found.notes]
    assert [file.rank for file in found.files] == [0]


def test_ranks_are_stacked_in_order() -> None:
    one = reading(Gpu(9, 5), comm(30, 5), Known(1, "all_reduce"), file="a", rank=4)
    other = reading(comm(50, 5), Gpu(7, 5, "gemm_kernel"), Known(0, "send"), file="b", rank=1)
    found = traces([one, other])
    assert found.events.column("rank").to_pylist() == [1, 1, 4, 4]
    assert found.events.column("start_ns").to_pylist() == [7, 50, 9, 30]
    assert found.collectives.column("event").to_pylist() == [1, 3]
    assert found.collectives.column("op").to_pylist() == ["send", "all_reduce"]
    names = found.events.column("name").to_pylist()
    assert names == ["gemm_kernel", ALL_REDUCE, COMPUTE, ALL_REDUCE]
    assert found.ranks.column("file").to_pylist() == ["b", "a"]


def test_files_are_moved_to_the_wall_clock() -> None:
    base = 1_700_000_000 * 10**9
    found = trace(Gpu(9, 5, launched=2), Gpu(0, 0), Host(3, 1))
    rows = [Gpu(9, 5, launched=2), Gpu(0, 0), Host(3, 1)]
    moved = traces([reading(*rows, base_ns=base)])
    for table, name in (("events", "start_ns"), ("events", "launch_ns"), ("host", "start_ns")):
        here = getattr(found, table).column(name).to_pylist()
        there = getattr(moved, table).column(name).to_pylist()
        assert there == [time + base if time else time for time in here]


def test_notes_of_the_files_are_kept() -> None:
    found = traces([reading(Gpu(5, 5), health=Health(notes=("has a hole",)))])
    assert "trace.json: has a hole" in [note.says for note in found.notes]


def test_a_trace_in_one_line() -> None:
    found = trace(Gpu(9, 5), comm(12, 5))
    assert repr(found) == "<Trace: 1 ranks, 1 steps, 2 activities>"
    assert found._repr_html_() == "<b>Trace</b>: 1 ranks, 1 steps, 2 activities"
