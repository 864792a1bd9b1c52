"""The type of what collectives send: one word of the schedule, told alike wherever it is told."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from graded import lines_of, truth_of

from commscope.generator.catalog import plan_of
from commscope.generator.dtypes import DTYPES, sent_as
from commscope.generator.engines import Choice, generate
from commscope.generator.schedule import Schedule, ScheduleError
from commscope.generator.schedule_text import from_text, to_text


@pytest.mark.parametrize("dtype", DTYPES)
def test_schedule_trace_log_and_truth_tell_the_same(dtype: str, tmp_path: Path) -> None:
    knobs = {"ranks": 2, "steps": 1, "layers": 2, "dtype": dtype}
    generate(plan_of("ddp-tail", knobs), Choice(), tmp_path)
    of, size = DTYPES[dtype], 268_435_456  # of the last bucket
    assert from_text((tmp_path / "schedule.txt").read_text()).dtype == dtype
    trace = json.loads(gzip.decompress((tmp_path / "rank0/trace.json.gz").read_bytes()))
    told = [event["args"] for event in trace["traceEvents"] if "dtype" in event["args"]]
    assert {args["dtype"] for args in told} == {of.torch}
    assert max(args["In msg nelems"] for args in told) == size // of.size_bytes
    log = (tmp_path / "rank0/rccl.log").read_text()
    assert set(re.findall(r"datatype (\d+)", log)) == {str(of.ccl)}
    assert f"count {size // of.size_bytes} " in log
    sent = [line for line in lines_of(truth_of(tmp_path, 0)) if line.get("op") == "collective"]
    assert {line["dtype"] for line in sent} == {dtype}
    assert max(line["count"] for line in sent) == size // of.size_bytes


def test_what_is_no_whole_element_is_sent_as_bytes() -> None:
    assert sent_as("float32", 8, 6) == ("uint8", 1, "Byte", 1)
    assert sent_as("float32", 8, 4) == DTYPES["float32"]


def test_a_type_stands_in_the_text_or_is_the_usual_one() -> None:
    assert to_text(from_text("dtype int8\nrank 0 a\n")) == "dtype int8\nrank 0 a\n"
    assert from_text("rank 0 a\n").dtype == "bfloat16"
    for text in ("dtype real\nrank 0 a\n", "dtype\nrank 0 a\n", "dtype int8 int8\nrank 0 a\n"):
        with pytest.raises(ScheduleError):
            from_text(text)
    with pytest.raises(ScheduleError, match="no type is called real"):
        Schedule(((),), ("a",), {}, "real")
