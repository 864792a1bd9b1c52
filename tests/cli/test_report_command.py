"""``commscope report``: files by their names, checked before the work begins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from commscope import sample_traces

RUN = sample_traces.path("tp")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def test_every_format_at_once(call: Any, tmp_path: Path) -> None:
    names = ["r.html", "r.json", "r.md", "r.txt", "R.XML"]
    outcome = call("report", RUN, "-q", *(part for name in names for part in ("-o", name)))
    assert (outcome.code, outcome.out) == (0, "")
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "commscope.report/1"
    assert ElementTree.parse(tmp_path / "R.XML").getroot().tag == "testsuites"
    assert (tmp_path / "r.md").read_text().startswith("<!-- commscope:report -->")
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "r.txt").read_text() == call("analyze", RUN).out


def test_html_by_default(call: Any, tmp_path: Path) -> None:
    assert call("report", RUN, "-q").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("name", ["report.pdf", "report", "-", "gone/report.md"])
def test_output_that_cannot_be_is_refused_first(refused: Any, name: str) -> None:
    assert name in refused(2, "report", "no-such-file", "-o", name)


def test_github(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    outcome = call("report", RUN, "-q", "--github")
    assert outcome.out.startswith("::notice title=commscope::")
    assert summary.read_text().startswith("before\n<!-- commscope:report -->")
    assert [path.name for path in tmp_path.iterdir()] == ["summary.md"]


def test_github_without_a_summary_prints_annotations(call: Any) -> None:
    assert call("report", RUN, "-q", "--github").out.startswith("::notice ")


def test_schema_needs_no_run(call: Any) -> None:
    assert json.loads(call("report", "--schema").out)["title"] == "commscope.report/1"
