"""A process that was written in several formats counts once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from logical_trace import LogicalTrace, three_steps
from small_run import write_run

import commscope
from commscope.generator.rocprofv3.csv_files import write_csv
from commscope.generator.rocprofv3.json_document import write_json

TRACE = three_steps()


def write_both(folder: Path, trace: LogicalTrace) -> None:
    write_csv(folder / trace.host, trace)
    write_json(folder / trace.host / f"{trace.pid}_results.json", trace)


def left_out(trace: commscope.Trace) -> list[str]:
    return [note.says for note in trace.notes if "the same process" in note.says]


def test_the_format_that_says_more_is_taken(tmp_path: Path) -> None:
    write_both(tmp_path, TRACE)
    trace = commscope.load([tmp_path])
    assert trace.ranks.column("file").to_pylist() == ["nodeA/100_results.json"]
    [says] = left_out(trace)
    assert says.startswith("left out: nodeA/100_kernel_trace.csv: the same process as in nodeA/100")


def test_a_cut_file_is_not_preferred(tmp_path: Path) -> None:
    write_both(tmp_path, TRACE)
    path = tmp_path / "nodeA" / "100_results.json"
    path.write_bytes(path.read_bytes()[:-2])
    trace = commscope.load([tmp_path])
    assert trace.ranks.column("file").to_pylist() == ["nodeA/100_kernel_trace.csv"]


def test_each_process_is_taken_once(tmp_path: Path) -> None:
    for pid in (100, 200):
        moved = tuple(
            replace(d, start_ns=d.start_ns + pid, end_ns=d.end_ns + pid) for d in TRACE.dispatches
        )
        write_both(tmp_path, replace(TRACE, pid=pid, dispatches=moved))
    trace = commscope.load([tmp_path])
    assert trace.ranks.column("pid").to_pylist() == [100, 200]
    assert len(left_out(trace)) == 2


def test_ranks_of_one_format_may_begin_at_once(tmp_path: Path) -> None:
    trace = commscope.load([write_run(tmp_path, ranks=3)])
    assert trace.ranks.num_rows == 3
    assert left_out(trace) == []
