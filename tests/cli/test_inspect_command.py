"""``commscope inspect``: what a file is, who reads it, and what was lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_run import CUT_EARLY, STEPS, trace, write_run

from commscope.errors import FormatError, UsageError


@pytest.fixture
def document(call) -> Callable[..., dict[str, Any]]:
    def invoke(*arguments: object) -> dict[str, Any]:
        return json.loads(call("inspect", *arguments, "--format", "json").out)

    return invoke


def test_whole_trace(tmp_path: Path, call) -> None:
    outcome = call("inspect", write_run(tmp_path, ranks=1))
    assert (outcome.code, outcome.err) == (0, "")
    words = [line.split() for line in outcome.out.splitlines()]
    assert ["health", "whole"] in words
    assert ["rank", "0", "of", "2"] in words
    assert ["GPU", "activities", str(2 * STEPS), "kernel"] in words
    assert any(word[:3] == ["read", "by", "kineto"] for word in words)


def test_files_that_are_no_traces_take_one_line_each(tmp_path: Path, call) -> None:
    write_run(tmp_path, ranks=1)
    (tmp_path / "a.log").write_bytes(b"hello")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "c.json").write_bytes(b"")
    outcome = call("inspect", tmp_path)
    assert outcome.code == 0
    assert outcome.out.splitlines()[:3] == [
        "a.log  5 B  no trace: text",
        "b.png  8 B  no trace: a PNG image",
        "c.json  0 B  no trace: empty",
    ]


def test_no_trace_at_all_is_told_and_gives_the_code_of_formats(tmp_path: Path, call) -> None:
    (tmp_path / "a.log").write_bytes(b"hello")
    outcome = call("inspect", tmp_path / "a.log")
    assert (outcome.code, outcome.err) == (FormatError.exit_code, "")
    assert outcome.out == "a.log  5 B  no trace: text\n"


@pytest.mark.parametrize("option", [("--parser", "nope"), ("-o", "gone/x.json")])
def test_wrong_options(option: tuple[str, str], tmp_path: Path, refused) -> None:
    refused(UsageError.exit_code, "inspect", write_run(tmp_path), *option)


def test_nothing_there(tmp_path: Path, refused) -> None:
    refused(UsageError.exit_code, "inspect", tmp_path)


def test_cut_trace_says_what_was_lost_and_until_when_it_is_good(tmp_path: Path, call) -> None:
    (tmp_path / "x.json").write_bytes(trace()[:-700])
    out = call("inspect", tmp_path).out
    assert "health           damaged" in out
    assert "the file ends before the trace does; the last good event begins 2" in out


def test_recognised_but_unreadable(tmp_path: Path, call) -> None:
    (tmp_path / "x.json").write_bytes(CUT_EARLY)
    outcome = call("inspect", tmp_path)
    assert outcome.code == 0
    assert "unreadable       cut or damaged before its first event" in outcome.out


def test_what_was_passed_over_is_said(tmp_path: Path, call, document) -> None:
    (write_run(tmp_path) / "gone.json").symlink_to("nowhere")
    note = "1 broken symbolic link was skipped: gone.json"
    assert call("inspect", tmp_path).out.endswith(f"({note})\n")
    assert document(tmp_path)["notes"] == [note]


def test_json_keys(tmp_path: Path, document) -> None:
    (write_run(tmp_path, ranks=1) / "z.log").write_bytes(b"hello")
    found = document(tmp_path)
    assert set(found) == {"schema", "files", "notes"}
    trace_file, log = found["files"]
    assert (log["parser"], log["error"], log["holds"]) == (None, "no trace: text", [])
    assert trace_file["matches"][0]["confidence"] == "marker"
    holds = trace_file["holds"][0]
    assert holds["activities"] == {"kernel": 2 * STEPS}
    assert (holds["state"], holds["health"]["cut"]) == ("whole", None)
    assert holds["facts"]["rank"] == 0
    assert holds["last_ns"] - holds["first_ns"] == 295_000
