"""From paths to a trace: what is read, what is left out, and what is said of it."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from builders import source_of
from small_run import CUT_EARLY, trace, write_run

import commscope
from commscope.engine import load as load_module
from commscope.engine.reading import conform_reading
from commscope.engine.unprofiled import unprofiled_step_ns
from commscope.errors import (
    AmbiguousFormat,
    CorruptTrace,
    NoDeviceEvents,
    RankConflict,
    SchemaError,
    UnknownFormat,
    UsageError,
)
from commscope.parsers.base import Reading
from commscope.parsers.kineto import KinetoParser
from commscope.schema import PARSED_COLLECTIVES


def file_notes(found: commscope.Trace) -> list[str]:
    return [note.says for note in found.notes if note.topic == "files"]


def test_other_files_of_a_folder_are_left_out_and_said(tmp_path: Path) -> None:
    for number in range(5):
        (write_run(tmp_path) / f"x{number}.log").write_bytes(b"hello")
    found = commscope.load(tmp_path)
    assert [file.file for file in found.files] == ["rank0.json", "rank1.json"]
    assert file_notes(found) == [
        "left out, no trace: x0.log (text), x1.log (text), x2.log (text) and 2 more"
    ]


def test_a_file_that_was_named_must_be_a_trace(tmp_path: Path) -> None:
    (write_run(tmp_path) / "x.log").write_bytes(b"hello")
    with pytest.raises(UnknownFormat, match=r"x\.log: is text"):
        commscope.load([tmp_path / "rank0.json", tmp_path / "x.log"])


def test_a_file_that_vanishes_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path)
    find = load_module.find_sources

    def find_and_remove(paths: list[str]) -> object:
        found = find(paths)
        (tmp_path / "rank1.json").unlink()
        return found

    monkeypatch.setattr(load_module, "find_sources", find_and_remove)
    found = commscope.load(tmp_path)
    assert [file.file for file in found.files] == ["rank0.json"]
    assert "left out: rank1.json: cannot be read" in file_notes(found)[0]


def test_damage_is_named_where_there_is_no_gpu_activity(tmp_path: Path) -> None:
    whole = trace()
    (tmp_path / "cut.json").write_bytes(whole[: whole.index(b'"kernel"') - 200])
    with pytest.raises(CorruptTrace, match=r"cut\.json: no GPU activity in what could be read"):
        commscope.load(tmp_path / "cut.json")


def test_no_gpu_activity_in_a_whole_file_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(CUT_EARLY + b"]}")
    with pytest.raises(NoDeviceEvents):
        commscope.load(tmp_path / "x.json")


def test_two_files_of_one_rank(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(trace())
    with pytest.raises(RankConflict, match=r"a\.json and b\.json"):
        commscope.load(tmp_path)


def test_ambiguous_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsers = [*load_module.choose.__globals__["PARSERS"]] * 2
    monkeypatch.setattr("commscope.parsers.detect.PARSERS", tuple(parsers))
    with pytest.raises(AmbiguousFormat, match="kineto and kineto"):
        commscope.load(write_run(tmp_path))


def test_progress_is_told_file_by_file_up_to_the_end(tmp_path: Path) -> None:
    calls: list[tuple[str, int, int, int, int | None]] = []
    data = gzip.compress(trace(0), mtime=0)
    (tmp_path / "rank0.json.gz").write_bytes(data)
    (tmp_path / "rank1.json").write_bytes(trace(1))
    commscope.load(tmp_path, progress=lambda *call: calls.append(call))
    assert [(name, n, of) for name, n, of, _, _ in calls] == [
        ("rank0.json.gz", 1, 2),
        ("rank1.json", 2, 2),
    ]
    assert calls[0][3:] == (len(data), len(data))


def test_steps_that_are_not_there(tmp_path: Path) -> None:
    write_run(tmp_path)
    with pytest.raises(UsageError, match="steps 0 to 2"):
        commscope.load(tmp_path, steps="7")


def test_step_time_without_the_profiler_from_the_jobs_output(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run / "job.log").write_text('begin\n{"rank": 0, "unprofiled_step_ms": 27.116}\n')
    assert commscope.load(run).unprofiled_step_ns == 27_116_000
    assert commscope.load(run, unprofiled_step_ms=30).unprofiled_step_ns == 30_000_000


LINE = '{"rank": 0, "unprofiled_step_ms": 27.116}\n'


@pytest.mark.parametrize("before", [0, 65_510, 100_000, 131_072, 1_000_000])
@pytest.mark.parametrize("name", ["job.log", "slurm-12.OUT"])
def test_step_time_at_the_end_of_a_long_log(name: str, before: int, tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run / name).write_text("epoch\n" * (before // 6) + LINE)
    assert commscope.load(run).unprofiled_step_ns == 27_116_000


def test_only_whole_lines_of_the_end_count(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    end = "x" * (65_536 - len(LINE) - 1)
    (run / "job.log").write_text(f"{'x' * 200_000}{LINE}{end}\n")
    assert commscope.load(run).unprofiled_step_ns is None


def test_the_end_is_read_of_logs_only(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run / "weights.bin").write_text("epoch\n" * 100_000 + LINE)
    assert commscope.load(run).unprofiled_step_ns is None


def changed(reading: Reading, table: str, column: str, values: pa.Array) -> Reading:
    old = getattr(reading, table)
    return replace(
        reading, **{table: old.set_column(old.column_names.index(column), column, values)}
    )


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    (found,) = KinetoParser().read(source_of(write_run(tmp_path) / "rank0.json"), lambda *_: None)
    return found


def test_a_reading_that_keeps_the_contract_is_taken_as_it_is(reading: Reading) -> None:
    assert conform_reading(reading, "mine") is reading


def test_a_parser_that_breaks_the_contract_is_named(reading: Reading) -> None:
    rows = reading.events.num_rows
    floats = pa.array([1.0] * rows)
    with pytest.raises(SchemaError, match=r"^parser mine: events\.start_ns: type is double"):
        conform_reading(changed(reading, "events", "start_ns", floats), "mine")
    with pytest.raises(SchemaError, match=r"^parser mine: host is no Arrow table"):
        conform_reading(replace(reading, host=None), "mine")  # type: ignore[arg-type]


@pytest.mark.parametrize("event", [-1, 10**6])
def test_a_collective_of_no_event_is_told(event: int, reading: Reading) -> None:
    columns = {
        field.name: pa.nulls(1, field.type) if field.nullable else None
        for field in PARSED_COLLECTIVES
    }
    columns["event"] = pa.array([event], pa.int64())
    for name, column in columns.items():
        if column is None:
            kind = PARSED_COLLECTIVES.field(name).type
            columns[name] = pa.array(["x"]).dictionary_encode().cast(kind)
    table = pa.table(columns, schema=PARSED_COLLECTIVES)
    with pytest.raises(SchemaError, match=r"^parser mine: collectives\.event: "):
        conform_reading(replace(reading, collectives=table), "mine")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"unprofiled_step_ms": 1}', [1_000_000]),
        (b'x\n{"a": 1, "unprofiled_step_ms": 0.000001, "b": 2}\n', [1]),
        (b'{"unprofiled_step_ms": 1.5}\n{"unprofiled_step_ms": 2.5}', [1_500_000, 2_500_000]),
        (b'text {"unprofiled_step_ms": 1}', []),
        (b'{"unprofiled_step_ms": "1"}', []),
        (b'{"unprofiled_step_ms": -1}', []),
    ],
)
def test_unprofiled_step(text: bytes, expected: list[int]) -> None:
    assert unprofiled_step_ns(text) == expected
