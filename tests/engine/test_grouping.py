"""Files of one process are read together, where their format is written in several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from logical_trace import three_steps
from small_run import write_run

import commscope
from commscope.engine import parallel
from commscope.engine.grouping import grouped
from commscope.engine.inspect import inspect_paths
from commscope.engine.reading import silent
from commscope.generator.rocprofv3.csv_files import write_csv
from commscope.parsers.base import (
    Confidence,
    GroupingParser,
    Match,
    Parser,
    Progress,
    Reading,
)
from commscope.parsers.kineto import KinetoParser
from commscope.parsers.opening import Source
from commscope.parsers.registry import PARSERS

TRACE = three_steps()


class Pairs:
    """A plug-in whose files belong together by the first letter of their names."""

    name = "pairs"
    description = "pairs of files"
    suffixes = (".pair",)

    def match(self, head: bytes, source: Source) -> Match:
        return Match(Confidence.NAME, "is named like one")

    def group(self, source: Source) -> str:
        return source.label[0]

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        return []


def chosen(parser: Parser, *names: str) -> list[tuple[Source, Parser]]:
    return [(Source(Path(n), label=n, size=size), parser) for size, n in enumerate(names)]


def names_of(jobs: list[tuple[Source, Parser]]) -> list[list[str]]:
    return [[s.label, *(one.label for one in s.companions)] for s, _ in jobs]


def test_the_largest_of_a_group_leads() -> None:
    jobs = grouped(chosen(Pairs(), "a1", "b1", "a2", "c1", "b2"))
    assert names_of(jobs) == [["a2", "a1"], ["b2", "b1"], ["c1"]]


def test_files_of_other_parsers_stay_alone() -> None:
    kineto = KinetoParser()
    assert isinstance(Pairs(), GroupingParser)
    assert not isinstance(kineto, GroupingParser)
    jobs = grouped([*chosen(kineto, "a1", "a2"), *chosen(Pairs(), "a3")])
    assert names_of(jobs) == [["a1"], ["a2"], ["a3"]]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two processes of one host: their files lie side by side."""
    for pid in (100, 200):
        write_csv(tmp_path / "nodeA", replace(TRACE, pid=pid))
    return tmp_path


def test_processes_of_a_folder_are_ranks(run: Path) -> None:
    trace = commscope.load([run])
    assert trace.ranks.column("pid").to_pylist() == [100, 200]
    assert trace.ranks.column("host").to_pylist() == ["nodeA", "nodeA"]
    assert trace.ranks.column("file").to_pylist() == [
        f"nodeA/{pid}_kernel_trace.csv" for pid in (100, 200)
    ]
    assert len(trace.files) == 10


def test_a_rank_is_named_by_its_main_file(run: Path) -> None:
    trace = commscope.load([run], ranks={7: "200_kernel_trace.csv"})
    ranks = dict(zip(trace.ranks.column("pid").to_pylist(), trace.ranks.column("rank").to_pylist()))
    assert ranks == {100: 0, 200: 7}


def test_several_processes_read_groups_too(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = commscope.load([run])
    monkeypatch.setattr(parallel, "_LEAST_BYTES", 0)
    monkeypatch.setattr(parallel, "core_count", lambda: 2)
    started: list[object] = []
    start = parallel.Popen
    monkeypatch.setattr(
        parallel, "Popen", lambda *a, **options: started.append(a) or start(*a, **options)
    )
    shared = commscope.load([run])
    assert len(started) == 2
    for name in ("events", "host", "collectives", "ranks", "files", "notes"):
        assert getattr(shared, name) == getattr(alone, name), name


def test_a_group_with_a_member_of_an_archive_is_not_shared() -> None:
    member = Source(Path("a.zip"), member="a2", label="a.zip/a2", size=1 << 30)
    lead = Source(Path("a1"), label="a1", size=1 << 30, companions=(member,))
    jobs = dict.fromkeys((1, 2), (lead, PARSERS[0]))
    assert parallel.read_in_parallel(jobs, lambda number, done, total: None) == {}


def test_progress_of_a_group_is_that_of_all_its_files(run: Path) -> None:
    calls: list[tuple[str, int, int, int, int | None]] = []
    commscope.load([run / "nodeA"], progress=lambda *call: calls.append(call))
    sizes = sum(path.stat().st_size for path in (run / "nodeA").glob("100_*"))
    assert calls[0][1:3] == (1, 2)
    assert [c[3:] for c in calls if c[1] == 1][-1] == (sizes, sizes)
    done = [call[3] for call in calls if call[1] == 1]
    assert done == sorted(done)


def test_inspect_names_the_group(run: Path) -> None:
    files = inspect_paths([run], None, silent).files
    assert {file.group for file in files} == {"nodeA/100", "nodeA/200"}
    assert all(file.unread is None for file in files)


def test_inspect_says_what_is_not_read(tmp_path: Path) -> None:
    write_run(tmp_path, ranks=1)
    (tmp_path / "x_domain_stats.csv").write_text(
        "Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs,StdDev\n"
    )
    trace_file, sums = inspect_paths([tmp_path], None, silent).files
    assert (trace_file.unread, trace_file.group) == (None, None)
    assert sums.parser == "rocprofv3_csv"
    assert sums.unread == "sums of calls or kernels, no timeline"
    assert sums.holds == ()
    notes = commscope.load([tmp_path]).notes
    assert any("x_domain_stats.csv (sums of calls" in note.says for note in notes)
