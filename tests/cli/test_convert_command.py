"""``commscope convert``: what it writes, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from small_run import write_run

import commscope

Refused = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tables_by_default(run: Path, tmp_path: Path, call: Any) -> None:
    outcome = call("convert", run, "-o", tmp_path / "out")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert pq.read_table(tmp_path / "out" / "events.parquet").num_rows == 12


def test_ranks_and_time(run: Path, tmp_path: Path, call: Any) -> None:
    out = tmp_path / "out.json"
    assert call("convert", run, "-o", out, "--rank", 1, "--to-ms", 0.05).code == 0
    trace = commscope.load(out)
    assert trace.ranks.column("rank").to_pylist() == [1]
    assert trace.events.num_rows == 2


def test_rank_of_a_file_and_rank_to_write(run: Path, tmp_path: Path, call: Any) -> None:
    given = ("--rank", "5=rank0.json", "--rank", "5")
    assert call("convert", run, "-o", tmp_path / "out", *given).code == 0
    ranks = pq.read_table(tmp_path / "out" / "ranks.parquet")
    assert ranks.column("rank").to_pylist() == [5]


def test_tables_may_lie_in_a_folder_that_is_read(run: Path, call: Any) -> None:
    assert call("convert", run, "-o", run / "tables").code == 0
    assert commscope.load(run).events.num_rows == 12


def test_what_is_there_is_not_overwritten(
    run: Path, tmp_path: Path, call: Any, refused: Refused
) -> None:
    out = tmp_path / "out.json"
    out.write_text("mine")
    assert "--force" in refused(2, "convert", run, "-o", out)
    assert out.read_text() == "mine"
    assert call("convert", run, "-o", out, "--force").code == 0
    assert json.loads(out.read_text())["traceEvents"]


def test_tables_that_are_there_are_not_overwritten(
    run: Path, tmp_path: Path, call: Any, refused: Refused
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "steps.parquet").write_text("mine")
    assert "steps.parquet" in refused(2, "convert", run, "-o", tmp_path / "out")
    assert call("convert", run, "-o", tmp_path / "out", "--force").code == 0


@pytest.mark.parametrize("name", ["run/rank0.json", "link.json"])
@pytest.mark.parametrize("given", ["run", "run/rank0.json", "run/*.json"])
def test_input_is_never_overwritten(
    run: Path, tmp_path: Path, refused: Refused, given: str, name: str
) -> None:
    before = (run / "rank0.json").read_bytes()
    (tmp_path / "link.json").symlink_to(run / "rank0.json")
    arguments = (tmp_path / given, "-o", tmp_path / name, "--force")
    assert "choose another name" in refused(2, "convert", *arguments)
    assert (run / "rank0.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-o", "no/where/out"), "there is no folder no/where"),
        (("-o", "file"), "is a file; name a folder"),
        (("-o", "out", "--to", "chrome"), "name it .json or .json.gz"),
        (("-o", "out.json", "--to", "csv"), "name a folder"),
        (("-o", "run"), "where traces are read from"),
        (("-o", "run/more.json"), "where traces are read from"),
        (("-o", "out", "--rank", "x"), "--rank x"),
        (("-o", "out", "--rank", "9"), "rank 9: the trace has no such rank"),
        (("-o", "out", "--from-ms", "2", "--to-ms", "1"), "ends before"),
        (("-o", "out", "--from-ms", "999"), "no activity"),
        ((), "--output"),
        (("-o", "-"), "name a folder or a file"),
    ],
)
def test_refused(
    run: Path, here: Path, refused: Refused, arguments: tuple[str, ...], says: str
) -> None:
    (here / "file").write_text("")
    assert says in refused(2, "convert", run, *arguments)
    assert sorted(path.name for path in here.iterdir()) == ["file", "run"]
