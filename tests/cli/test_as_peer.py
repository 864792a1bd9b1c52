"""``commscope analyze --as``: text, JSON, and files without GPU activity."""

from __future__ import annotations

import json

import pytest
from support import case

from commscope.cli.as_peer import NAMES
from commscope.cli.main import run
from commscope.peers import TOOLS

_FILE = "kineto/mi350x_rocprofsdk_small.json.gz"


def test_names_are_those_of_the_tools() -> None:
    assert tuple(TOOLS) == NAMES


def test_text_shows_figures_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(case(_FILE)), "--as", "hta", "--no-cache"]) == 0
    shown = capsys.readouterr().out
    assert "traceinsight 0.6.1" in shown
    assert "bug: HTA drops the last step" in shown
    assert "compute_time(us)" in shown


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["analyze", str(case(_FILE)), "--as", "tracelens", "--format", "json", "--no-cache"]
    assert run(wanted) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "commscope.as/1"
    assert [answer["fails"] for answer in found["answers"]] == [None, None]


def test_without_gpu_activity_the_tool_fails_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(case("kineto/cpu_only_rank34_of_300.json.gz")), "--as", "hta"]) == 5
    assert "HTA fails here too: IndexError" in capsys.readouterr().err
