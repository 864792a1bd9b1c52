"""Communication whose times cannot be counts nowhere, and nothing says that none ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import TraceBuilder

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
NONE_RAN = "No communication ran on the GPU"


def _trace(folder: Path, *lengths_us: float) -> Path:
    """A rank with one kernel and an all-reduce of each length."""
    made = TraceBuilder(world_size=1).launch(0.5, 1).kernel("gemm", 1, 200)
    for number, length in enumerate(lengths_us):
        start = 300 + 100 * number
        made = made.launch(start - 1, 0.5).kernel(ALL_REDUCE, start, length, stream=1)
    path = folder / "trace.json"
    path.write_text(json.dumps(made.document()))
    return path


def _told(call: Any, path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call("analyze", path, "--format", "json").out)
    return found


@pytest.mark.parametrize("length_us", [-5, 9.2e15])
def test_the_only_collective_was_left_out(length_us: float, tmp_path: Path, call) -> None:
    told = _told(call, _trace(tmp_path, length_us))
    left_out = "1 of 1 communication is among those left out"
    assert told["trust"]["verdict"] == "unusable"
    assert left_out in told["summary"]["verdict"]
    assert NONE_RAN not in json.dumps(told)
    assert told["summary"]["overlap_ratio"] is None
    shown = call("analyze", tmp_path / "trace.json").out
    assert "ok: " not in shown
    assert NONE_RAN not in shown


def test_where_others_count_the_number_is_told(tmp_path: Path, call) -> None:
    told = _told(call, _trace(tmp_path, -5, *[40] * 99))
    assert told["trust"]["verdict"] == "ok"
    (check,) = (check for check in told["trust"]["checks"] if check["rule"] == "Q4")
    assert check["says"].endswith("; 1 of 100 communications is among those left out")


def test_where_none_was_recorded_that_is_said(tmp_path: Path, call) -> None:
    assert NONE_RAN in _told(call, _trace(tmp_path))["summary"]["verdict"]


def test_the_tables_do_not_say_that_none_ran(tmp_path: Path, call) -> None:
    page = tmp_path / "page.html"
    call("report", _trace(tmp_path, -5), "-o", page)
    assert NONE_RAN not in page.read_text()
    assert "among those left out" in page.read_text()
