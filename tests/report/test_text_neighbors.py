"""Neighbours of a log on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from flight_dumps import job, waiting, write_job
from rich.console import Console, Group
from support import case

from commscope.engine.neighbors import load_neighbors
from commscope.logs.hangs import find_hangs
from commscope.logs.neighbor_summary import NeighborSummary, summarize_neighbors
from commscope.report.text_neighbors import hang_sections, neighbor_sections


def drawn(*paths: Path, width: int = 150) -> tuple[str, NeighborSummary]:
    """The screen and the summary of files."""
    found = load_neighbors(paths)
    assert found is not None
    summary, hangs = summarize_neighbors(found), find_hangs(neighbors=found.tables)
    console = Console(file=io.StringIO(), width=width)
    console.print(Group(*hang_sections(hangs), *neighbor_sections(summary, width)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue(), summary


def test_all_real_neighbours_fit_a_screen() -> None:
    text, summary = drawn(case("rccl_logs"))
    for word in ("Benchmarks", "all_reduce", "357.5", "Records of the profiler", "485.1", "RAS"):
        assert word in text
    assert text.count("\n") < 40
    assert "do-not-copy" not in text + repr(summary)


def test_a_size_that_takes_longer_than_its_double_is_told() -> None:
    _, summary = drawn(case("rccl_logs/rccl_tests_allreduce_16xmi300x_2node.txt"))
    (row,) = summary.benchmarks
    assert row["slower_than_larger"] == [1 << 20]
    assert (row["hosts"], row["least_us"], row["device"]) == (2, 218.6, "AMD Instinct MI300X")
    assert (row["best_bytes"], row["best_busbw_gbps"]) == (16 << 30, 357.46)


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_dumps_and_their_verdict(width: int, tmp_path: Path) -> None:
    dumps = job(lambda rank: [] if rank == 3 else [waiting(41, rank)])
    dumps[0]["entries"][-1]["process_group"] = ("0", "\x1b[2Jevil")
    text, summary = drawn(write_job(tmp_path, dumps), width=width)
    assert "rank 3 never called it" in " ".join(text.split())
    assert "look first at rank 3" in " ".join(text.split())
    assert "\x1b" not in text
    (group, _) = summary.flight
    assert (group["members"], group["dumps"], group["started"]) == (8, 8, 6)


def test_an_empty_kind_is_not_drawn(tmp_path: Path) -> None:
    text, _ = drawn(write_job(tmp_path, job(lambda _: [])))
    assert "Benchmarks" not in text
    assert "Hang" not in text
