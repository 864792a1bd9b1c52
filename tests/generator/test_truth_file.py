"""Reading truth files: both schemas, exact times, and one clear line for what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commscope.errors import CorruptTrace, FormatError, UnknownFormat, UsageError
from commscope.generator.truth_file import SCHEMAS, TruthCause, read_truth

HEADER: dict[str, Any] = {"schema": SCHEMAS[1], "rank": 1, "world": 2, "plan": {"layers": 8}}
OPERATION: dict[str, Any] = {
    "op": "collective", "step": 0, "stream": 1, "name": "AllReduce", "coll": "all_reduce",
    "seq": 3, "bytes": 64, "begin_us": 5366.096, "end_us": 158311.338, "src": "event",
}  # fmt: skip
STEP: dict[str, Any] = {
    "op": "step", "step": -1, "host_begin_ns": 42412303762, "host_end_ns": 42575376066,
    "compute_us": 9901.920, "comm_us": 154516.669, "overlap_us": 1493.124,
    "exposed_comm_us": 153023.544, "idle_us": 65.128, "span_us": 162990.592,
}  # fmt: skip


def _written(folder: Path, *rows: dict[str, Any] | str) -> Path:
    file = folder / "truth_rank1.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return file


@pytest.mark.parametrize("schema", SCHEMAS)
def test_both_schemas_are_read_exactly(schema: str, tmp_path: Path) -> None:
    truth = read_truth(_written(tmp_path, {**HEADER, "schema": schema}, STEP, "", OPERATION))
    (operation,), (step,) = truth.operations, truth.steps
    assert (truth.header.schema, truth.header.rank, truth.header.world) == (schema, 1, 2)
    assert (operation.begin_ns, operation.end_ns, operation.seq) == (5366096, 158311338, 3)
    assert step.is_warmup
    assert (step.compute_ns, step.communication_ns) == (9901920, 154516669)
    assert (step.hidden_comm_ns, step.exposed_comm_ns) == (1493124, 153023544)
    assert step.host_end_ns == 42575376066


def test_what_graders_need_is_read(tmp_path: Path) -> None:
    clock = {"realtime_ns": 30, "boottime_ns": 20, "monotonic_ns": 10}
    header = {**HEADER, "engine": "simulate", "clock": clock, "steps": 1, "warmup": 1}
    waited = {**OPERATION, "comm": "dp", "host_ns": 17, "wait_us": 1.5}
    cause = {"op": "cause", "rule": "C1", "rank": 1, "did": "host", "step": None}
    truth = read_truth(_written(tmp_path, header, waited, {**STEP, "exposed_wait_us": 2}, cause))
    assert truth.header.is_simulated
    assert truth.header.tells_begin
    assert (truth.operations[0].wait_ns, truth.operations[0].host_ns) == (1500, 17)
    assert (truth.steps[0].exposed_wait_ns, truth.steps[0].exposed_copy_ns) == (2000, 0)
    assert truth.causes == (TruthCause("C1", 1, "host"),)


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("", "line 1 is no header of csg-truth/0 or commscope.truth/1"),
        ("not json", "line 1 is no header"),
        ("[1]", "line 1 is no header"),
        ({"rank": 0, "world": 2}, "missing required field `schema`"),
        ({**HEADER, "rank": "0"}, "Expected `int`, got `str`"),
        ({**HEADER, "world": 1 << 63}, "world is larger than anything"),
        ({**HEADER, "schema": "csg-truth/9"}, "schema 'csg-truth/9', known are"),
    ],
)
def test_what_is_no_truth_file(first: dict[str, Any] | str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat) as caught:
        read_truth(_written(tmp_path, first, OPERATION))
    _assert_one_line(caught.value, says)


def test_an_empty_file_is_no_truth_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(UnknownFormat):
        read_truth(tmp_path / "empty")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{"op": "comp', "line 3: Input data was truncated"),
        ({**OPERATION, "op": "sleep"}, "line 3: Invalid enum value 'sleep'"),
        ({**OPERATION, "src": "guess"}, "line 3: Invalid enum value 'guess'"),
        ({**OPERATION, "begin_us": "soon"}, "line 3: "),
        ({**OPERATION, "begin_us": -1}, "line 3: begin_us -1 is no time"),
        ({**OPERATION, "end_us": 1e300}, "is no time"),
        ({**OPERATION, "end_us": "NaN"}, "line 3: end_us NaN is no time"),
        ({**OPERATION, "end_us": 5366.095}, "line 3: it ends at 5366.095 us, before it begins"),
        ({**STEP, "comm_us": None}, "line 3: "),
        ({"op": "step", "step": 0}, "line 3: Object missing required field"),
    ],
)
def test_broken_lines_are_named(row: dict[str, Any] | str, says: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptTrace) as caught:
        read_truth(_written(tmp_path, HEADER, STEP, row))
    _assert_one_line(caught.value, says)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    file = _written(tmp_path, HEADER, OPERATION)
    file.write_bytes(file.read_bytes().replace(b"AllReduce", b"All\xffReduce"))
    with pytest.raises(CorruptTrace, match="line 2: "):
        read_truth(file)


@pytest.mark.parametrize("name", ["missing", "."])
def test_what_cannot_be_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: "):
        read_truth(tmp_path / name)


def _assert_one_line(error: FormatError, says: str) -> None:
    assert says in str(error)
    assert "\n" not in str(error)
    assert "truth_rank1.jsonl: " in str(error)
