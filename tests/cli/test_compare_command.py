"""``commscope compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_run import trace, write_run

from commscope import sample_traces


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return write_run(tmp_path / "a"), write_run(tmp_path / "b")


def test_text_begins_with_the_verdict(runs, call) -> None:
    outcome = call("compare", *runs)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("The step takes 100.0 us on both sides")


def test_quiet_gives_the_verdict_alone(runs, call) -> None:
    assert call("compare", "-q", *runs).out.count("\n") == 1


def test_json_says_what_it_is(call) -> None:
    folders = [sample_traces.path(name) for name in ("ddp_default", "ddp_straggler")]
    document = json.loads(call("compare", *folders, "--format", "json").out)
    assert document["schema"] == "commscope.compare/1"
    assert document["causes"][0]["rank"] == 1


def test_the_name_of_the_file_says_the_format(runs, call, tmp_path: Path) -> None:
    assert call("compare", *runs, "-o", tmp_path / "out.md").code == 0
    assert (tmp_path / "out.md").read_text().startswith("<!-- commscope:compare -->")


def test_html_is_written(runs, call, tmp_path: Path) -> None:
    assert call("compare", *runs, "-o", tmp_path / "out.html").code == 0
    page = (tmp_path / "out.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>From a to b</h1>" in page


def test_a_name_that_promises_another_format_is_refused(runs, refused, tmp_path: Path) -> None:
    told = refused(2, "compare", *runs, "-o", tmp_path / "out.pdf")
    assert "cannot write .pdf; name it .json, .txt, .md or .html" in told


def test_more_runs_a_side(runs, call) -> None:
    base, _ = runs
    new = base.parent / "new"
    new.mkdir()
    for rank in range(2):
        (new / f"rank{rank}.json").write_bytes(trace(rank, start=2000.0))
    out = call("compare", base, new, "--base", new, "--new", base, "--format", "json").out
    document = json.loads(out)
    assert [len(document[side]) for side in ("base", "new")] == [2, 2]
    copies = json.loads(call("compare", base, new, "--base", base, "--format", "json").out)
    assert len(copies["base"]) == 1


def test_a_missing_run_is_named(runs, refused) -> None:
    assert "nowhere" in refused(2, "compare", runs[0], "nowhere")


def test_an_input_is_not_overwritten(runs, refused) -> None:
    refused(2, "compare", *runs, "-o", runs[0] / "rank0.json")
