"""Windows measured on the timeline are those that the library measures."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_views import Shown, real, simulated, straggler

import commscope
from commscope.analysis.breakdown import partition_windows
from commscope.analysis.waiting import EXPOSED_PARTS, split_exposed
from commscope.columns import int64
from commscope.errors import UsageError
from commscope.sanitize import shortened

RUNS = {"one host": straggler, "four hosts": simulated}
each_run = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)


def library_numbers(shown: Shown, t0: int, t1: int) -> list[dict[str, int]]:
    """What the library says of a window of the common clock, on each rank.

    It measures what is inside of the rank's recording: before and after that, ranks are idle.
    """
    view, line = shown.view, shown.analysis.timeline
    index = np.arange(len(view.ranks))
    start, end = (
        np.array([clock.own_time(t) for clock in view.clocks]) + view.layout.origin_ns
        for t in (t0, t1)
    )
    inside = [np.clip(of, line.first_ns, line.last_ns) for of in (start, end)]
    columns = partition_windows(line, index, *inside)
    outside = (end - start) - columns["window_ns"]
    for name in ("window_ns", "idle_ns"):
        columns[name] = columns[name] + outside
    split = split_exposed(line, shown.analysis.across.waiting, index, *inside)
    columns |= {name: split[name].fill_null(0).to_numpy() for name in EXPOSED_PARTS}
    return [dict(zip(columns, row)) for row in zip(*(of.tolist() for of in columns.values()))]


@each_run
@settings(max_examples=20)
@given(data=st.data())
def test_equals_the_partition(run, data: st.DataObject) -> None:
    shown = run()
    layout = shown.view.layout
    times = st.integers(layout.t0 - 1000, layout.t1 + 1000)
    t0 = data.draw(times)
    t1 = t0 + data.draw(st.integers(1, layout.t1 - layout.t0))
    selection = shown.view.select(t0, t1, [])
    for part, wanted in zip(selection.ranks, library_numbers(shown, t0, t1)):
        assert {name: getattr(part, name) for name in wanted} == wanted
        idle = part.window_ns - part.compute_ns - part.exposed_comm_ns - part.exposed_copy_ns
        assert part.idle_ns == idle
    assert selection.table.num_rows == len(shown.view.ranks)


def test_equals_the_partition_of_real_ranks() -> None:
    shown = real("amd/kineto/ddp4_unmerged")
    layout = shown.view.layout
    third = (layout.t1 - layout.t0) // 3
    selection = shown.view.select(layout.t0 + third, layout.t1 - third, [])
    wanted = library_numbers(shown, layout.t0 + third, layout.t1 - third)
    found = [{name: getattr(part, name) for name in wanted[0]} for part in selection.ranks]
    assert found == wanted


def test_kernels_of_the_whole_run_are_those_of_the_table() -> None:
    shown = straggler()
    layout = shown.view.layout
    table = shown.analysis.kernels.to_pylist()
    selection = shown.view.select(layout.t0, layout.t1, [])
    found = [(part.name, part.count, part.total_ns, part.kind) for part in selection.kernels]
    wanted = [
        (shortened(row["name"], 500), row["count"], row["total_ns"], row["class"]) for row in table
    ]
    assert len(found) == 20
    assert found[0] == wanted[0]
    assert set(found) <= set(wanted)


def test_ranks_can_be_chosen() -> None:
    view = straggler().view
    selection = view.select(0, 10**7, [1])
    assert [part.rank for part in selection.ranks] == [1]
    with pytest.raises(UsageError, match="rank 7"):
        view.select(0, 10**7, [7])


def running(shown: Shown, t0: int, t1: int) -> int:
    """How many activities run in a window, on one clock."""
    events = shown.analysis.trace.events
    start = int64(events, "start_ns") - shown.view.layout.origin_ns
    end = start + np.maximum(int64(events, "dur_ns"), 1)
    return int(((start < t1) & (end > t0)).sum())


def test_export_of_tables() -> None:
    shown = straggler()
    window = (50_000_000, 60_000_000)
    name, data = shown.view.export(*window, [], "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert name == "selection_50000000_60000000.csv"
    assert len(rows) == running(shown, *window) > 100
    _, data = shown.view.export(*window, [], "parquet")
    table = pq.read_table(io.BytesIO(data))
    assert table.column("start_ns").to_pylist() == [int(row["start_ns"]) for row in rows]
    assert set(table.column("class").to_pylist()) == {"compute", "communication", "copy"}


def test_times_of_export_are_on_the_common_clock() -> None:
    shown = simulated()
    layout = shown.view.layout
    _, data = shown.view.export(layout.t0, layout.t1, [], "parquet")
    start = pq.read_table(io.BytesIO(data)).column("start_ns").to_numpy()
    assert layout.t0 <= start.min() <= start.max() < layout.t1


def test_export_for_perfetto_can_be_read_again(tmp_path: Path) -> None:
    shown = straggler()
    name, data = shown.view.export(50_000_000, 60_000_000, [0], "perfetto")
    (tmp_path / name).write_bytes(data)
    trace = commscope.load(tmp_path / name)
    wanted = shown.view.export(50_000_000, 60_000_000, [0], "csv")[1].decode()
    assert trace.events.num_rows == len(wanted.splitlines()) - 1
    assert trace.ranks.column("rank").to_pylist() == [0]
    # The calls that launched them are there too, also those from before.
    assert int64(trace.events, "launch_ns").min() > 0


@pytest.mark.parametrize(
    ("window", "kind", "says"),
    [((0, 10), "exe", "kind"), ((10, 10), "csv", "end after"), ((-10, -5), "csv", "no activity")],
)
def test_what_cannot_be_exported(window: tuple[int, int], kind: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        straggler().view.export(*window, [], kind)
