"""What inspecting finds in files, one by one."""

from __future__ import annotations

from pathlib import Path

from small_run import STEPS, trace, write_run

from commscope.engine.inspect import inspect_paths
from commscope.engine.reading import silent


def test_every_file_is_inspected_in_order(tmp_path: Path) -> None:
    (write_run(tmp_path, ranks=11) / "rank5.json").write_bytes(b"")
    files = inspect_paths([tmp_path], None, silent).files
    assert [file.file for file in files] == [f"rank{rank}.json" for rank in range(11)]
    assert [bool(file.parser) for file in files] == [rank != 5 for rank in range(11)]
    assert [h.facts.rank for file in files for h in file.holds] == [*range(5), *range(6, 11)]


def test_extent_and_counts(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(trace(start=5000.5))
    (holding,) = inspect_paths([tmp_path], None, silent).files[0].holds
    assert (holding.first_ns, holding.last_ns) == (5_000_500, 5_000_500 + 295_000)
    assert holding.events == 6 * STEPS
    assert holding.host_calls == 4 * STEPS


def test_file_without_anything_has_no_extent(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'{"schemaVersion": 1, "traceEvents": []}')
    (holding,) = inspect_paths([tmp_path], None, silent).files[0].holds
    assert (holding.first_ns, holding.last_ns, holding.state) == (None, None, "whole")


def test_wanted_parser_is_used_even_if_it_does_not_know_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"hello")
    (file,) = inspect_paths([tmp_path / "x.txt"], "kineto", silent).files
    assert file.parser == "kineto"
    assert "traceEvents" in (file.error or "")
    assert file.matches[0].confidence == "none"
